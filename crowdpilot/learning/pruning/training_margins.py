"""Margins of every label during training (Yang, Pleiss), and scores made of the areas under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from crowdpilot.arrays import Codes, Floats
from crowdpilot.learning.data.batches import Batch, Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.learning.training.folds import assign_folds
from crowdpilot.learning.training.loop import MAX_TASKS_PER_EVALUATION_BATCH
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

Margin = Literal["yang", "pleiss"]

DEFAULT_EPOCHS = 20  # after which held-out margins get worse, not better


def margins(logits: Tensor, kind: Margin = "yang", topk: int = 1) -> Tensor:
    """The margin of each label over its strongest competitors, (rows, classes).

    Parameters
    ----------
    logits
        (rows, classes).
    kind
        "yang", σ_y − σ_[k+1]: the probability of the label minus the (k+1)-th largest of all; or
        "pleiss", z_y minus the k-th largest logit of the other labels.
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
    kth, next_best = best[:, topk - 1 : topk], best[:, topk:]
    # for a label among the k best, the k-th of the others is the next best
    competitor = next_best if kind == "yang" else torch.where(scores >= kth, next_best, kth)
    return scores - competitor


def _check(kind: str) -> None:
    if kind not in get_args(Margin):
        raise ValueError(f"margin is {kind!r}, expected one of {', '.join(get_args(Margin))}")


class MarginRecorder:
    """A callback that sums the margins of every label of some tasks over the epochs.

    It holds two (tasks, classes) arrays, however long the training is.

    Parameters
    ----------
    tasks
        The tasks to record, in any order.
    classes
        How many there are.
    kind, topk
        See `margins`.
    """

    def __init__(self, tasks: Codes, classes: int, *, kind: Margin = "yang", topk: int = 1) -> None:
        _check(kind)
        if not 1 <= topk < classes:
            raise ValueError(f"topk is {topk}, expected at least 1 and less than the {classes} classes")
        self.tasks, self.kind, self.topk = torch.as_tensor(tasks, dtype=torch.long), kind, topk
        self.margin_sum = torch.zeros(len(tasks), classes, dtype=torch.float64)  # over the epochs
        self.probs = torch.zeros(len(tasks), classes, dtype=torch.float64)  # after the last epoch
        self.epochs = 0

    @torch.no_grad()
    def after_epoch(self, method: Method, batches: Batches) -> None:
        """Add the margins after one more epoch."""
        method.eval()
        parts = self.tasks.split(MAX_TASKS_PER_EVALUATION_BATCH)
        logits = torch.cat([method(batches.batch(part).x).double().cpu() for part in parts])
        self.margin_sum += margins(logits, self.kind, self.topk)
        self.probs = logits.softmax(dim=-1)
        self.epochs += 1

    def state_dict(self) -> dict[str, Any]:
        """The state in a checkpoint."""
        return {"margin_sum": self.margin_sum, "probs": self.probs, "epochs": self.epochs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` gave."""
        self.margin_sum, self.probs, self.epochs = state["margin_sum"], state["probs"], state["epochs"]

    @property
    def area(self) -> Floats:
        """The area under the margin of each label, (tasks, classes): its mean over the epochs."""
        area: Floats = (self.margin_sum / self.epochs).numpy()
        return area


class EachVote(Method):
    """Cross-entropy to every single vote, as if no two were about the same task."""

    name = "each_vote"

    def loss(self, batch: Batch) -> Tensor:
        log_probs = self(batch.x).log_softmax(dim=-1)[batch.row, batch.label]
        return self.vote_loss(log_probs, batch.label, batch.weight)


class MarginAreas(NamedTuple):
    """Areas under the margin and predictions of all labels of each task, by a network trained on votes."""

    area: Floats  # (tasks, classes), area under the margin
    probs: Floats  # (tasks, classes), after the last epoch


@dataclass(frozen=True, kw_only=True)
class MarginScore(TaskScore):
    """The base of scores that are made of areas under the margin.

    Parameters
    ----------
    margin
        "yang" or "pleiss"; see `margins`. Yang's is lowest where the network is uncertain, and near zero
        for a label that it surely rejects: "pleiss" is better at finding wrong labels.
    topk
        How many labels may be right at once.
    folds
        Number of cross-validation folds: the margins of each fold are those of a network trained on all
        others. 1 trains a single network, as in the paper; it memorizes the labels of few tasks, and
        margins then do not show which are wrong.
    epochs
        How long a network is trained; if not given, the epochs of the procedure, but at most 20.
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

    def held_out_areas(
        self, procedure: TrainingProcedure, rows: Rows, votes: Votes, stage: str = "margins"
    ) -> MarginAreas:
        """Areas and predictions of each task by a network trained on every vote of the other folds."""
        area, probs = np.full((2, len(votes.tasks), len(votes.classes)), np.nan)
        for n, (tasks, training) in enumerate(assign_folds(votes, self.folds, procedure.training.seed), 1):
            name = f"{stage}-{n}of{self.folds}"
            area[tasks], probs[tasks] = self.train_and_record(procedure, rows, training, tasks, name)
        return MarginAreas(area, probs)

    def train_and_record(
        self, procedure: TrainingProcedure, rows: Rows, votes: Votes, tasks: Codes, stage: str
    ) -> MarginAreas:
        """Train on every one of these votes, and record the margins of some tasks, a row for each."""
        recorder = MarginRecorder(tasks, len(votes.classes), kind=self.margin, topk=self.topk)
        epochs = self.epochs or min(DEFAULT_EPOCHS, procedure.training.epochs)
        on_votes = procedure.with_changes(method=EachVote, validate=None, patience=None, epochs=epochs)
        on_votes.train(rows, votes, f"{stage}-{self.margin}-top{self.topk}", callbacks=[recorder])
        return MarginAreas(recorder.area, recorder.probs.numpy())
