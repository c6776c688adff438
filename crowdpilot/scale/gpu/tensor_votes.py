"""Votes as tensors, with those methods of `Votes` that models use in an iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from crowdpilot.votes import Votes


@dataclass(frozen=True)
class SparseMatrix:
    """A sparse matrix with an entry (`row`, `column`) for each vote; entries at the same place add up."""

    row: Tensor  # (votes,)
    column: Tensor  # (votes,)
    weight: Tensor | None  # (votes,); ones if not given
    shape: tuple[int, int]

    @property
    def T(self) -> SparseMatrix:
        """The transposed matrix."""
        return SparseMatrix(self.column, self.row, self.weight, self.shape[::-1])

    def __matmul__(self, dense: Tensor) -> Tensor:
        terms = dense[self.column]
        if self.weight is not None:
            terms *= self.weight[:, None]
        return _sum_by_index(self.row, terms, self.shape[0])


@dataclass(frozen=True, eq=False)
class TensorVotes:
    """Votes sorted by task; vote *n* belongs to row `cell[n]` of a table (workers x classes)."""

    cell: Tensor  # (votes,)
    starts: Tensor  # (tasks + 1,): where the votes of each task begin, and where the last ends
    workers: range
    classes: range
    weight: Tensor | None = None  # (votes,)
    gold: Tensor | None = None  # (tasks,): code of the known class, -1 where unknown

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def columns(self) -> dict[str, Tensor]:
        """All tensors, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}

    def to(self, device: torch.device) -> TensorVotes:
        """The same votes on a device; the copy is asynchronous."""
        moved: Any = {name: column.to(device, non_blocking=True) for name, column in self.columns.items()}
        return replace(self, **moved)

    def pin(self) -> TensorVotes:
        """The same votes in page-locked memory, from which a GPU copies while it computes."""
        pinned: Any = {name: column.pin_memory() for name, column in self.columns.items()}
        return replace(self, **pinned)

    @property
    def tasks(self) -> range:
        return range(len(self.starts) - 1)

    @cached_property
    def task(self) -> Tensor:
        counts = self.starts.diff()
        return torch.arange(len(counts), device=counts.device).repeat_interleave(
            counts, output_size=len(self)
        )

    @cached_property
    def worker(self) -> Tensor:
        return self.cell // len(self.classes)

    @cached_property
    def label(self) -> Tensor:
        return self.cell % len(self.classes)

    @cached_property
    def max_votes_per_cell(self) -> int:
        """The largest number of votes of one worker for one class."""
        return int(torch.bincount(self.cell).max()) if len(self) else 0

    @property
    def onehot(self) -> SparseMatrix:
        shape = len(self.tasks), len(self.workers) * len(self.classes)
        return SparseMatrix(self.task, self.cell, self.weight, shape)

    @property
    def ballots(self) -> SparseMatrix:
        K = len(self.classes)
        shape = len(self.tasks) * K, len(self.workers)
        return SparseMatrix(self.task * K + self.label, self.worker, self.weight, shape)

    def _weighted(self, value: Tensor | None) -> Tensor:
        """The value of each vote times its weight, (votes,); the value is one if not given."""
        if value is None:
            ones = torch.ones((), dtype=torch.float64, device=self.cell.device).expand(len(self))
            return ones if self.weight is None else self.weight
        return value if self.weight is None else self.weight * value

    def tally(self, value: Tensor | None = None) -> Tensor:
        """Sum of the votes of each task for each class, (tasks, classes)."""
        K = len(self.classes)
        cells = self.task * K + self.label
        return _sum_by_index(cells, self._weighted(value), len(self.tasks) * K).reshape(-1, K)

    def cell_sum(self, value: Tensor | None = None) -> Tensor:
        """Sum over the votes of each worker for each class, (workers, classes)."""
        W, K = len(self.workers), len(self.classes)
        return _sum_by_index(self.cell, self._weighted(value), W * K).reshape(W, K)

    def worker_sum(self, value: Tensor | None = None) -> Tensor:
        """Sum over the votes of each worker, (workers,)."""
        return _sum_by_index(self.worker, self._weighted(value), len(self.workers))

    def task_sum(self, value: Tensor | None = None) -> Tensor:
        """Sum over the votes of each task, (tasks,)."""
        return _sum_by_index(self.task, self._weighted(value), len(self.tasks))

    def shares(self) -> Tensor:
        """Share of each class among the votes of each task, or its gold class; (tasks, classes)."""
        tally = self.tally()
        total = tally.sum(dim=1, keepdim=True)
        probs = torch.where(total > 0, tally / total, 1 / len(self.classes))
        if self.gold is not None:
            known = self.gold >= 0
            probs[known] = torch.nn.functional.one_hot(self.gold[known].long(), len(self.classes)).to(probs)
        return probs

    def apply_gold_(self, log_joint: Tensor) -> None:
        """Make every other class impossible, in place, for tasks whose class is known."""
        if self.gold is not None:
            classes = torch.arange(len(self.classes), device=log_joint.device)
            wrong = (self.gold[:, None] >= 0) & (self.gold[:, None] != classes)
            log_joint.view(len(log_joint), len(classes), -1).masked_fill_(wrong[:, :, None], -torch.inf)


def _sum_by_index(index: Tensor, terms: Tensor, length: int) -> Tensor:
    """Sum of the terms of each index, (length, ...)."""
    return terms.new_zeros(length, *terms.shape[1:]).index_add_(0, index, terms)


def to_tensor_votes(votes: Votes) -> TensorVotes:
    """Merged votes as tensors in the memory of this process."""
    weighted = votes.weight is not None and bool((votes.weight != 1).any())
    return TensorVotes(
        torch.from_numpy(votes.cell),
        torch.from_numpy(votes.starts),
        range(len(votes.workers)),
        range(len(votes.classes)),
        torch.tensor(votes.weights) if weighted else None,
        None if votes.gold is None else torch.tensor(votes.gold),
    )


def columns_to_tensor_votes(task: Tensor, worker: Tensor, label: Tensor) -> TensorVotes:
    """Votes from three columns of codes that count from zero, (votes,) each, in any order."""
    if len({len(task), len(worker), len(label)}) > 1 or not len(task):
        raise ValueError("task, worker and label are empty or of different lengths; give all for each vote")
    if min(int(column.min()) for column in (task, worker, label)) < 0:
        raise ValueError("a code is below zero; leave out what is no vote")
    K = int(label.max()) + 1
    W = int(worker.max()) + 1
    cell = worker.to(torch.int32 if W * K < 2**31 else torch.int64) * K + label
    if bool((task[1:] < task[:-1]).any()):
        task, order = torch.sort(task)
        cell = cell[order]
    counts = torch.bincount(task)
    starts = torch.zeros(len(counts) + 1, dtype=torch.int64, device=task.device)
    torch.cumsum(counts, 0, out=starts[1:])
    return TensorVotes(cell, starts, range(W), range(K))


def split_by_votes(votes: TensorVotes, max_votes: int) -> Iterator[TensorVotes]:
    """Consecutive ranges of the tasks with about `max_votes` votes each, or one task."""
    starts = votes.starts
    wanted = torch.arange(max_votes, max(max_votes, len(votes)), max_votes, device=starts.device)
    inner = torch.searchsorted(starts, wanted).unique().tolist()
    bounds = sorted({0, *inner, len(votes.tasks)})
    ends = starts[bounds].tolist()
    for (a, b), (first, last) in zip(pairwise(bounds), pairwise(ends), strict=True):
        own_starts = (starts[a : b + 1] - first).int()
        weight = None if votes.weight is None else votes.weight[first:last]
        gold = None if votes.gold is None else votes.gold[a:b]
        yield TensorVotes(votes.cell[first:last], own_starts, votes.workers, votes.classes, weight, gold)
