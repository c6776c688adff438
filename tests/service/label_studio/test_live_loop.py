"""The live loop with a real Label Studio: annotators label until it stops by itself, through a kill."""

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
    "name": "Animals", "classes": CLASSES, "costs": {"prices": {"crowd": 0.02}},
    "plan": {"refit_every": 20, "pilot": 10},
}  # fmt: skip
TASKS, ERRORS = 50, 0.12  # the share of the answers of everybody that is wrong
TURNS_BEFORE_KILL, TURNS_WHILE_AWAY, MAX_TURNS = 40, 9, 2000
SEED = 2
LOOPBACK = IPv4Network("127.0.0.0/8")


@dataclass
class ServiceProcess:
    """The service as a process that can be killed and started again at the same address."""

    options: dict[str, Any]
    port: int
    store: Store
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return Settings(**self.options)

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
        assert process.stdout.readline()

    def kill(self) -> None:
        """Kill the process and its children at once, so that nobody has time to finish anything."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        process = self.processes[-1]
        if process.poll() is None:
            os.killpg(process.pid, number)
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()

    def is_idle(self, project: str) -> bool:
        """Whether no job is due or running, so that what is wanted does not change by itself."""
        with self.store.reading() as c:
            return not jobs.is_pending(c, project)


@contextmanager
def service_process(folder: Path) -> Iterator[ServiceProcess]:
    port, url = free_port(), sqlite_url(folder)
    options = settings_of(url, address=f"http://127.0.0.1:{port}", webhook_networks=(LOOPBACK,))
    store = migrated_store(url)
    service = ServiceProcess(options, port, store)
    service.start()
    try:
        yield service
    finally:
        service.stop()
        store.close()


@dataclass
class Crowd:
    """Annotators who take what Label Studio gives them, each wrong on some tasks of their own."""

    number: int  # of the project
    truth: dict[int, str]
    users: Sequence[User]
    store: Store
    project: str
    served: int = 0
    unwanted: list[int] = field(default_factory=list)

    def answer(self, user: User, task: int) -> str:
        rng = random.Random(f"{SEED} {self.users.index(user)} {list(self.truth).index(task)}")
        right = self.truth[task]
        return right if rng.random() > ERRORS else rng.choice([name for name in CLASSES if name != right])

    def label(self, user: User) -> bool:
        """Label one task, if one is given; note whether the campaign wanted a vote on it."""
        given = user.next_task(self.number)
        if given is None:
            return False
        task = int(given["id"])
        self.served += 1
        if str(task) not in replica_reader(self.store, self.project)(find_wanted).all:
            self.unwanted.append(task)
        user.submit(task, self.answer(user, task))
        return True

    def label_in_turns(self, service: ServiceProcess | None, turns: int) -> None:
        """Take turns until nobody is given a task; with a service, when it has nothing to do any more."""
        without = 0
        for n in range(turns):
            if service is not None:
                eventually(lambda: service.is_idle(self.project), 60)
            without = 0 if self.label(self.users[n % len(self.users)]) else without + 1
            if without == len(self.users):
                return


def votes_here(store: Store, project: str) -> set[tuple[int, str, str]]:
    """(annotation, worker, class) of all votes in our database."""
    with store.reading() as c:
        return {
            (int(row.key.removeprefix("label_studio-")), row.external, CLASSES[row.label])
            for row in ls_votes.keys(c, project)
        }


def votes_there(server: LabelStudio, number: int) -> set[tuple[int, str, str]]:
    """The same in the database of Label Studio."""
    return {
        (one["id"], str(one["completed_by"]), one["result"][0]["value"]["choices"][0])
        for one in server.annotations(number)
    }


@pytest.mark.thorough
def test_three_annotators_label_until_it_stops_by_itself(label_studio: LabelStudio, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    number = label_studio.add_project(choices_config(CLASSES))
    answers = [rng.choice(CLASSES) for _ in range(TASKS)]
    tasks = label_studio.import_tasks(number, [{"text": f"Animal {n}"} for n in range(TASKS)])
    with service_process(tmp_path) as service:
        project = create_project(service.store, SPEC)
        found = connection.connect(
            service.store, service.settings, project, "tests", address=label_studio.address,
            token=label_studio.admin.token, ls_project=number,
        )  # fmt: skip
        assert (found.tasks, found.votes, found.state, found.problems) == (TASKS, 0, "running", [])
        assert 0 < found.open_tasks < TASKS
        users = [label_studio.add_user() for _ in range(3)]
        truth = dict(zip(tasks, answers, strict=True))
        crowd = Crowd(number, truth, users, service.store, project)

        crowd.label_in_turns(service, TURNS_BEFORE_KILL)
        service.kill()
        before = crowd.served
        crowd.label_in_turns(None, TURNS_WHILE_AWAY)
        assert crowd.served > before, "Label Studio has open tasks while the service is away"
        assert votes_here(service.store, project) < votes_there(label_studio, number)
        service.start()
        eventually(lambda: votes_here(service.store, project) == votes_there(label_studio, number), 60)
        crowd.label_in_turns(service, MAX_TURNS)

        assert [user.next_task(number) for user in users] == [None, None, None]
        eventually(lambda: state_of(service.store, project).state == "finished", 60)
        assert crowd.unwanted == []
        votes = votes_here(service.store, project)
        assert votes == votes_there(label_studio, number)
        assert len(votes) == crowd.served
        assert TASKS <= len(votes) < 3 * TASKS, "not everybody is asked everything"
        check_labels(label_studio, service.store, project, crowd)


def state_of(store: Store, project: str) -> connection.Connection:
    found = connection.find(store, project)
    assert found is not None
    return found


def check_labels(server: LabelStudio, store: Store, project: str, crowd: Crowd) -> None:
    """The labels stand in the data of the tasks, and fewer are wrong than anybody would have got wrong."""
    eventually(lambda: all("crowdpilot_label" in task["data"] for task in server.tasks(crowd.number)), 90)
    decided = replica_reader(store, project)(lambda replica, _: replica.campaign.decide())
    here = dict(zip(decided.items.tolist(), decided.labels.tolist(), strict=True))
    there = {str(task["id"]): task["data"]["crowdpilot_label"] for task in server.tasks(crowd.number)}
    assert here == there
    wrong = sum(there[str(task)] != label for task, label in crowd.truth.items())
    alone = [
        sum(crowd.answer(user, task) != label for task, label in crowd.truth.items()) for user in crowd.users
    ]
    assert wrong < min(alone)
