"""Votes: who gave which label to which task, the data structure of the whole package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from crowdpilot import arrays
from crowdpilot.arrays import Codes, Floats, Names, frozen, pair, sum_by
from crowdpilot.data_frames import data_frame
from crowdpilot.names import Encoded, encode, label_codes, labels_by_task, lookup, number_labels, to_names
from crowdpilot.notebook_html import votes_html

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
        for column, names in (("task", "tasks"), ("worker", "workers"), ("label", "classes")):
            self._set(column, frozen(getattr(self, column), np.int32, len(self.task), column))
            self._set(names, to_names(getattr(self, names)))
            arrays.check_codes(getattr(self, column), 0, len(getattr(self, names)), column)
        for column in ("weight", "seconds", "time"):
            if (values := getattr(self, column)) is not None:
                self._set(column, frozen(values, np.float64, len(self.task), column))
        if self.gold is not None:
            self._set("gold", frozen(self.gold, np.int32, len(self.tasks), "gold"))
            arrays.check_codes(self.gold, -1, len(self.classes), "gold")
        arrays.check_weights(self.weight)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the dataclass is frozen

    def __len__(self) -> int:
        return len(self.task)

    @property
    def shape(self) -> tuple[int]:
        """The number of tasks, which are the rows of votes for scikit-learn; `len` is the number of votes."""
        return (len(self.tasks),)

    def __getitem__(self, rows: Any) -> Votes:
        """The votes on the tasks at a position, a slice, positions or a mask, in this order; see `select`."""
        return self.select(tasks=arrays.positions(rows, len(self.tasks)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        return labels_by_task(self.shape[0], self.task, self.workers[self.worker], self.classes[self.label])

    __iter__ = None  # `len` counts votes and positions are of tasks: a loop would mix them up

    def __repr__(self) -> str:
        sizes = f"{len(self.tasks)} tasks, {len(self.workers)} workers, {len(self.classes)} classes"
        return f"Votes({len(self)} votes, {sizes})"

    def _repr_html_(self) -> str:
        return votes_html(self)

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
        columns = {"weight": weight, "seconds": seconds, "time": time}
        votes = cls.from_codes(
            encode(task), encode(worker), encode(label),
            classes=classes, tasks=tasks, abstain=abstain, repeats=repeats,
            **{name: np.asarray(c, np.float64) for name, c in columns.items() if c is not None},
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
        said, classes_ = number_labels(label, classes, set(map(str, abstain)))
        if len({len(task.codes), len(worker.codes), len(said)}) > 1:
            raise ValueError("task, worker and label have different lengths")
        kept = (task.codes >= 0) & (worker.codes >= 0) & (said >= 0)
        listed = list(dict.fromkeys([*task.names.tolist(), *tasks])) if tasks else task.names
        extra: dict[str, Any] = {name: column[kept] for name, column in columns.items()}
        codes, names = (task.codes[kept], worker.codes[kept], said[kept]), (to_names(listed), worker.names)
        votes = cls(*codes, *names, classes_, **extra, dropped=int((~kept).sum()))
        rows = arrays.rows_that_count(votes.task, votes.worker, (votes.tasks, votes.workers), repeats)
        return votes if rows is None else votes.take(rows)

    def columns(self) -> dict[str, Names]:
        """Columns with a value for each vote: task, worker, label, and the numbers that the votes have."""
        numbers = {n: c for n in ("weight", "seconds", "time") if (c := getattr(self, n)) is not None}
        names = self.tasks[self.task], self.workers[self.worker], self.classes[self.label]
        return dict(zip(("task", "worker", "label"), names, strict=True)) | numbers

    def to_pandas(self) -> Any:
        """The columns as a pandas data frame; `crowdpilot.read` takes it back."""
        return data_frame(self.columns(), "pandas", "to_pandas()")

    def to_polars(self) -> Any:
        """The columns as a polars data frame."""
        return data_frame(self.columns(), "polars", "to_polars()")

    def take(self, rows: Any) -> Votes:
        """The votes in `rows` (indices or a mask) of the same tasks, workers and classes."""
        names = ("task", "worker", "label", "weight", "seconds", "time")
        columns: dict[str, Any] = {n: c[rows] for n in names if (c := getattr(self, n)) is not None}
        return replace(self, **columns)

    def select(self, *, tasks: Any = None, workers: Any = None) -> Votes:
        """The votes on some tasks and of some workers (codes or masks, None for all), in their order.

        Names of other tasks and workers are dropped; all classes stay.
        """
        task, task_code = arrays.selection(tasks, len(self.tasks))
        worker, worker_code = arrays.selection(workers, len(self.workers))
        votes = self.take((task_code[self.task] >= 0) & (worker_code[self.worker] >= 0))
        return replace(
            votes, task=task_code[votes.task], worker=worker_code[votes.worker],
            tasks=self.tasks[task], workers=self.workers[worker],
            gold=None if self.gold is None else self.gold[task],
        )  # fmt: skip

    def index(self, axis: Literal["tasks", "workers", "classes"], names: Any) -> Codes:
        """The codes of names of tasks, workers or classes, compared as text; -1 for an unknown name."""
        return lookup(names, getattr(self, axis))

    def with_gold(self, gold: Mapping[Any, Any]) -> Votes:
        """The same votes with the true label of some tasks; tasks that are not listed are ignored."""
        return replace(self, gold=label_codes(gold, self.tasks, self.classes))

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
        if arrays.rises(self.task, cells) and (self.weight is None or bool((self.weight > 0).all())):
            return self if self.seconds is self.time is None else replace(self, seconds=None, time=None)
        shape = len(self.tasks), len(self.workers) * len(self.classes)
        task, cell, weight = arrays.merge(self.task, cells, self.weight, shape)
        worker, label = np.divmod(cell, cell.dtype.type(len(self.classes)))
        return replace(self, task=task, worker=worker, label=label, weight=weight, seconds=None, time=None)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the votes of each task begin, and where the last ends, if they are sorted by task."""
        return np.append(0, np.cumsum(np.bincount(self.task, minlength=len(self.tasks))))

    @cached_property
    def onehot(self) -> csr_array:
        """Sparse (tasks, workers x classes): the weight a worker gave to a label of a task."""
        votes = self if arrays.rises(self.task) else self.merged
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
        return arrays.sum_by_pair(self.task, self.label, self._times(value), shape)

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
        return arrays.divide(self.worker_sum(value), self.worker_sum())

    def shares(self) -> Floats:
        """The share of each class in the votes of each task, (tasks, classes); gold where it is known."""
        return self.clamp(arrays.to_probs(self.tally(), copy=False))

    @property
    def are_shares(self) -> bool:
        """Whether one "worker" gave several labels to a task: shares of a whole crowd (`from_shares`)."""
        return len(self.workers) == 1 and bool((np.diff(self.merged.starts) > 1).any())

    def clamp(self, probs: Floats) -> Floats:
        """The same probabilities, but certain for the tasks whose class is known."""
        return probs if self.gold is None else arrays.certain(probs, self.gold)
