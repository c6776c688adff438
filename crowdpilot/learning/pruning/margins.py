"""Margins of every label while a network learns: how hard it is to believe in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.arrays import Codes, Floats
from crowdpilot.learning.data.batches import Batch, Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.learning.training.folds import deal
from crowdpilot.learning.training.loop import SWEEP
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.votes import Votes

Margin = Literal["yang", "pleiss"]

EPOCHS = 20  # after which margins of votes on other tasks get worse, not better


def margins(logits: Tensor, kind: Margin = "yang", topk: int = 1) -> Tensor:
    """By how much each label beats its rivals, (rows, classes).

    Parameters
    ----------
    logits
        (rows, classes).
    kind
        "yang", σ_y − σ_[k+1]: the probability of the label less the (k+1)-th largest of all; or
        "pleiss", z_y less the k-th largest logit of the other labels.
    topk
        The k: how many labels may be right at once.

    References
    ----------
    Yang and Koyejo, On the consistency of top-k surrogate losses, ICML 2020.
    https://arxiv.org/abs/1901.11141
    Pleiss et al., Identifying mislabeled data using the area under the margin ranking, NeurIPS 2020.
    https://arxiv.org/abs/2001.10528
    """
    scores = logits.softmax(dim=-1) if kind == "yang" else logits
    best = scores.topk(topk + 1, dim=-1).values
    last, next_one = best[:, topk - 1 : topk], best[:, topk:]
    # a label that is itself among the k best has the next one as the k-th of the others
    rival = next_one if kind == "yang" else torch.where(scores >= last, next_one, last)
    return scores - rival


def _check(kind: str) -> None:
    if kind not in get_args(Margin):
        raise ValueError(f"margin is {kind!r}, expected one of {', '.join(get_args(Margin))}")


class Margins(nn.Module):
    """A watcher that adds up the margins of every label of some tasks, epoch by epoch.

    It holds two (tasks, classes) arrays, however long the training is.

    Parameters
    ----------
    tasks
        The tasks to watch, in any order.
    classes
        How many there are.
    kind, topk
        See `margins`.
    """

    total: Tensor  # (tasks, classes), over the epochs
    probs: Tensor  # (tasks, classes), after the last epoch
    epochs: Tensor

    def __init__(self, tasks: Codes, classes: int, *, kind: Margin = "yang", topk: int = 1) -> None:
        super().__init__()
        _check(kind)
        if not 1 <= topk < classes:
            raise ValueError(f"topk is {topk}, expected at least 1 and less than the {classes} classes")
        self.tasks, self.kind, self.topk = torch.as_tensor(tasks, dtype=torch.long), kind, topk
        self.register_buffer("total", torch.zeros(len(tasks), classes, dtype=torch.float64))
        self.register_buffer("probs", torch.zeros(len(tasks), classes, dtype=torch.float64))
        self.register_buffer("epochs", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def watch(self, method: Method, batches: Batches) -> None:
        """Add the margins after one more epoch."""
        method.eval()
        parts = [method(batches.batch(part).x).double().cpu() for part in self.tasks.split(SWEEP)]
        logits = torch.cat(parts)
        self.total += margins(logits, self.kind, self.topk)
        self.probs.copy_(logits.softmax(dim=-1))
        self.epochs += 1

    @property
    def area(self) -> Floats:
        """The area under the margin of each label, (tasks, classes): its mean over the epochs."""
        area: Floats = (self.total / self.epochs).numpy()
        return area


class EachVote(Method):
    """Cross-entropy to every single vote, as if no two were about the same task."""

    name = "each_vote"

    def loss(self, batch: Batch) -> Tensor:
        logs = self(batch.x).log_softmax(dim=-1)[batch.row, batch.label]
        return self.cost(logs, batch.label, batch.weight)


class Areas(NamedTuple):
    """What a network that learned from votes thinks of all labels of each task."""

    area: Floats  # (tasks, classes), area under the margin
    probs: Floats  # (tasks, classes), after the last epoch


@dataclass(frozen=True, kw_only=True)
class Measuring(TaskScore):
    """A score made of areas under the margin.

    Parameters
    ----------
    margin
        "yang" or "pleiss"; see `margins`. Yang's is lowest where the network wavers, and near zero
        for a label that it rejects for sure: "pleiss" is better at finding wrong labels.
    topk
        How many labels may be right at once.
    folds
        Into how many parts the tasks are cut; the margins of each part are those of a network that
        learns from all others. 1 trains a single network, as in the paper; it learns the labels of
        few tasks by heart, and then no margin tells which are wrong.
    epochs
        How long a network is trained; if not given, as long as the recipe says, but at most 20.
    """

    margin: Margin = "yang"
    topk: int = 1
    folds: int = 5
    epochs: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.margin)
        for name in ("topk", "folds", "epochs"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} is {value}, expected 1 or more")

    def run(self, recipe: Recipe, rows: Rows, votes: Votes, stage: str = "margins") -> Areas:
        """Train on every vote, and watch the margins."""
        area, probs = np.full((2, len(votes.tasks), len(votes.classes)), np.nan)
        for n, (tasks, seen) in enumerate(deal(votes, self.folds, recipe.training.seed), 1):
            area[tasks], probs[tasks] = self.watch(recipe, rows, seen, tasks, f"{stage}-{n}of{self.folds}")
        return Areas(area, probs)

    def watch(self, recipe: Recipe, rows: Rows, votes: Votes, tasks: Codes, stage: str) -> Areas:
        """Train on these votes, and watch the margins of some tasks, one row for each."""
        seen = Margins(tasks, len(votes.classes), kind=self.margin, topk=self.topk)
        epochs = self.epochs or min(EPOCHS, recipe.training.epochs)
        loop = recipe.but(method=EachVote, validate=None, patience=None, epochs=epochs)
        loop.learn(rows, votes, f"{stage}-{self.margin}-top{self.topk}", watchers=[seen])
        return Areas(seen.area, seen.probs.numpy())
