"""Input checks: classifier probabilities, known classes and votes, all checked before a campaign changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.hybrid.campaign.items import Items, Rows
from crowdpilot.hybrid.campaign.ledger import Ledger
from crowdpilot.hybrid.campaign.workers import Workers, check_name
from crowdpilot.hybrid.costs import Costs
from crowdpilot.io.probabilities import read_probs
from crowdpilot.names import is_missing, to_names
from crowdpilot.votes import Votes

PerCriterion = Any  # one value, or with criteria a mapping from their names to values


def list_names(names: Any, what: str) -> Names:
    """Names of items or classes; ValueError for a data frame, a file or a number in place of them."""
    if hasattr(names, "columns"):
        raise ValueError(f"{what} is a data frame, expected names: give the column that has them")
    if isinstance(names, str | PathLike) or not isinstance(names, Iterable):
        raise ValueError(
            f"{what} is {str(names)!r}, expected a list of names; of a file, give the column that has them"
        )
    return to_names(list(names))


def check_classes(classes: list[Any], criteria: Sequence[str], costs: Costs) -> dict[Any, int]:
    """The code of each class; ValueError if classes, criteria and costs do not fit together."""
    if len(classes) != len(costs.errors):
        raise ValueError(f"there are {len(classes)} classes, but costs of {len(costs.errors)}")
    if tuple(criteria) != ("",) and costs.errors.shape != (2, 2):
        raise ValueError("with criteria there are two classes (no, yes) and two decisions (out, in)")
    class_code = {name: k for k, name in enumerate(classes)}
    if len(class_code) < len(classes) or len(set(criteria)) < len(criteria):
        raise ValueError("a class or a criterion is given twice")
    return class_code


def split_by_criterion(values: PerCriterion, criteria: Sequence[str]) -> list[Any]:
    """The value for each criterion, None where there is none."""
    if values is None or tuple(criteria) == ("",):
        return [values] * len(criteria)
    if not isinstance(values, Mapping):
        raise ValueError(f"with criteria a mapping from their names is expected, not {type(values).__name__}")
    for name in values:
        criterion_code(name, criteria)
    return [values.get(name) for name in criteria]


def gold_codes(gold: Mapping[Any, Any] | None, names: list[Any], class_code: Mapping[Any, int]) -> Codes:
    """The code of the known class of each item, -1 where it is not known."""
    gold = gold or {}
    if unknown := [name for name in gold.values() if name not in class_code]:
        raise ValueError(f"gold label {unknown[0]!r} is not a class ({', '.join(map(str, class_code))})")
    return np.asarray([class_code[gold[name]] if name in gold else -1 for name in names], np.int32)


def probs_by_question(
    probs: PerCriterion, criteria: Sequence[str], items: Names, classes: Names
) -> list[Floats | None]:
    """Checked class probabilities of the items for each question, (items, classes), if there are any."""
    return [
        None if each is None else read_probs(each, items, classes)
        for each in split_by_criterion(probs, criteria)
    ]


def gold_by_question(
    gold: PerCriterion, criteria: Sequence[str], names: list[Any], class_code: Mapping[Any, int]
) -> list[Codes]:
    """For each question the code of the known class of each item, -1 where it is not known."""
    return [gold_codes(each, names, class_code) for each in split_by_criterion(gold, criteria)]


def labels_by_question(
    labels: PerCriterion, criteria: Sequence[str], items: Items, class_code: Mapping[Any, int]
) -> tuple[list[Rows], list[Codes]]:
    """For each question the rows of the named items and the codes of their classes, -1 for None."""
    named = [{} if each is None else dict(each) for each in split_by_criterion(labels, criteria)]
    known = [{name: label for name, label in each.items() if label is not None} for each in named]
    rows = [items.rows(names) for names in named]
    return rows, [gold_codes(some, list(all_), class_code) for some, all_ in zip(known, named, strict=True)]


class CheckedVote(NamedTuple):
    """A vote in codes, except for the worker, who may be new; None is a worker without a name."""

    question: int
    row: int
    worker: Any
    label: int


def check_votes(
    votes: Votes | Iterable[Sequence[Any]],
    class_code: Mapping[Any, int],
    criteria: Sequence[str],
    items: Items,
    workers: Workers,
    ledger: Ledger,
) -> list[CheckedVote]:
    """All votes in codes; ValueError if any is not valid or repeats an earlier one."""
    checked = [_check_vote(vote, class_code, criteria, items) for vote in as_rows(votes)]
    seen = set()
    for vote in checked:
        if vote.worker is None:
            continue
        cell, w = (vote.question, vote.row), workers.number_of.get(vote.worker, -1)
        answered = w >= 0 and cell in workers.asked[w] and (*cell, w) not in ledger.leases
        if answered or (cell, vote.worker) in seen:
            when = "already" if answered else "twice at once"
            raise ValueError(f"worker {vote.worker!r} has voted on item {items.names[vote.row]!r} {when}")
        seen.add((cell, vote.worker))
    return checked


def as_rows(votes: Votes | Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """Votes one by one: item, worker, label and, if given, criterion."""
    if not isinstance(votes, Votes):
        return list(votes)
    names = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return list(zip(*(column.tolist() for column in names), strict=True))


def _check_vote(
    vote: Any, class_code: Mapping[Any, int], criteria: Sequence[str], items: Items
) -> CheckedVote:
    if not isinstance(vote, Sequence) or isinstance(vote, str) or not 3 <= len(vote) <= 4:
        raise ValueError(
            f"the vote {vote!r} is not (item, worker, label) or (item, worker, label, criterion)"
        )
    item, worker, label, *rest = vote
    row, question = items.row(item), criterion_code(rest[0] if rest else "", criteria)
    check_name(worker)
    try:
        return CheckedVote(question, row, None if is_missing(worker) else worker, class_code[label])
    except (KeyError, TypeError):
        known = ", ".join(map(str, list(class_code)[:10]))
        raise ValueError(f"the label {label!r} of item {item!r} is not a class ({known})") from None


def criterion_code(name: Any, criteria: Sequence[str]) -> int:
    """The number of a criterion; the one question without criteria is called ''."""
    if name not in criteria:
        known = "no criteria" if tuple(criteria) == ("",) else ", ".join(criteria)
        raise ValueError(f"there is no criterion {name!r}; there are {known}")
    return list(criteria).index(name)
