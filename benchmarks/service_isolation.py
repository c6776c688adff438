"""How long one project waits while another one of a million items is loaded, uploaded to and refitted."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers import ROOT
from benchmarks.service_client import Line
from benchmarks.service_hosts import Host, fill, new_key, serving
from benchmarks.tables import markdown, whole
from crowdpilot.service.store import Store, projects

SMALL_PROJECT_ITEMS = 20_000
SMALL_PROJECT_WORKERS = 10
LARGE_PROJECT_WORKERS = 50
PAUSE_SECONDS = 0.05  # of a worker between two requests
QUIET_SECONDS = 10.0  # measured before anything happens
ITEMS_PER_UPLOAD = 200_000
VOTES_PER_UPLOAD = 50_000
POLL_SECONDS = 0.2
MAX_PHASE_SECONDS = 900.0
Times = dict[str, list[float]]


class Sample(NamedTuple):
    """A request of the small project: what for, when it was sent, and how long it took."""

    kind: str
    at: float
    seconds: float


class Phase(NamedTuple):
    """What happened to the large project, and from when to when."""

    name: str
    begun: float
    ended: float


def measure(url: str, items: int) -> list[dict[str, Any]]:
    """Times of `next` and votes of a small project in each phase of a large one, in milliseconds."""
    _, tokens = fill(url, SMALL_PROJECT_ITEMS, SMALL_PROJECT_WORKERS, 2)
    large, _ = fill(url, items, LARGE_PROJECT_WORKERS, 2)
    key = new_key(url)
    phases: list[Phase] = []
    samples: list[Sample] = []
    store = Store(url)
    with serving(url) as host:
        caller = Caller(host, key)
        with watching(host, tokens, samples):
            phases.append(_phase("nothing", lambda: time.sleep(QUIET_SECONDS)))
            phases.append(_phase("loaded", lambda: caller.until_ready("GET", f"/api/projects/{large}")))
            phases.append(_phase("uploaded to", lambda: _upload(caller, large)))
            _add_votes(caller, large, items)
            phases.append(_phase("refitted and updated", lambda: _await_refit(caller, store, large)))
        memory = host.memory
    store.close()
    return [_summary(phase, samples) | {"memory": memory} for phase in phases]


def _phase(name: str, act: Callable[[], object]) -> Phase:
    begun = time.time()
    act()
    return Phase(name, begun, time.time())


def _upload(caller: Caller, project: str) -> None:
    """One upload as large as may be, and the next look at the project."""
    rows = [f"more {n},This is the text of item {n} of an upload." for n in range(ITEMS_PER_UPLOAD)]
    caller.until_ready("POST", f"/api/projects/{project}/items", "\n".join(["name,text", *rows]), "text/csv")
    caller.until_ready("GET", f"/api/projects/{project}")


def _add_votes(caller: Caller, project: str, items: int) -> None:
    """Votes on some of the items, from which a refit learns."""
    rng = np.random.default_rng(0)
    n = min(items, VOTES_PER_UPLOAD)
    item, worker = rng.choice(items, n, replace=False), rng.integers(LARGE_PROJECT_WORKERS, size=n)
    votes = [
        {"item": f"item {i}", "worker": f"crowd {w}", "label": f"class {i % 2}"}
        for i, w in zip(item.tolist(), worker.tolist(), strict=True)
    ]
    caller.until_ready("POST", f"/api/projects/{project}/external-votes", json.dumps({"votes": votes}))


def _await_refit(caller: Caller, store: Store, project: str) -> None:
    """Until the model update is written, and the web process has taken it over."""
    end = time.monotonic() + MAX_PHASE_SECONDS
    while time.monotonic() < end:
        with store.reading() as c:
            row = projects.find(c, project)
        if row.votes == row.fitted:
            break
        time.sleep(POLL_SECONDS)
    caller.until_ready("GET", f"/api/projects/{project}")


def _summary(phase: Phase, samples: Sequence[Sample]) -> dict[str, Any]:
    def times(kind: str) -> list[float]:
        return [s.seconds for s in samples if s.kind == kind and phase.begun <= s.at <= phase.ended]

    asked, voted = times("next"), times("vote")
    found: dict[str, Any] = {"phase": phase.name, "seconds": phase.ended - phase.begun, "asked": len(asked)}
    for q in (50, 95, 99, 100):
        found[f"next_p{q}"] = _percentile(asked, q)
    return found | {"vote_p95": _percentile(voted, 95), "vote_p100": _percentile(voted, 100)}


def _percentile(seconds: list[float], q: float) -> float | None:
    return 1000 * float(np.percentile(seconds, q)) if seconds else None


def render(found: dict[str, list[dict[str, Any]]], items: int) -> str:
    """The section of the report."""
    rows = [
        [f"{kind}: {phase['phase']}", *(whole(phase[column]) for column in COLUMNS.values())]
        for kind, phases in found.items()
        for phase in phases
    ]
    return TEXT.format(items=items, workers=SMALL_PROJECT_WORKERS, upload=ITEMS_PER_UPLOAD) + markdown(
        ["the large project is", *COLUMNS], rows
    )


COLUMNS = {
    "for seconds": "seconds",
    "next: median ms": "next_p50",
    "95th percentile": "next_p95",
    "99th": "next_p99",
    "longest": "next_p100",
    "vote: 95th percentile": "vote_p95",
    "longest vote": "vote_p100",
}
TEXT = """
## A project beside a large one

{workers} workers label a small project, each with a pause of 50 ms after an answer, while a project of
{items:,} items in the same web process, job process and database is loaded after a restart, gets an upload
of {upload:,} items, is refitted, and takes over the model update. Times of the small project:

"""


class Caller:
    """A requester of the large project."""

    def __init__(self, host: Host, key: str) -> None:
        self.host, self.key = host, key

    def send(self, method: str, path: str, body: str | None, type: str) -> int:
        """The status of the answer, which is 503 if the project is being loaded."""
        line = http.client.HTTPConnection(self.host.host, self.host.port, timeout=MAX_PHASE_SECONDS)
        line.request(method, path, body, {"X-API-Key": self.key, "Content-Type": type})
        answer = line.getresponse()
        text = answer.read()
        line.close()
        if answer.status >= 300 and answer.status != 503:
            raise ValueError(f"{method} {path} was refused with {answer.status}: {text[:200]!r}")
        return answer.status

    def until_ready(
        self, method: str, path: str, body: str | None = None, type: str = "application/json"
    ) -> None:
        """Send a request until it is not told to come back later."""
        end = time.monotonic() + MAX_PHASE_SECONDS
        while self.send(method, path, body, type) == 503:
            if time.monotonic() > end:
                raise ValueError(f"{method} {path} was refused for {MAX_PHASE_SECONDS:.0f} seconds")
            time.sleep(POLL_SECONDS)


# The workers of the small project, in a process of their own ------------------------------------


@contextmanager
def watching(host: Host, tokens: list[str], samples: list[Sample]) -> Iterator[None]:
    """Workers label the small project until the end of the block; adds what they saw to `samples`."""
    options = {"host": host.host, "port": host.port, "tokens": tokens}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "samples.json"
        command = [sys.executable, "-m", "benchmarks.service_isolation", str(output)]
        client = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd=ROOT)
        assert client.stdin is not None
        client.stdin.write(json.dumps(options) + "\n")
        client.stdin.flush()
        try:
            yield
        finally:
            client.stdin.close()  # tells it to end
            client.wait(timeout=120)
        samples += [Sample(*sample) for sample in json.loads(output.read_text())]


async def _work(options: dict[str, Any]) -> list[Sample]:
    samples: list[Sample] = []
    over = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    workers = [_label(options, who, over, samples) for who in range(len(options["tokens"]))]
    await asyncio.gather(*workers)
    return samples


async def _label(options: dict[str, Any], who: int, over: threading.Event, samples: list[Sample]) -> None:
    times: Times = {"next": [], "vote": []}
    line = Line(options["host"], options["port"], options["tokens"][who], times)
    await line.open()

    async def ask(kind: str, first: bytes, body: bytes = b"") -> bytes:
        at = time.time()
        begun = time.perf_counter()
        found = await line.ask(kind, first, body)
        samples.append(Sample(kind, at, time.perf_counter() - begun))
        await asyncio.sleep(PAUSE_SECONDS)
        return found

    n = 0
    while not over.is_set():
        found = json.loads(await ask("next", b"GET /api/next?n=2")).get("items", [])
        for item in found:
            n += 1
            vote = {"item": item["item"], "label": f"class {item['item'] % 2}", "key": f"key-{who}-{n:08d}"}
            await ask("vote", b"POST /api/votes", json.dumps(vote).encode())
    line.writer.close()


if __name__ == "__main__":
    asked = json.loads(sys.stdin.readline())
    Path(sys.argv[1]).write_text(json.dumps(asyncio.run(_work(asked))))
