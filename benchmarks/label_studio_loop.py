"""Label Studio with a fixed overlap and driven by Crowdpilot: `python -m benchmarks.label_studio_loop`.

The same 80 tasks are labelled twice by each simulated crowd, whose errors depend on each other: half of the
tasks are hard for everybody. Annotators take turns. With a fixed overlap each of them gets the first task in
Label Studio's order that has too few annotations and none of theirs, which needs no server. The other time a
project of a real Label Studio is connected to a service, and annotators label what its API shows them until
it shows nothing more.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.aggregation.auto import Auto
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.arrays import Codes
from crowdpilot.cli.shared.service_client import ServiceClient
from crowdpilot.simulation import DiscreteDifficulty
from crowdpilot.votes import Votes
from tests.service.harness.label_studio_server import (
    LabelStudio,
    User,
    choices_config,
    running_label_studio,
)
from tests.service.harness.waiting import free_port

TASKS, ANNOTATORS, CLASSES = 80, 5, ("cat", "dog", "fox")
OVERLAP = 3
ERROR, PRICE = 1.0, 0.05  # what a wrong label and a vote cost: the defaults of a project
GOOD, EASY_PER_HARD = 0.6, 1.0  # share of the annotators who are good, and easy tasks for each hard one
PATIENCE_SECONDS = 60.0  # that nothing is shown before it counts as the end


class Crowd(NamedTuple):
    """What everybody would answer, (tasks, annotators), and the truth, (tasks,)."""

    answers: Codes
    truth: Codes


class Arm(NamedTuple):
    """One way to label the tasks of a crowd: its votes and wrong labels."""

    votes: int
    errors: int

    @property
    def cost(self) -> float:
        """Of wrong labels and votes together."""
        return ERROR * self.errors + PRICE * self.votes


class Run(NamedTuple):
    """All ways to label the tasks of one crowd, and whether ours ended by itself."""

    majority: Arm
    auto: Arm
    driven: Arm
    state: str
    seconds: float


def draw_crowd(seed: int, tasks: int = TASKS) -> Crowd:
    """Good and bad annotators on easy and hard tasks."""
    votes, truth = DiscreteDifficulty(
        tasks=tasks, workers=ANNOTATORS, classes=len(CLASSES), ratio=GOOD, ratio_diff=EASY_PER_HARD, seed=seed
    ).run()
    answers = np.empty((tasks, ANNOTATORS), np.int32)
    answers[votes.task, votes.worker] = votes.label
    return Crowd(answers, truth)


# A fixed overlap


def take_turns(answers: Codes, overlap: int) -> Votes:
    """The votes of annotators who take turns until each task has so many."""
    n_tasks, n_workers = answers.shape
    given = np.zeros((n_tasks, n_workers), bool)
    voted: list[tuple[int, int]] = []
    for turn in range(n_tasks * n_workers):
        worker = turn % n_workers
        waiting = np.flatnonzero((given.sum(axis=1) < overlap) & ~given[:, worker])
        if len(waiting):
            given[waiting[0], worker] = True
            voted.append((int(waiting[0]), worker))
    task, worker_of = (np.array(column, np.int32) for column in zip(*voted, strict=True))
    names = np.arange(n_tasks), np.arange(n_workers), np.array(CLASSES)
    return Votes(task, worker_of, answers[task, worker_of], *names)


def fixed_overlap(crowd: Crowd) -> tuple[Arm, Arm]:
    """The labels of majority voting and of `auto` from the same votes."""
    votes = take_turns(crowd.answers, OVERLAP)
    labels = [model.fit(votes).labels for model in (MajorityVoting(), Auto())]
    truth = np.array(CLASSES)[crowd.truth]
    majority, auto = (Arm(len(votes), int((found != truth).sum())) for found in labels)
    return majority, auto


# Driven by a service


class Service(NamedTuple):
    """A service in a process of its own, and a key of it."""

    address: str
    key: str

    @property
    def client(self) -> ServiceClient:
        """To call its API."""
        return ServiceClient(self.address, self.key)

    def download(self, path: str) -> list[dict[str, Any]]:
        """The lines of a file of JSON lines."""
        request = urllib.request.Request(self.address + path, headers={"X-API-Key": self.key})
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
            return [json.loads(line) for line in response]


@contextmanager
def running_service(folder: Path) -> Iterator[Service]:
    """`crowdpilot serve` over a new database, until the end of the block."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    database = str(folder / "crowdpilot.db")
    command = [sys.executable, "-m", "crowdpilot"]
    created = subprocess.run(
        [*command, "keys", "create", "benchmark", "--operator", "-d", database],
        check=True, text=True, capture_output=True,
    )  # fmt: skip
    with (folder / "service.log").open("w") as log:
        server = subprocess.Popen(
            [*command, "serve", "-d", database, "--port", str(port), "--address", address,
             "--webhook-network", "127.0.0.0/8"],
            stdout=log, stderr=log,
        )  # fmt: skip
    try:
        service = Service(address, created.stdout.split()[-1])
        _await(lambda: _answers(service))
        yield service
    finally:
        server.terminate()
        server.wait(60)


def _answers(service: Service) -> bool:
    try:
        return service.client.get("/api/projects") is not None
    except ValueError:
        return False


def _await(true: Any, seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{true} does not hold after {seconds} seconds")
        time.sleep(0.1)


def drive(studio: LabelStudio, users: Sequence[User], service: Service, crowd: Crowd) -> tuple[Arm, str]:
    """Annotators label what Label Studio shows them while the service drives it; how it ended."""
    tasks = [{"text": f"Item {n}"} for n in range(len(crowd.truth))]
    project = studio.add_project(choices_config(CLASSES), tasks, title="Items")
    body = {"address": studio.address, "token": studio.admin.token, "project": project}
    made = service.client.post("/api/projects/label-studio", body)
    label_all(users, project, crowd.answers, lambda: _connection(service, made["id"])["state"] == "finished")
    numbers = {task["id"]: int(task["data"]["text"].split()[1]) for task in studio.tasks(project)}
    decided = service.download(f"/api/projects/{made['id']}/decisions?format=ndjson")
    driven = _score(decided, numbers, crowd, len(studio.annotations(project)))
    return driven, _connection(service, made["id"])["state"]


def _connection(service: Service, id: str) -> Any:
    return service.client.get(f"/api/projects/{id}/label-studio/connection")


def label_all(users: Sequence[User], project: int, answers: Codes, is_finished: Any) -> None:
    """Take turns until nobody is shown anything and it is finished, or nothing was shown for a while."""
    last = time.monotonic()
    while time.monotonic() < last + PATIENCE_SECONDS:
        shown = False
        for worker, user in enumerate(users):
            task = user.next_task(project)
            if task is not None:
                n = int(task["data"]["text"].split()[1])
                user.submit(task["id"], CLASSES[answers[n, worker]])
                shown, last = True, time.monotonic()
        if not shown and is_finished():
            return
        if not shown:
            time.sleep(0.5)


def _score(decided: Any, numbers: dict[int, int], crowd: Crowd, votes: int) -> Arm:
    labels = {numbers[_task_number(row["item"])]: row["label"] for row in decided}
    wrong = sum(labels.get(n) != CLASSES[k] for n, k in enumerate(crowd.truth))
    return Arm(votes, wrong)


def _task_number(name: str) -> int:
    return int(str(name).rpartition("-")[2])


# The report


def main(
    crowds: Annotated[int, typer.Option(min=1, help="How many crowds are drawn.")] = 10,
    tasks: Annotated[int, typer.Option(min=1, help="How many tasks each has.")] = TASKS,
    output: Annotated[Path, typer.Option()] = RESULTS,
) -> None:
    """Label the same tasks with a fixed overlap and driven by Crowdpilot."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        (folder := Path(name, "label-studio")).mkdir()
        with running_label_studio(folder) as studio, running_service(Path(name)) as service:
            users = [studio.add_user() for _ in range(ANNOTATORS)]
            for seed in range(crowds):
                crowd, begun = draw_crowd(seed, tasks), time.monotonic()
                driven, state = drive(studio, users, service, crowd)
                run = Run(*fixed_overlap(crowd), driven, state, time.monotonic() - begun)
                runs.append(run)
                typer.echo(f"crowd {seed}: {run}", err=True)
    data = {"machine": machine(), "tasks": tasks, "annotators": ANNOTATORS, "overlap": OVERLAP,
            "runs": [_record(run) for run in runs]}  # fmt: skip
    write(output, "label_studio_loop", report(runs, tasks), data)


def _record(run: Run) -> dict[str, Any]:
    return {
        name: value._asdict() if isinstance(value, Arm) else value for name, value in run._asdict().items()
    }


def report(runs: Sequence[Run], tasks: int) -> str:
    """The table of all crowds, and their means."""
    arms = [[run.majority, run.auto, run.driven] for run in runs]
    rows = [[str(n), *(f"{value}" for arm in row for value in (arm.votes, arm.errors)),
             f"{row[0].cost:.2f}", f"{row[1].cost:.2f}", f"{row[2].cost:.2f}", run.state]
            for n, (run, row) in enumerate(zip(runs, arms, strict=True))]  # fmt: skip
    columns = np.array([[[arm.votes, arm.errors, arm.cost] for arm in row] for row in arms]).mean(axis=0)
    means = [f"{value:.1f}" for arm in columns for value in arm[:2]]
    rows.append(["mean", *means, *(f"{arm[2]:.2f}" for arm in columns), ""])
    names = f"majority, overlap {OVERLAP}", f"auto, overlap {OVERLAP}", "driven"
    header = ["crowd", *(f"{what}, {name}" for name in names for what in ("votes", "errors")),
              *(f"cost, {name}" for name in names), "ended as"]  # fmt: skip
    about = (
        f"`python -m benchmarks.label_studio_loop`: {tasks} tasks of {len(CLASSES)} classes, {len(runs)} "
        f"crowds of {ANNOTATORS} annotators who take turns. {GOOD:.0%} of them are good, and half of the "
        "tasks are hard for everybody (`DiscreteDifficulty`, seeds from 0). A wrong label costs "
        f"{ERROR:g} and a vote {PRICE:g}, the defaults of a project. What is driven went through a real "
        f"Label Studio server, on {machine()}."
    )
    title = "# Label Studio: a fixed overlap, and driven by Crowdpilot"
    return f"{title}\n\n{about}\n\n{markdown(header, rows)}"


if __name__ == "__main__":
    typer.run(main)
