"""Guests who answer inversely, in the whole labelling service: `python -m benchmarks.sybil`.

Ten honest workers are right in 85 % of the cases. To them come 0, 10 or 30 guests through a link for
everybody, who are one person and give wrong answers in 85 % of the cases (the same wrong class for each
class), from the beginning or after six right answers. Honest workers come through the same link, or by name.
Everybody asks for items, answers and asks again, in random order, with the default settings of a project,
until nobody is asked anything. Votes go through leases, database, checks by gold items, replicas and refits,
as they do over HTTP.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import uuid
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from sqlalchemy import delete

from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.aggregation import Aggregate
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.labelling.workers.worker_quality import read_votes
from crowdpilot.service.platforms import invitation_links
from crowdpilot.service.schemas import ProjectIn, VoteIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.status.project_status import guest_caveats
from crowdpilot.service.store import Store, items, migrate, projects
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import jobs

ITEMS = 100  # besides gold items
HONEST, ACCURACY = 10, 0.85  # honest workers, and how often they are right
GUESTS, GOLD, CLASSES = (0, 10, 30), (0, 10, 20), (2, 4)
RIGHT_BEFORE_INVERTING = 6  # answers of a sleeper
BATCH = 10
MAX_ROUNDS = 40
SLOW_JOBS = ("forecast", "calibration")  # which say nothing about labels


class Case(NamedTuple):
    """One crowd and one project."""

    classes: int
    gold: int
    guests: int
    by_name: bool  # whether honest workers come by name
    sleepers: bool
    seed: int


class Outcome(NamedTuple):
    """What became of the labels, and what was said about them."""

    accuracy: float  # of the items that are not gold items
    expected: float
    low: float  # of the interval of the expected accuracy
    warned: bool  # whether the overview says that guests are not checked, or that workers contradict
    votes: int
    waiting: int  # votes that do not count
    guests_counted: int  # guests who answer inversely and whose votes count in the end
    honest_counted: int


def main(
    seeds: Annotated[int, typer.Option(help="Runs of each crowd.")] = 3,
    processes: Annotated[int, typer.Option(help="Processes.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for sybil.md and .json.")] = RESULTS,
) -> None:
    """Measure all crowds."""
    cases = [
        Case(classes, gold, guests, by_name, sleepers, seed)
        for classes, gold, guests, by_name, sleepers in product(
            CLASSES, GOLD, GUESTS, (False, True), (False, True)
        )
        if guests or not sleepers
        for seed in range(seeds)
    ]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(measure, cases))
    rows = [{**case._asdict(), **outcome._asdict()} for case, outcome in zip(cases, found, strict=True)]
    text = render(rows, seeds)
    write(output, "sybil", text, {"machine": machine(), "items": ITEMS, "runs": rows})
    typer.echo(text)


def measure(case: Case) -> Outcome:
    """Run one crowd through a service of its own."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database=f"sqlite:///{folder}/sybil.db", secret="s" * 40)
        store = Store(settings.database)
        migrate(store)
        labelling = LabellingService(store, settings)
        try:
            return asyncio.run(_run(case, store, settings, labelling))
        finally:
            labelling.close()
            store.close()


class Person:
    """Somebody at work."""

    def __init__(self, session: Session, case: Case, rng: random.Random, *, is_honest: bool) -> None:
        self.session, self._case, self._rng, self.is_honest = session, case, rng, is_honest
        self._answers = 0

    def answer(self, truth: int) -> int:
        """The answer about an item of this class."""
        self._answers += 1
        K = self._case.classes
        inverts = not self.is_honest and not (self._case.sleepers and self._answers <= RIGHT_BEFORE_INVERTING)
        meant = (truth + 1) % K if inverts else truth
        if self._rng.random() < ACCURACY:
            return meant
        return (meant + self._rng.randrange(1, K)) % K


async def _run(case: Case, store: Store, settings: Settings, labelling: LabellingService) -> Outcome:
    rng = random.Random(repr(case))
    classes = [f"class {k}" for k in range(case.classes)]
    truth = [rng.randrange(case.classes) for _ in range(ITEMS + case.gold)]
    project, people = _prepare(case, store, settings, classes, truth, rng)
    context = JobContext(store, settings)
    for _ in range(MAX_ROUNDS):
        rng.shuffle(people)
        answered = 0
        for person in people:
            leased = await labelling.lease(person.session, BATCH)
            for one in leased:  # in order, as a person does
                label = classes[person.answer(truth[int(one.content["text"])])]
                vote = VoteIn(item=one.item, label=label, key=uuid.uuid4().hex)
                await labelling.vote(person.session, vote)
            answered += len(leased)
        _do_jobs(context)
        if not answered:
            break
    return await labelling.read(project, lambda replica, row: _outcome(replica, row, truth, people, store))


def _prepare(
    case: Case, store: Store, settings: Settings, classes: list[str], truth: Sequence[int], rng: random.Random
) -> tuple[str, list[Person]]:
    spec = ProjectIn.model_validate({"name": "sybil", "classes": classes, "guests": {"per_address": 1000}})
    with store.writing() as c:
        id = projects.create(c, spec.model_dump())
        gold = {n: classes[truth[n]] for n in range(ITEMS, ITEMS + case.gold)}
        new = [{"name": f"i{n}", "content": {"text": str(n)}, "gold": gold.get(n)} for n in range(len(truth))]
        rng.shuffle(new)
        items.add(c, id, new)
        project = projects.find(c, id)
        open_link = invitations.create(c, id, kind="crowd").id
        people = []
        for n in range(HONEST + case.guests):
            named = case.by_name and n < HONEST
            link = invitations.create(c, id, kind="crowd", worker=f"worker {n}").id if named else open_link
            token = invitation_links.sign_invitation(settings.secret, id, link)
            arrival = onboarding.arrive(c, settings, project, "link", {"invite": token})
            session = onboarding.open_session(c, settings, project, arrival)
            people.append(Person(session, case, rng, is_honest=n < HONEST))
    return id, people


def _do_jobs(context: JobContext) -> None:
    while True:
        with context.store.writing() as c:
            c.execute(delete(jobs).where(jobs.c.kind.in_(SLOW_JOBS)))
        if not runner.step(context, "benchmark"):
            return


def _outcome(
    replica: Replica, row: Row, truth: Sequence[int], people: Sequence[Person], store: Store
) -> Outcome:
    now = replica.campaign.decide()
    numbers = np.array([int(str(name)[1:]) for name in now.items.tolist()])
    open_ = numbers < ITEMS
    accuracy = float((now.codes[open_] == np.asarray(truth)[numbers[open_]]).mean())
    data = read_votes(replica, row)
    voted = np.unique(data.votes.task)
    counted = data.votes.select(tasks=voted)
    result = make_honest(Aggregate(counted, data.posterior[voted], np.full(len(counted.workers), np.nan)))
    estimate, caveats = result.expected_accuracy, [*guest_caveats(replica), *result.caveats]
    with store.reading() as c:
        trusted = {r.id for r in c.exec_driver_sql("SELECT id FROM workers WHERE trusted = 1")}
    counted_by = [p.is_honest for p in people if p.session.worker in trusted]
    return Outcome(
        accuracy,
        estimate.mean,
        estimate.low,
        bool(caveats),
        row.votes,
        replica.waiting_votes,
        counted_by.count(False),
        counted_by.count(True),
    )


def render(rows: Sequence[dict[str, Any]], seeds: int) -> str:
    """The page of results."""
    text = (
        "# Guests who answer inversely\n\n"
        f"`python -m benchmarks.sybil`: {HONEST} honest workers who are right in {ACCURACY:.0%}, and guests "
        f"through a link for everybody who are wrong in {ACCURACY:.0%}, on {ITEMS} items besides gold items; "
        f"default settings, the whole labelling service over SQLite, means of {seeds} runs. Accuracy and "
        "expected accuracy as the overview of a project shows it; a star where it warns that guests are not "
        "checked or that workers contradict each other; guests who answer inversely and count in the end; "
        "votes that count, and votes that do not.\n"
    )
    for classes, by_name, sleepers in product(CLASSES, (False, True), (False, True)):
        who = "come by name" if by_name else "come through the same link"
        when = f"after {RIGHT_BEFORE_INVERTING} right answers" if sleepers else "from the beginning"
        own = [r for r in rows if (r["classes"], r["by_name"]) == (classes, by_name)]
        own = [r for r in own if r["sleepers"] == sleepers or r["guests"] == 0]
        text += f"\n## {classes} classes, honest workers {who}, guests answer inversely {when}\n\n"
        text += markdown(HEADER, [_row(own, gold, guests) for gold, guests in product(GOLD, GUESTS)])
    return text


HEADER = (
    "Gold items, guests",
    "Accuracy",
    "Expected",
    "From",
    "Guests counted",
    "Honest counted",
    "Votes",
    "Not",
)


def _row(rows: Sequence[dict[str, Any]], gold: int, guests: int) -> list[str]:
    own = [row for row in rows if (row["gold"], row["guests"]) == (gold, guests)]
    mean = {name: float(np.mean([row[name] for row in own])) for name in Outcome._fields}
    star = "*" if mean["warned"] >= 0.5 else ""
    counted = mean["votes"] - mean["waiting"]
    return [
        f"{gold} gold items, {guests} guests", f"{mean['accuracy']:.3f}", f"{mean['expected']:.3f}{star}",
        f"{mean['low']:.3f}", f"{mean['guests_counted']:.1f}", f"{mean['honest_counted']:.1f}",
        f"{counted:.0f}", f"{mean['waiting']:.0f}",
    ]  # fmt: skip


if __name__ == "__main__":
    typer.run(main)
