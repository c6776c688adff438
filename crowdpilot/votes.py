"""Votes: the one data structure every room speaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from crowdpilot.arrays import (
    Codes,
    Encoded,
    Floats,
    Names,
    divide,
    encode,
    has_repeats,
    merge,
    number_labels,
    pair,
    rises,
    sum_by,
    sum_by_pair,
    to_names,
    to_probs,
)

Repeats = Literal["last", "first", "all", "error"]


@dataclass(frozen=True, eq=False)
class Votes:
    """Vote *n*: `workers[worker[n]]` gave `classes[label[n]]` to `tasks[task[n]]`.

    Make one with `Votes.of` from any three columns, or with `crowdpilot.read` from a file.

    Parameters
    ----------
    task, worker, label
        One code for each vote, into the names.
    tasks, workers, classes
        Names of any type, each once.
    weight
        How much each vote counts; 2 is the same as a vote given twice. One if not given.
    seconds, time
        How long each vote took, and when it was given (seconds of any clock).
    gold
        For each task the code of its known class, -1 where it is not known.
    dropped
        How many rows of the source held no vote (missing or "can't tell") and were left out.

    Examples
    --------
    >>> (votes := Votes.of(["a", "a", "b"], ["x", "y", "x"], ["cat", "dog", "cat"]))
    Votes(3 votes, 2 tasks, 2 workers, 2 classes)
    >>> votes.tally().tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """

    task: Codes
    worker: Codes
    label: Codes
    tasks: Names
    workers: Names
    classes: Names
    weight: Floats | None = None
    seconds: Floats | None = None
    time: Floats | None = None
    gold: Codes | None = None
    dropped: int = 0

    def __post_init__(self) -> None:
        for codes, names in (("task", "tasks"), ("worker", "workers"), ("label", "classes")):
            self._freeze(codes, np.int32, len(self.task))
            object.__setattr__(self, names, to_names(getattr(self, names)))
            self._check_range(codes, 0, len(getattr(self, names)))
        for column in ("weight", "seconds", "time"):
            self._freeze(column, np.float64, len(self.task))
        self._freeze("gold", np.int32, len(self.tasks))
        self._check_range("gold", -1, len(self.classes))
        if self.weight is not None and not (np.isfinite(self.weight) & (self.weight >= 0)).all():
            raise ValueError("a vote has a negative or infinite weight; weights are 0 or more")

    def _freeze(self, column: str, dtype: type, length: int) -> None:
        if (values := getattr(self, column)) is None:
            return
        array: NDArray[Any] = np.ascontiguousarray(values, dtype).view()
        if array.shape != (length,):
            raise ValueError(f"{column} has shape {array.shape}, expected ({length},)")
        array.flags.writeable = False
        object.__setattr__(self, column, array)

    def _check_range(self, column: str, low: int, high: int) -> None:
        codes = getattr(self, column)
        if codes is not None and len(codes) and not (low <= codes.min() <= codes.max() < high):
            raise ValueError(f"a code in {column} is not between {low} and {high - 1}")

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        sizes = f"{len(self.tasks)} tasks, {len(self.workers)} workers, {len(self.classes)} classes"
        return f"Votes({len(self)} votes, {sizes})"

    @classmethod
    def of(
        cls,
        task: ArrayLike,
        worker: ArrayLike,
        label: ArrayLike,
        *,
        classes: Sequence[Any] | None = None,
        tasks: Iterable[Any] = (),
        abstain: Iterable[Any] = (),
        repeats: Repeats = "last",
        weight: ArrayLike | None = None,
        seconds: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gold: Mapping[Any, Any] | None = None,
    ) -> Votes:
        """Votes from three columns of names.

        Parameters
        ----------
        task, worker, label
            One name for each vote, of any type.
        weight, seconds, time
            One number for each vote; see the class.
        classes
            All classes in the order wanted; otherwise those that occur, in natural order.
        tasks
            Tasks to list even if nobody voted on them.
        abstain
            Labels that mean "can't tell": such a row is no vote, and neither is a missing label.
        repeats
            What counts when a worker labels a task again: the last vote, the first, all of them,
            or an error.
        gold
            The true label of some tasks.
        """
        given = {"weight": weight, "seconds": seconds, "time": time}
        votes = cls.from_codes(
            encode(task), encode(worker), encode(label),
            classes=classes, tasks=tasks, abstain=abstain, repeats=repeats,
            **{name: np.asarray(c, np.float64) for name, c in given.items() if c is not None},
        )  # fmt: skip
        return votes if gold is None else votes.with_gold(gold)

    @classmethod
    def from_codes(
        cls,
        task: Encoded,
        worker: Encoded,
        label: Encoded,
        *,
        classes: Sequence[Any] | None = None,
        tasks: Iterable[Any] = (),
        abstain: Iterable[Any] = (),
        repeats: Repeats = "last",
        **columns: Floats,
    ) -> Votes:
        """Votes from columns that are numbered already; the last step of every reader."""
        if repeats not in get_args(Repeats):
            raise ValueError(f"repeats is {repeats!r}, expected one of {', '.join(get_args(Repeats))}")
        said, classes_ = number_labels(label, classes, set(map(str, abstain)))
        if len({len(task.codes), len(worker.codes), len(said)}) > 1:
            raise ValueError("task, worker and label have different lengths")
        kept = (task.codes >= 0) & (worker.codes >= 0) & (said >= 0)
        listed = list(dict.fromkeys([*task.names.tolist(), *tasks])) if tasks else task.names
        extra: dict[str, Any] = {name: column[kept] for name, column in columns.items()}
        votes = cls(
            task.codes[kept], worker.codes[kept], said[kept],
            to_names(listed), worker.names, classes_, **extra, dropped=int((~kept).sum()),
        )  # fmt: skip
        return votes if repeats == "all" else votes._resolve_repeats(repeats)

    def _resolve_repeats(self, repeats: Repeats) -> Votes:
        given = pair(self.task, self.worker, (len(self.tasks), len(self.workers)))
        if not has_repeats(given):
            return self
        if repeats == "error":
            _, first = np.unique(given, return_index=True)
            n = np.setdiff1d(np.arange(len(self)), first)[0]
            raise ValueError(
                f"worker '{self.workers[self.worker[n]]}' labels task '{self.tasks[self.task[n]]}' "
                "more than once; say which vote counts with repeats='last', 'first' or 'all'"
            )
        if repeats == "first":
            return self.take(np.sort(np.unique(given, return_index=True)[1]))
        return self.take(np.sort(len(given) - 1 - np.unique(given[::-1], return_index=True)[1]))

    def take(self, rows: Any) -> Votes:
        """The votes in `rows` (indices or a mask) of the same tasks, workers and classes."""
        columns: dict[str, Any] = {
            name: column[rows]
            for name in ("task", "worker", "label", "weight", "seconds", "time")
            if (column := getattr(self, name)) is not None
        }
        return replace(self, **columns)

    def with_gold(self, gold: Mapping[Any, Any]) -> Votes:
        """The same votes with the true label of some tasks; tasks that are not listed are ignored."""
        by_name = {str(t): n for n, t in enumerate(self.tasks.tolist())}
        codes = np.full(len(self.tasks), -1, np.int32)
        classes = {str(c): k for k, c in enumerate(self.classes.tolist())}
        for task, label in gold.items():
            if (n := by_name.get(str(task))) is None:
                continue
            if (k := classes.get(str(label))) is None:
                known = ", ".join(map(str, self.classes[:10]))
                raise ValueError(f"gold label {label!r} of task {task!r} is not a class ({known})")
            codes[n] = k
        return replace(self, gold=codes)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each vote, one if not given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def cell(self) -> NDArray[np.integer]:
        """The column of `onehot` of each vote."""
        return pair(self.worker, self.label, (len(self.workers), len(self.classes)))

    @cached_property
    def merged(self) -> Votes:
        """The same votes in one canonical order, repeats added up in their weight.

        Sorted by task, worker and label, so that nothing computed from it depends on the order in
        which votes came, and a vote given twice is a vote of weight two.
        """
        cells = pair(self.worker, self.label, (len(self.workers), len(self.classes)))  # not kept
        if rises(self.task, cells) and (self.weight is None or bool((self.weight > 0).all())):
            return self if self.seconds is self.time is None else replace(self, seconds=None, time=None)
        shape = len(self.tasks), len(self.workers) * len(self.classes)
        task, cell, weight = merge(self.task, cells, self.weight, shape)
        worker, label = np.divmod(cell, cell.dtype.type(len(self.classes)))
        return replace(self, task=task, worker=worker, label=label, weight=weight, seconds=None, time=None)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the votes of each task begin, and where the last ends, if they are sorted by task."""
        counts = np.bincount(self.task, minlength=len(self.tasks))
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

    @cached_property
    def onehot(self) -> csr_array:
        """Sparse (tasks, workers x classes): the weight a worker gave to a label of a task."""
        votes = self if rises(self.task) else self.merged
        shape = len(self.tasks), len(self.workers) * len(self.classes)
        return csr_array((votes.weights, votes.cell, votes.starts.astype(votes.cell.dtype)), shape)

    @cached_property
    def ballots(self) -> csr_array:
        """Sparse (tasks x classes, workers): the weight of the workers who gave a label to a task."""
        K = len(self.classes)
        cells = pair(self.task, self.label, (len(self.tasks), K)), self.worker
        return coo_array((self.weights, cells), (len(self.tasks) * K, len(self.workers))).tocsr()

    def _times(self, value: Floats | None) -> Floats | None:
        """The weight of each vote, times a value if given; None if all are one."""
        if value is None or self.weight is None:
            return self.weight if value is None else value
        return self.weight * value

    def tally(self, value: Floats | None = None) -> Floats:
        """Sum over votes, (tasks, classes): of their weights, times a value for each vote if given."""
        shape = len(self.tasks), len(self.classes)
        return sum_by_pair(self.task, self.label, self._times(value), shape)

    def cell_sum(self, value: Floats | None = None) -> Floats:
        """Sum over votes, (workers, classes): of their weights, times a value for each vote if given."""
        K = len(self.classes)
        return sum_by(self.cell, self._times(value), len(self.workers) * K).reshape(-1, K)

    def worker_sum(self, value: Floats | None = None) -> Floats:
        """Sum over votes, (workers,): of their weights, times a value for each vote if given."""
        return sum_by(self.worker, self._times(value), len(self.workers))

    def task_sum(self, value: Floats | None = None) -> Floats:
        """Sum over votes, (tasks,): of their weights, times a value for each vote if given."""
        return sum_by(self.task, self._times(value), len(self.tasks))

    def worker_mean(self, value: Floats) -> Floats:
        """Mean over the votes of each worker; NaN for a worker without votes."""
        return divide(self.worker_sum(value), self.worker_sum())

    def shares(self) -> Floats:
        """The share of each class among the votes of each task, (tasks, classes); gold where it is known."""
        return self.clamp(to_probs(self.tally(), copy=False))

    @property
    def are_shares(self) -> bool:
        """Whether a single "worker" gave several labels to a task: shares of a whole crowd (`from_shares`)."""
        return len(self.workers) == 1 and bool((np.diff(self.merged.starts) > 1).any())

    def clamp(self, probs: Floats) -> Floats:
        """The same probabilities, but certain for the tasks whose class is known."""
        if self.gold is None:
            return probs
        known = np.flatnonzero(self.gold >= 0)
        probs = np.array(probs)
        probs[known] = 0
        probs[known, self.gold[known]] = 1
        return probs
