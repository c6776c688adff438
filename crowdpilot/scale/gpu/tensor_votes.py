"""Votes as tensors, with as much of the interface of `Votes` as models use in a round."""

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
class Product:
    """A sparse matrix with a number in (`row`, `column`) for each vote."""

    row: Tensor
    column: Tensor
    weight: Tensor | None
    shape: tuple[int, int]

    @property
    def T(self) -> Product:
        """Rows for columns."""
        return Product(self.column, self.row, self.weight, self.shape[::-1])

    def __matmul__(self, dense: Tensor) -> Tensor:
        terms = dense[self.column]
        if self.weight is not None:
            terms *= self.weight[:, None]
        return _add_up(self.row, terms, self.shape[0])


@dataclass(frozen=True, eq=False)
class TensorVotes:
    """Votes in the order of their tasks; vote *n* is in row `cell[n]` of a table (workers x classes)."""

    cell: Tensor  # (votes,)
    starts: Tensor  # (tasks + 1,): where the votes of each task begin, and where the last ends
    workers: range
    classes: range
    weight: Tensor | None = None
    gold: Tensor | None = None  # (tasks,)

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def columns(self) -> dict[str, Tensor]:
        """All that is held for votes and tasks, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}

    def to(self, device: torch.device) -> TensorVotes:
        """The same votes on a device; the copy may still be under way."""
        moved: Any = {name: column.to(device, non_blocking=True) for name, column in self.columns.items()}
        return replace(self, **moved)

    def pin(self) -> TensorVotes:
        """The same votes in memory that a GPU can read by itself."""
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
    def heaviest(self) -> int:
        """The most votes in one cell."""
        return int(torch.bincount(self.cell).max()) if len(self) else 0

    @property
    def onehot(self) -> Product:
        shape = len(self.tasks), len(self.workers) * len(self.classes)
        return Product(self.task, self.cell, self.weight, shape)

    @property
    def ballots(self) -> Product:
        K = len(self.classes)
        return Product(
            self.task * K + self.label, self.worker, self.weight, (len(self.tasks) * K, len(self.workers))
        )

    def _times(self, value: Tensor | None) -> Tensor:
        if value is None:
            ones = torch.ones((), dtype=torch.float64, device=self.cell.device).expand(len(self))
            return ones if self.weight is None else self.weight
        return value if self.weight is None else self.weight * value

    def tally(self, value: Tensor | None = None) -> Tensor:
        K = len(self.classes)
        cells = self.task * K + self.label
        return _add_up(cells, self._times(value), len(self.tasks) * K).reshape(-1, K)

    def cell_sum(self, value: Tensor | None = None) -> Tensor:
        W, K = len(self.workers), len(self.classes)
        return _add_up(self.cell, self._times(value), W * K).reshape(W, K)

    def worker_sum(self, value: Tensor | None = None) -> Tensor:
        return _add_up(self.worker, self._times(value), len(self.workers))

    def task_sum(self, value: Tensor | None = None) -> Tensor:
        return _add_up(self.task, self._times(value), len(self.tasks))

    def shares(self) -> Tensor:
        """The share of each class among the votes of each task, gold where it is known."""
        tally = self.tally()
        total = tally.sum(dim=1, keepdim=True)
        probs = torch.where(total > 0, tally / total, 1 / len(self.classes))
        if self.gold is not None:
            known = self.gold >= 0
            probs[known] = torch.nn.functional.one_hot(self.gold[known].long(), len(self.classes)).to(probs)
        return probs

    def fix_gold_(self, joint: Tensor) -> None:
        """Make every other class impossible, in place, for tasks whose class is known."""
        if self.gold is not None:
            classes = torch.arange(len(self.classes), device=joint.device)
            wrong = (self.gold[:, None] >= 0) & (self.gold[:, None] != classes)
            joint.view(len(joint), len(classes), -1).masked_fill_(wrong[:, :, None], -torch.inf)


def _add_up(index: Tensor, terms: Tensor, length: int) -> Tensor:
    """Sum of the terms of each index; (length, ...)."""
    return terms.new_zeros(length, *terms.shape[1:]).index_add_(0, index, terms)


def from_votes(votes: Votes) -> TensorVotes:
    """Merged votes as tensors in the memory of this process."""
    weighed = votes.weight is not None and bool((votes.weight != 1).any())
    return TensorVotes(
        torch.from_numpy(votes.cell),
        torch.from_numpy(votes.starts),
        range(len(votes.workers)),
        range(len(votes.classes)),
        torch.tensor(votes.weights) if weighed else None,
        None if votes.gold is None else torch.tensor(votes.gold),
    )


def from_columns(task: Tensor, worker: Tensor, label: Tensor) -> TensorVotes:
    """Votes from three columns of codes that count from zero, in any order."""
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


def cut(votes: TensorVotes, size: int) -> Iterator[TensorVotes]:
    """Slices of the tasks with about `size` votes each, or one task."""
    starts = votes.starts
    wanted = torch.arange(size, max(size, len(votes)), size, device=starts.device)
    inner = torch.searchsorted(starts, wanted).unique().tolist()
    edges = sorted({0, *inner, len(votes.tasks)})
    ends = starts[edges].tolist()
    for (a, b), (first, last) in zip(pairwise(edges), pairwise(ends), strict=True):
        own = (starts[a : b + 1] - first).int()
        weight = None if votes.weight is None else votes.weight[first:last]
        gold = None if votes.gold is None else votes.gold[a:b]
        yield TensorVotes(votes.cell[first:last], own, votes.workers, votes.classes, weight, gold)
