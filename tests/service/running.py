"""A whole service in this process: routes over a client, and jobs in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.jobs import runner
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, keys, migrate

ADDRESS = "http://127.0.0.1:8000"


@contextmanager
def running(database: str, *, jobs: bool = True) -> Iterator[Any]:
    """`send(method, path, body, token=)` to a service that is up for so long; refusals are errors."""
    settings = Settings(database=database, secret="s" * 40, requests_per_second=1e9, burst=10**9)
    store = Store(database)
    migrate(store)
    with store.writing() as c:
        key = keys.create(c, "tests", "admin")
    store.close()
    stop = threading.Event()
    worker = threading.Thread(target=runner.run, args=(settings, "jobs-1", stop))
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        if jobs:
            worker.start()
        try:
            yield lambda *request, **options: send(client, key, *request, **options)
        finally:
            stop.set()
            if jobs:
                worker.join()


def send(client: Any, key: str, method: str, path: str, body: Any = None, token: str = "") -> Any:
    """What the service answers, read from JSON or lines of JSON."""
    headers = {"Authorization": f"Bearer {token}"} if token else {"X-API-Key": key}
    answer = client.request(method, path, json=body, headers=headers)
    assert answer.status_code < 400, answer.text
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json()
    return [json.loads(line) for line in answer.text.splitlines()]
