"""Models that take the probabilities of a classifier beside the votes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import Backend
from crowdpilot.arrays import Floats, Names
from crowdpilot.data_frames import library_of
from crowdpilot.io import as_votes
from crowdpilot.io.probabilities import ClassProbs, parse_probs, read_probs
from crowdpilot.names import lookup, natural_order, to_names
from crowdpilot.votes import Votes

ClassifierProbs = Any  # an array, a data frame, a mapping or a file; see `crowdpilot.io.probabilities`

NEEDS_PROBS = "needs the probabilities of a classifier: fit(votes, probs), or --machine FILE"
MIN_ORDER_VOTES = 30  # to judge the order of rows by
MIN_ORDER_Z = 3.5  # standard errors by which another order of rows must agree better with the votes


@dataclass(frozen=True)
class ClassifierAggregator(Aggregator):
    """A model of votes and a classifier.

    Parameters
    ----------
    probs
        The classifier's probabilities, as for `fit`. They are data: two models with the same settings are
        equal.
    """

    probs: ClassifierProbs = field(default=None, repr=False, compare=False)

    uses_classifier: ClassVar[bool] = True

    def fit(  # type: ignore[override]  # the probabilities come second here, and gold labels by name
        self,
        votes: Any,
        probs: ClassifierProbs = None,
        *,
        gold: Any = None,
        start: Aggregate | None = None,
        history: Aggregate | None = None,
        backend: Backend | None = None,
    ) -> Aggregate:
        """Estimate the class of every task from votes and a classifier.

        Parameters
        ----------
        votes
            As many as there are, one for each task or more, in any form that `crowdpilot.read` takes.
        probs
            The classifier's probabilities: an array (tasks, classes) in the order of the votes; a data frame
            with a column or an index for the task and one column for each class (`p_CLASS` or `CLASS`); a
            mapping from each task to its row or to `{class: probability}`; or a file. Tasks and classes that
            they name and nobody voted for are added: such tasks have the classifier alone. They must come
            from a classifier that has not seen the votes on that task (cross-validation).
        gold
            True labels of some tasks, in place of those that the votes have.
        start, history, backend
            As for other models.
        """
        source = self.probs if probs is None else probs
        if source is None:
            raise ValueError(f"{self.name} {NEEDS_PROBS}")
        joined, found = join_probs(as_votes(votes), source)
        result = Aggregator.fit(
            replace(self, probs=found), joined, gold, start=start, history=history, backend=backend
        )
        return replace(result, frames=library_of(votes))

    def fit_predict(  # type: ignore[override]  # as for `fit`
        self, votes: Any, probs: ClassifierProbs = None, *, gold: Any = None
    ) -> Any:
        return Aggregator.fit_predict(self if probs is None else replace(self, probs=probs), votes, gold)

    def fit_predict_proba(  # type: ignore[override]  # as for `fit`
        self, votes: Any, probs: ClassifierProbs = None, *, gold: Any = None
    ) -> Any:
        return Aggregator.fit_predict_proba(
            self if probs is None else replace(self, probs=probs), votes, gold
        )

    def probs_of(self, votes: Votes) -> Floats:
        """The classifier's probabilities of the tasks, (tasks, classes); each row sums to one."""
        if self.probs is None:
            raise ValueError(f"{self.name} {NEEDS_PROBS}")
        return read_probs(self.probs, votes.tasks, votes.classes)


def join_probs(votes: Votes, source: ClassifierProbs) -> tuple[Votes, Floats]:
    """The votes with all tasks and classes that the probabilities name, and these, (tasks, classes)."""
    probs = parse_probs(source, votes.classes)
    if probs.classes is not None:
        votes = with_classes(votes, probs.classes)
    if probs.tasks is not None and not probs.in_order_of(votes.tasks):
        votes = _with_tasks(votes, probs.tasks)
    found = probs.align(votes.tasks, votes.classes)
    check_order(votes, found, probs)
    return votes, found


def with_classes(votes: Votes, classes: Names) -> Votes:
    """The votes with these classes too, in natural order if theirs is."""
    new = [
        name for name, code in zip(classes.tolist(), lookup(classes, votes.classes), strict=True) if code < 0
    ]
    if not new:
        return votes
    old = votes.classes.tolist()
    if votes.classes.dtype.kind in "iu" and all(str(name).isdecimal() for name in new):
        new = [int(name) for name in new]
    names = to_names([*old, *new])
    if natural_order(votes.classes).tolist() == list(range(len(old))):
        names = names[natural_order(names)]
    return set_classes(votes, names)


def set_classes(votes: Votes, classes: Names) -> Votes:
    """The same votes with these classes, which must have all that occur."""
    code = np.append(lookup(votes.classes, classes), np.int32(-1))
    if (lost := np.setdiff1d(votes.label, np.flatnonzero(code >= 0))).size:
        known = ", ".join(map(str, classes[:10].tolist()))
        raise ValueError(f"the label {str(votes.classes[lost[0]])!r} is none of the classes {known}")
    gold = None if votes.gold is None else code[votes.gold]
    return replace(votes, label=code[votes.label], classes=classes, gold=gold)


def _with_tasks(votes: Votes, tasks: Names) -> Votes:
    """The votes with these tasks too, which come last."""
    is_new = lookup(tasks, votes.tasks) < 0
    new = list(dict.fromkeys(tasks[is_new].tolist()))
    if not new:
        return votes
    gold = None if votes.gold is None else np.append(votes.gold, np.full(len(new), -1, np.int32))
    return replace(votes, tasks=to_names([*votes.tasks.tolist(), *new]), gold=gold)


def check_order(votes: Votes, found: Floats, probs: ClassProbs) -> None:
    """Raise if rows have no names, tasks are numbers, and votes agree better with the row of that number."""
    numbers = np.arange(len(votes.tasks))
    are_numbers = votes.tasks.dtype.kind in "iu" and (np.sort(votes.tasks) == numbers).all()
    if not are_numbers or (votes.tasks == numbers).all() or not probs.in_order_of(votes.tasks):
        return
    gain = found[votes.tasks[votes.task], votes.label] - found[votes.task, votes.label]
    is_clear = len(votes) >= MIN_ORDER_VOTES
    if is_clear and gain.mean() > MIN_ORDER_Z * gain.std() / np.sqrt(len(gain)):
        raise ValueError(
            f"{probs.name} seem to be in the order of the numbers of tasks, but row 0 is read as task "
            f"{votes.tasks[0]}, the first of the votes; give them by task: dict(enumerate(probs))"
        )
