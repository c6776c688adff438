"""Online update: incremental EM, which moves the confusion matrices of workers with every vote.

The expected counts behind the confusion matrices are sums over votes of the posteriors of their items. When
an item has a new vote its posterior changes, and its old contribution to the counts is replaced by the new
one (incremental EM of Neal and Hinton, as in `crowdpilot.aggregation.online`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.growing_arrays import append_rows
from crowdpilot.json_values import pack, unpack
from crowdpilot.votes import Votes

Rows = NDArray[Any]  # whole numbers


class ExpectedCounts:
    """Expected counts (workers, true, said), pseudo-counts included, and the posteriors behind them.

    Parameters
    ----------
    classes
        How many there are.
    """

    def __init__(self, classes: int) -> None:
        self.counts = np.zeros((0, classes, classes))
        self.posterior = np.zeros((0, classes))  # of each item as it was counted last

    def add_worker(self, pseudo_counts: Floats) -> None:
        """A new worker, with pseudo-counts (1, true, said)."""
        self.counts = append_rows(self.counts, pseudo_counts)

    def add_items(self, n: int) -> None:
        """New items, without votes."""
        self.posterior = append_rows(self.posterior, np.zeros((n, self.posterior.shape[1])))

    def recount(
        self,
        votes: Votes,
        posterior: Floats,
        dropped: Floats,
        pseudo_counts: Floats,
        new_pseudo_counts: Floats,
    ) -> None:
        """Count all votes again by the present posterior.

        Parameters
        ----------
        votes, posterior
            All votes, and the posterior of all items, (items, classes).
        dropped
            Counts of votes on dropped items, (workers, true, said).
        pseudo_counts, new_pseudo_counts
            Of workers with votes and of those without any, (workers, true, said).
        """
        counts = count_labels(votes, posterior) + dropped
        new = counts.sum(axis=(1, 2), keepdims=True) == 0
        self.counts = counts + np.where(new, new_pseudo_counts, pseudo_counts)
        self.posterior = posterior.copy()

    def replace(
        self, items: Rows, position: Rows, worker: Rows, label: Rows, posterior: Floats, new: Rows | None
    ) -> Rows:
        """Count the votes on some items by their new posteriors; returns the workers whose counts changed.

        Parameters
        ----------
        items
            Rows of the items, each once.
        position, worker, label
            Of each vote on them: the position of its item in `items`, who gave it, and the label.
        posterior
            Of each of `items`, (items, classes).
        new
            Which votes were not counted before; None if all were.
        """
        before = self.posterior[items][position]
        if new is not None:
            before[new] = 0
        _add(self.counts, worker, label, posterior[position] - before)
        self.posterior[items] = posterior
        return np.unique(worker)

    def subtract(self, item: int, worker: int, label: int) -> None:
        """Take back what one vote has contributed."""
        _add(self.counts, np.array([worker]), np.array([label]), -self.posterior[[item]])

    def keep(self, rows: Rows, dropped: Votes, posterior: Floats) -> None:
        """Drop all other items; their votes, `dropped`, count by the last posterior from now on."""
        self.counts = self.counts + count_labels(dropped, posterior - self.posterior)
        self.posterior = self.posterior[rows]

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        return {"counts": pack(self.counts), "posterior": pack(self.posterior)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned."""
        self.counts, self.posterior = unpack(state["counts"]), unpack(state["posterior"])


def _add(counts: Floats, worker: Rows, label: Rows, change: Floats) -> None:
    """Add to the counts (workers, true, said) one row (classes,) for each vote."""
    true = np.arange(counts.shape[1])
    np.add.at(counts, (worker[:, None], true, label[:, None]), change)
