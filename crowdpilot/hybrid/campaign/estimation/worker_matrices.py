"""Worker matrices: the log confusion matrix of every worker; those without votes share that of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.growing_arrays import append_rows
from crowdpilot.json_values import pack, unpack
from crowdpilot.votes import Votes

ACCURACY_TOLERANCE = 1e-12

Rows = NDArray[Any]  # whole numbers


class WorkerMatrices:
    """Log confusion matrices by number of worker.

    A worker takes memory, one matrix (true, said), from the first vote on; so people who come and do not
    vote cost nothing, however many classes there are.

    Parameters
    ----------
    kind_pseudo_counts
        Prior of the confusion matrix of each kind of worker, (kinds, true, said).
    """

    def __init__(self, kind_pseudo_counts: Floats) -> None:
        K = kind_pseudo_counts.shape[1]
        self.kind_confusion = to_probs(kind_pseudo_counts)  # of a new worker, (kinds, true, said)
        self.worker_kind: Codes = np.zeros(0, np.int32)
        self._own = np.zeros((0, K, K))  # of workers with votes, in the order of their first ones
        self._row: Rows = np.zeros(0, np.intp)  # of each worker in `_own`, -1 for that of the kind
        self._dropped: Floats | None = None  # expected counts of votes on dropped items, if there are any

    def __len__(self) -> int:
        return len(self.worker_kind)

    def add_worker(self, kind: int) -> None:
        """A new worker, with the confusion matrix of their kind."""
        self.worker_kind = append_rows(self.worker_kind, [kind])
        self._row = append_rows(self._row, [-1])

    def replace(self, workers: Rows, own: Floats) -> None:
        """New log matrices of these workers, in rising order; all others have that of their kind."""
        self._own = own
        self._row[:] = -1
        self._row[workers] = np.arange(len(workers))

    def change(self, workers: Rows, log_confusion: Floats) -> None:
        """New log matrices of some workers, each given once."""
        rows = self._rows(workers)
        self._own[rows] = log_confusion

    @property
    def with_votes(self) -> Rows:
        """Workers with a matrix of their own, in rising order."""
        return np.flatnonzero(self._row >= 0)

    def own(self) -> Floats:
        """The log matrices of `with_votes`, (workers with votes, true, said)."""
        rows = self._row[self._row >= 0]
        return self._own if np.array_equal(rows, np.arange(len(self._own))) else self._own[rows]

    def all(self) -> Floats:
        """The log matrices of all workers, (workers, true, said); made anew, and large."""
        every = np.log(self.kind_confusion)[self.worker_kind]
        every[self.with_votes] = self.own()
        return every

    def of_labels(self, worker: Rows, label: Rows) -> Floats:
        """Log P(label | class) of votes, (votes, classes); these workers have matrices of their own now."""
        rows = self._rows(worker)
        log_likelihood: Floats = self._own[rows, :, label]
        return log_likelihood

    def of_worker(self, worker: int) -> Floats:
        """The log matrix of one worker, (true, said)."""
        row = int(self._row[worker])
        matrix: Floats = self._own[row] if row >= 0 else np.log(self.kind_confusion[self.worker_kind[worker]])
        return matrix

    def accuracy(self, class_prior: Floats) -> Floats:
        """The probability that each worker is right about an item, (workers,)."""
        by_kind = np.einsum("wkk,k->w", self.kind_confusion, class_prior)
        accuracy: Floats = by_kind[self.worker_kind]
        right = np.exp(np.einsum("wkk->wk", self.own()))
        accuracy[self.with_votes] = np.einsum("wk,k->w", right, class_prior)
        return accuracy

    def is_above_median(self, worker: int, class_prior: Floats) -> bool:
        """Whether a worker's accuracy is at least the median of their kind."""
        accuracy = self.accuracy(class_prior)
        median = np.median(accuracy[self.worker_kind == self.worker_kind[worker]])
        return bool(accuracy[worker] >= median - ACCURACY_TOLERANCE)

    def select(self, votes: Votes) -> Votes:
        """The same votes with workers numbered as in `own`; each has a matrix of their own now."""
        self._rows(np.unique(votes.worker))
        return votes.select(workers=self.with_votes)

    # Votes on dropped items ------------------------------------------------------------------

    @property
    def dropped_counts(self) -> Floats:
        """Expected counts of votes on dropped items, (workers, true, said)."""
        counts = np.zeros((len(self), *self.kind_confusion.shape[1:]))
        if self._dropped is not None:
            counts[: len(self._dropped)] = self._dropped
        return counts

    def drop(self, votes: Votes, posterior: Floats) -> None:
        """These votes are on dropped items, with this posterior (tasks, classes)."""
        if len(votes):
            self._dropped = self.dropped_counts + count_labels(votes, posterior)

    def to_fit(self, votes: Votes) -> tuple[Rows, Floats | None]:
        """Workers with votes on any item, in rising order; their counts of dropped items, if any are."""
        workers = np.unique(votes.worker).astype(np.intp)
        if self._dropped is None:
            return workers, None
        workers = np.union1d(workers, np.flatnonzero(self._dropped.any(axis=(1, 2))))
        return workers, self.dropped_counts[workers]

    # State -----------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        return {
            "worker_kind": pack(self.worker_kind),
            "kind_confusion": pack(self.kind_confusion),
            "log_confusion": pack(self.all()),
            "dropped_counts": pack(self.dropped_counts),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned."""
        self.worker_kind, self.kind_confusion = unpack(state["worker_kind"]), unpack(state["kind_confusion"])
        self._row = np.full(len(self.worker_kind), -1)
        self.replace(np.arange(len(self.worker_kind)), unpack(state["log_confusion"]))
        dropped = unpack(state["dropped_counts"])
        self._dropped = dropped if dropped.any() else None

    def _rows(self, workers: Rows) -> Rows:
        """Rows of workers in `_own`; those who have none get that of their kind."""
        new = np.unique(workers[self._row[workers] < 0])
        if len(new):
            self._row[new] = len(self._own) + np.arange(len(new))
            self._own = append_rows(self._own, np.log(self.kind_confusion[self.worker_kind[new]]))
        return self._row[workers]
