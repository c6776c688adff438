"""Batches of tasks with all their votes as tensors, and the protocol of rows (network input)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from crowdpilot.votes import Votes


class Rows(Protocol):
    """The input of a network: one row for each task."""

    def __len__(self) -> int: ...

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        """The input of these rows; while training it may be randomly augmented."""
        ...


class Batch(NamedTuple):
    """Some tasks and all their votes: vote *n* is about row `row[n]` of `x`."""

    x: Tensor  # (rows, ...)
    task: Tensor  # (rows,)
    row: Tensor  # (votes,)
    worker: Tensor  # (votes,)
    label: Tensor  # (votes,)
    weight: Tensor  # (votes,)


class Batches:
    """Every task of `votes` with its row of X, in batches.

    Parameters
    ----------
    rows
        Row *i* is the content of task *i* of the votes.
    votes
        On these tasks.
    device
        Where the votes are.
    """

    def __init__(self, rows: Rows, votes: Votes, device: torch.device | str = "cpu") -> None:
        self.rows, self.votes = rows, votes
        self.device = torch.device(device)
        order = np.argsort(votes.task, kind="stable")
        starts = np.searchsorted(votes.task[order], np.arange(len(votes.tasks) + 1))
        self.starts = torch.as_tensor(starts, device=self.device)
        self.worker, self.label = (
            torch.as_tensor(codes[order], dtype=torch.long, device=self.device)
            for codes in (votes.worker, votes.label)
        )
        self.weight = torch.as_tensor(votes.weights[order], dtype=torch.float32, device=self.device)
        labelled = np.diff(starts) > 0
        if votes.gold is not None:
            labelled |= votes.gold >= 0
        self.labelled_tasks = torch.as_tensor(np.flatnonzero(labelled))  # with votes or a known class

    def __len__(self) -> int:
        return len(self.votes.tasks)

    def batch(self, tasks: Tensor, *, train: bool = False) -> Batch:
        """These tasks, each with all its votes."""
        x = self.rows.take(tasks, train=train).to(self.device, non_blocking=True)
        tasks = tasks.to(self.device)
        count = self.starts[tasks + 1] - self.starts[tasks]
        row = torch.repeat_interleave(torch.arange(len(tasks), device=self.device), count)
        first = self.starts[tasks] - (count.cumsum(0) - count)  # minus the votes before it in the batch
        vote = torch.arange(len(row), device=self.device) + first[row]
        return Batch(x, tasks, row, self.worker[vote], self.label[vote], self.weight[vote])
