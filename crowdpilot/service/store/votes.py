"""Votes: what is lent, what comes back, and what is taken back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, bindparam, func, insert, select, update

from crowdpilot.service.errors import ConflictError, ForbiddenError, RequestError
from crowdpilot.service.store import projects
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import votes

LENT, VOTED, UNSURE, BACK = "lent", "voted", "unsure", "back"
Place = tuple[int, int]  # item, criterion
BATCHES = 2  # of a worker within which an answer may be taken back


class Answer(NamedTuple):
    """What a worker says of an item they were lent; without a label they cannot tell."""

    worker: int
    item: int
    criterion: int
    label: int | None
    seconds: float | None
    key: str


class Known(NamedTuple):
    """Where the answer of a worker about an item stands."""

    state: str
    label: int | None
    key: str | None


def take(c: Connection, project: str, answers: Sequence[Answer]) -> tuple[list[RequestError | None], Record]:
    """Take answers in one transaction; for each why not, if not, and the project as it is then.

    Who sends the same answer again, with the same key, is told the same again.
    """
    said = sum(answer.label is not None for answer in answers)
    row = projects.tick(c, project, votes=said)
    known = _known(c, answers)
    refused, new = [], []
    for answer in answers:
        refused.append(_check(answer, known, row.state))
        if refused[-1] is None and known[_key(answer)].state in (LENT, BACK):
            new.append(answer)
            known[_key(answer)] = Known(_state(answer), answer.label, answer.key)
    if new:
        c.execute(_ANSWER, [_values(answer, int(row.clock)) for answer in new])
    fewer = sum(answer.label is not None for answer in new) - said
    return refused, projects.tick(c, project, clock=0, votes=fewer) if fewer else row


def _values(a: Answer, clock: int) -> dict[str, Any]:
    return {"i": a.item, "q": a.criterion, "w": a.worker, "s": _state(a), "l": a.label, "d": a.seconds,
            "t": time.time(), "k": a.key, "a": clock}  # fmt: skip


def _state(a: Answer) -> str:
    return UNSURE if a.label is None else VOTED


def _key(a: Answer) -> tuple[int, int, int]:
    return a.item, a.criterion, a.worker


def _known(c: Connection, answers: Sequence[Answer]) -> dict[tuple[int, int, int], Known]:
    columns = votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label, votes.c.key
    some = votes.c.item.in_({a.item for a in answers})  # by the primary key, whoever the workers are
    return {tuple(row[:3]): Known(*row[3:]) for row in c.execute(select(*columns).where(some))}


def _check(answer: Answer, known: dict[tuple[int, int, int], Known], state: str) -> RequestError | None:
    row = known.get(_key(answer))
    if row is None:
        return ForbiddenError("this item was not lent to you; ask for the next one")
    if row == Known(_state(answer), answer.label, answer.key):
        return None
    if row.state in (VOTED, UNSURE):
        return ConflictError("you have answered this already; go on with the next")
    if state == projects.CLOSED:
        return ConflictError("the project is closed; thank you for your work")
    return None


def lend(c: Connection, project: str, worker: int, places: Sequence[Place], until: float, clock: int) -> None:
    """Lend these to a worker until then; what came back from them before may go out again."""
    lend_some(c, project, [(worker, places)], until, clock)


def lend_some(
    c: Connection, project: str, lendings: Sequence[tuple[int, Sequence[Place]]], until: float, clock: int
) -> None:
    """The same for several workers at once."""
    rows = [{"project": project, "item": item, "criterion": criterion, "worker": worker, "state": LENT,
             "turn": clock, "place": n, "expires": until, "at": clock}
            for worker, places in lendings for n, (item, criterion) in enumerate(places)]  # fmt: skip
    some = votes.c.item.in_({row["item"] for row in rows})
    columns = votes.c.item, votes.c.criterion, votes.c.worker
    before = {tuple(row) for row in c.execute(select(*columns).where(some))}
    new = [row for row in rows if (row["item"], row["criterion"], row["worker"]) not in before]
    if new:
        c.execute(insert(votes), new)
    if len(new) < len(rows):
        again = [row for row in rows if (row["item"], row["criterion"], row["worker"]) in before]
        c.execute(
            _AGAIN, [{**row, "i": row["item"], "q": row["criterion"], "w": row["worker"]} for row in again]
        )


_PLACE = and_(
    votes.c.item == bindparam("i"), votes.c.criterion == bindparam("q"), votes.c.worker == bindparam("w")
)
_ANSWER = (
    update(votes)
    .where(_PLACE)
    .values(
        state=bindparam("s"),
        label=bindparam("l"),
        seconds=bindparam("d"),
        time=bindparam("t"),
        key=bindparam("k"),
        at=bindparam("a"),
    )
)
_AGAIN = (
    update(votes)
    .where(_PLACE)
    .values({name: bindparam(name) for name in ("state", "turn", "place", "expires", "at")})
)


def held(c: Connection, worker: int) -> Sequence[Record]:
    """What is lent to a worker and not answered, in the order in which it was lent."""
    columns = votes.c.item, votes.c.criterion, votes.c.expires, votes.c.turn
    mine = votes.c.worker == worker, votes.c.state == LENT
    return c.execute(select(*columns).where(*mine).order_by(votes.c.turn, votes.c.place)).all()


def held_by(c: Connection, workers: Sequence[int]) -> dict[int, list[Place]]:
    """The same of several workers, as places."""
    columns = votes.c.worker, votes.c.item, votes.c.criterion
    theirs = votes.c.worker.in_(workers), votes.c.state == LENT
    found: dict[int, list[Place]] = {}
    for row in c.execute(select(*columns).where(*theirs).order_by(votes.c.turn, votes.c.place)):
        found.setdefault(row.worker, []).append((row.item, row.criterion))
    return found


def answered(c: Connection, worker: int) -> bool:
    """Whether a worker has answered anything."""
    mine = votes.c.worker == worker, votes.c.state.in_((VOTED, UNSURE))
    return c.execute(select(votes.c.item).where(*mine).limit(1)).first() is not None


def extend(c: Connection, workers: Sequence[int], until: float) -> None:
    """Workers are still there: what they hold stays theirs."""
    c.execute(update(votes).where(votes.c.worker.in_(workers), votes.c.state == LENT).values(expires=until))


def late(c: Connection, project: str, now: float) -> bool:
    """Whether something was not answered in time."""
    some = votes.c.project == project, votes.c.state == LENT, votes.c.expires < now
    return c.execute(select(votes.c.item).where(*some).limit(1)).first() is not None


def expire(c: Connection, project: str, now: float) -> int:
    """What was not answered in time goes to others; how many these are."""
    if not late(c, project, now):
        return 0
    clock = int(projects.tick(c, project).clock)
    some = votes.c.project == project, votes.c.state == LENT, votes.c.expires < now
    return c.execute(update(votes).where(*some).values(state=BACK, at=clock)).rowcount


def give_back(c: Connection, project: str, worker: int) -> None:
    """What a worker holds goes to others."""
    mine = votes.c.worker == worker, votes.c.state == LENT
    clock = int(projects.tick(c, project).clock)
    c.execute(update(votes).where(*mine).values(state=BACK, at=clock))


def undo(c: Connection, project: str, worker: int, until: float) -> Place:
    """Take back the last answer of a worker, if it is of their running batch; it is lent to them again."""
    clock = int(projects.tick(c, project).clock)
    mine = votes.c.worker == worker
    turns = c.execute(
        select(votes.c.turn).where(mine).distinct().order_by(votes.c.turn.desc()).limit(BATCHES)
    )
    recent = [row.turn for row in turns]
    answered = votes.c.state.in_((VOTED, UNSURE)), votes.c.turn.in_(recent)
    order = votes.c.time.desc(), votes.c.turn.desc(), votes.c.place.desc()
    row = c.execute(select(votes).where(mine, *answered).order_by(*order).limit(1)).first()
    if row is None:
        raise ConflictError("there is nothing to take back; only the answers just given can be changed")
    this = mine, votes.c.item == row.item, votes.c.criterion == row.criterion
    again = {"state": LENT, "label": None, "key": None, "time": None, "expires": until, "at": clock}
    c.execute(update(votes).where(*this).values(again))
    if row.state == VOTED:
        projects.tick(c, project, clock=0, votes=-1)
    return row.item, row.criterion


def since(c: Connection, project: str, clock: int) -> Sequence[Record]:
    """What changed in what is lent and voted, in the order in which it did."""
    columns = votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label
    changed = votes.c.project == project, votes.c.at > clock
    order = votes.c.at, votes.c.worker, votes.c.item, votes.c.criterion
    return c.execute(select(*columns).where(*changed).order_by(*order)).all()


def given(c: Connection, project: str) -> Iterator[Record]:
    """All votes of a project, in the order in which they came."""
    mine = votes.c.project == project, votes.c.state == VOTED
    order = votes.c.at, votes.c.worker, votes.c.item, votes.c.criterion
    yield from c.execution_options(yield_per=5000).execute(select(votes).where(*mine).order_by(*order))


def tally(c: Connection, project: str) -> dict[int, dict[str, float]]:
    """How much each worker did: numbers by state, and the seconds that votes took on average."""
    columns = (
        votes.c.worker,
        votes.c.state,
        func.count().label("n"),
        func.avg(votes.c.seconds).label("seconds"),
    )
    rows = c.execute(
        select(*columns).where(votes.c.project == project).group_by(votes.c.worker, votes.c.state)
    )
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        mine = found.setdefault(row.worker, {VOTED: 0, UNSURE: 0, LENT: 0, BACK: 0})
        mine[row.state] = row.n
        if row.state == VOTED and row.seconds is not None:
            mine["seconds"] = float(row.seconds)
    return found


def count_of(c: Connection, worker: int) -> int:
    """How many answers a worker has given, votes or not."""
    mine = votes.c.worker == worker, votes.c.state.in_((VOTED, UNSURE))
    return int(c.execute(select(func.count()).where(*mine)).scalar_one())
