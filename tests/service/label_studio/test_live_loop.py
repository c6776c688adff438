"""The live loop with a real Label Studio: connect, label until it stops by itself, survive a kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.label_studio import connection
from crowdpilot.service.label_studio.driving import find_wanted
from crowdpilot.service.label_studio.reading import replica_reader
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, jobs
from crowdpilot.service.store.label_studio import votes as ls_votes
from tests.service.harness.label_studio_server import LabelStudio, User, choices_config
from tests.service.harness.service import create_project, migrated_store, settings_of, sqlite_url
from tests.service.harness.waiting import eventually, free_port

CLASSES = ["bird", "cat", "dog"]
SPEC = {
    "name": "Animals",
    "classes": CLASSES,
    "costs": {"prices": {"crowd": 0.02}},
    "plan": {"refit_every": 20, "pilot": 10},
}
LOOPBACK = IPv4Network("127.0.0.0/8")
MAX_REQUESTS = 2000


@dataclass
class ServiceProcess:
    """The service as a process that can be killed and started again at the same address."""

    settings: Settings
    options: dict[str, Any]
    port: int
    store: Store
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self) -> None:
        code = f"""
import logging
from ipaddress import IPv4Network
from crowdpilot.service.settings import Settings
from crowdpilot.service.processes import supervise
logging.disable(logging.WARNING)
supervise(Settings(**{self.options!r}), host="127.0.0.1", port={self.port}, web=1, jobs=1,
          ready=lambda address: print(address, flush=True))
"""
        process = subprocess.Popen(
            [sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, start_new_session=True
        )
        self.processes.append(process)
        assert process.stdout is not None
        process.stdout.readline()

    def kill(self) -> None:
        """Kill the whole group at once, so that nobody has time to finish anything."""
        process = self.processes[-1]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@contextmanager
def service_process(folder: Path) -> Iterator[ServiceProcess]:
    port, url = free_port(), sqlite_url(folder)
    address = f"http://127.0.0.1:{port}"
    options = settings_of(url, address=address, webhook_networks=(LOOPBACK,))
    store = migrated_store(url)
    service = ServiceProcess(Settings(**options), options, port, store)
    service.start()
    try:
        yield service
    finally:
        process = service.processes[-1]
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        store.close()


@dataclass
class Crowd:
    """Annotators with a fixed accuracy, who take what Label Studio gives them."""

    server: LabelStudio
    project: int
    truth: dict[int, str]
    users: Sequence[User]
    rng: random.Random
    accuracy: float = 0.9
    served: list[tuple[int, int]] = field(default_factory=list)

    def answer(self, user: User, task: int) -> None:
        right = self.truth[task]
        wrong = [name for name in CLASSES if name != right]
        user.submit(task, right if self.rng.random() < self.accuracy else self.rng.choice(wrong))

    def work(self, user: User) -> int | None:
        """Label one task; its number, None if there is none."""
        task = user.next_task(self.project)
        if task is None:
            return None
        self.served.append((user.id, task["id"]))
        return int(task["id"])


def wanted_tasks(store: Store, project: str) -> set[int]:
    """The tasks on which the campaign wants a vote now, by a replica built from the tables alone."""
    wanted = replica_reader(store, project)(find_wanted)
    return {int(name) for name in wanted.all}


def both_databases(store: Store, project: str, server: LabelStudio, number: int) -> tuple[set[Any], set[Any]]:
    """(annotation, worker, class) here and there."""
    with store.reading() as c:
        here = {
            (int(row.key.removeprefix("label_studio-")), row.external, CLASSES[row.label])
            for row in ls_votes.keys(c, project)
        }
    there = {
        (one["id"], str(one["completed_by"]), one["result"][0]["value"]["choices"][0])
        for one in server.annotations(number)
        if not one["was_cancelled"]
    }
    return here, there


@pytest.mark.thorough
def test_three_annotators_label_until_it_stops_by_itself(label_studio: LabelStudio, tmp_path: Path) -> None:
    """No unwanted task is served, votes are the same on both sides, and a kill in between loses nothing."""
    rng = random.Random(5)
    number = label_studio.add_project(choices_config(CLASSES))
    answers = [rng.choice(CLASSES) for _ in range(40)]
    ids = label_studio.import_tasks(number, [{"text": f"animal {n}: {a}"} for n, a in enumerate(answers)])
    truth = dict(zip(ids, answers, strict=True))
    users = [label_studio.add_user() for _ in range(3)]
    with service_process(tmp_path) as service:
        project = create_project(service.store, SPEC)
        found = connection.connect(
            service.store, service.settings, project, "tests", address=label_studio.address,
            token=label_studio.admin.token, ls_project=number,
        )  # fmt: skip
        assert (found.tasks, found.votes, found.state) == (40, 0, "running")
        crowd = Crowd(label_studio, number, truth, users, rng)
        unwanted = label_until(crowd, service, project, stop_after=25)
        service.kill()
        while_away = 0
        for user in users:
            task = crowd.work(user)
            if task is not None:
                crowd.answer(user, task)
                while_away += 1
        assert while_away > 0
        service.start()
        eventually(lambda: same(service.store, project, label_studio, number), 60)
        unwanted += label_until(crowd, service, project, stop_after=MAX_REQUESTS)
        here, there = both_databases(service.store, project, label_studio, number)
        assert here == there
        assert unwanted == []
        eventually(lambda: state_of(service, project) == "finished", 60)
        eventually(lambda: all("crowdpilot_label" in t["data"] for t in label_studio.tasks(number)), 60)
        tasks = label_studio.tasks(number)
        right = sum(task["data"].get("crowdpilot_label") == truth[task["id"]] for task in tasks)
        print("votes", len(here), "right", right, "of", len(tasks), connection.find(service.store, project))
        print(tasks[0], label_studio.webhooks(number), label_studio.backends(number))
        connection.disconnect(service.store, service.settings, project, "tests")


def same(store: Store, project: str, server: LabelStudio, number: int) -> bool:
    here, there = both_databases(store, project, server, number)
    return here == there


def state_of(service: ServiceProcess, project: str) -> str:
    found = connection.find(service.store, project)
    return "" if found is None else found.state


def label_until(crowd: Crowd, service: ServiceProcess, project: str, stop_after: int) -> list[int]:
    """Annotators take turns until none is given a task; which tasks were served though none was wanted."""
    unwanted = []
    n, idle = 0, 0
    while idle < len(crowd.users) and n < stop_after:
        user = crowd.users[n % len(crowd.users)]
        n += 1
        eventually(lambda: is_idle(service.store, project), 60)
        task = crowd.work(user)
        idle = idle + 1 if task is None else 0
        if task is not None:
            if task not in wanted_tasks(service.store, project):
                unwanted.append(task)
            crowd.answer(user, task)
    return unwanted


def is_idle(store: Store, project: str) -> bool:
    """Whether no job is due or running, so that what is wanted does not change by itself."""
    with store.reading() as c:
        return not jobs.is_pending(c, project)
