"""What is given to a campaign: a machine's word, known classes and votes; checked before anything changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats, is_missing
from crowdpilot.hybrid.campaign.items import Pool
from crowdpilot.hybrid.campaign.ledger import Ledger
from crowdpilot.hybrid.campaign.workers import Staff, check_name
from crowdpilot.votes import Votes

PerQuestion = Any  # one value, or with criteria a mapping from their names to values


def split(given: PerQuestion, criteria: Sequence[str]) -> list[Any]:
    """What is given for each criterion, None where nothing is."""
    if given is None or tuple(criteria) == ("",):
        return [given] * len(criteria)
    if not isinstance(given, Mapping):
        raise ValueError(f"with criteria a mapping from their names is expected, not {type(given).__name__}")
    for name in given:
        criterion_code(name, criteria)
    return [given.get(name) for name in criteria]


def check_machine(said: Any, n: int, K: int) -> Floats | None:
    """What a machine says of `n` items, (items, classes), if it says anything."""
    if said is None:
        return None
    probs = np.asarray(said, np.float64)
    if probs.shape != (n, K):
        raise ValueError(f"the machine's probabilities have shape {probs.shape}, expected {(n, K)}")
    if not (np.isfinite(probs) & (probs >= 0)).all() or not (probs.sum(axis=1) > 0).all():
        raise ValueError("the machine's probabilities hold a number below 0, none at all, or not a number")
    return probs


def gold_codes(known: Mapping[Any, Any] | None, names: list[Any], label: Mapping[Any, int]) -> Codes:
    """The code of the known class of each item, -1 where it is not known."""
    known = known or {}
    if unknown := [name for name in known.values() if name not in label]:
        raise ValueError(f"gold label {unknown[0]!r} is not a class ({', '.join(map(str, label))})")
    return np.asarray([label[known[name]] if name in known else -1 for name in names], np.int32)


class Told(NamedTuple):
    """A vote in numbers, but for the worker, who may be new; None is somebody without a name."""

    question: int
    row: int
    worker: Any
    label: int


def check_votes(
    votes: Votes | Iterable[Sequence[Any]],
    label: Mapping[Any, int],
    criteria: Sequence[str],
    pool: Pool,
    staff: Staff,
    ledger: Ledger,
) -> list[Told]:
    """Votes that may be taken, all of them or none."""
    told = [_check_vote(vote, label, criteria, pool) for vote in listed(votes)]
    named = [vote for vote in told if vote.worker is not None]
    met = set()
    for vote in named:
        place, w = vote[:2], staff.place.get(vote.worker, -1)
        answered = w >= 0 and place in staff.seen[w] and (*place, w) not in ledger.lent
        if answered or (place, vote.worker) in met:
            when = "already" if answered else "twice at once"
            raise ValueError(f"worker {vote.worker!r} has voted on item {pool.items[vote.row]!r} {when}")
        met.add((place, vote.worker))
    return told


def listed(votes: Votes | Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """Votes one by one: item, worker, label and, if given, criterion."""
    if not isinstance(votes, Votes):
        return list(votes)
    names = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return list(zip(*(column.tolist() for column in names), strict=True))


def _check_vote(vote: Any, label: Mapping[Any, int], criteria: Sequence[str], pool: Pool) -> Told:
    if not isinstance(vote, Sequence) or isinstance(vote, str) or not 3 <= len(vote) <= 4:
        raise ValueError(
            f"the vote {vote!r} is not (item, worker, label) or (item, worker, label, criterion)"
        )
    item, worker, said, *rest = vote
    row, question = pool.row(item), criterion_code(rest[0] if rest else "", criteria)
    check_name(worker)
    try:
        return Told(question, row, None if is_missing(worker) else worker, label[said])
    except (KeyError, TypeError):
        known = ", ".join(map(str, list(label)[:10]))
        raise ValueError(f"the label {said!r} of item {item!r} is not a class ({known})") from None


def criterion_code(name: Any, criteria: Sequence[str]) -> int:
    """The number of a criterion; the one question without criteria is called ''."""
    if name not in criteria:
        known = "no criteria" if tuple(criteria) == ("",) else ", ".join(criteria)
        raise ValueError(f"there is no criterion {name!r}; there are {known}")
    return list(criteria).index(name)
