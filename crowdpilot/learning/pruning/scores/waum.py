"""AUM and WAUM scores: areas under the margin of labels or votes while a network is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.pruning.training_margins import MarginScore
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes


@dataclass(frozen=True, kw_only=True)
class AUM(MarginScore):
    """The area under the margin of the label of each task: low if the label is probably wrong.

    AUM(x, y) = 1/T Σ_t [σ_y(x) − σ_[2](x)] after epochs t = 1 … T of training on one label per task.

    Parameters
    ----------
    labels
        The aggregator that gives the labels.

    References
    ----------
    Pleiss et al., Identifying mislabeled data using the area under the margin ranking, NeurIPS 2020.
    https://arxiv.org/abs/2001.10528
    """

    name = "aum"
    labels: str = "majority_voting"

    def score(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Floats:
        label = parse_strategy(self.labels).fit(votes).codes
        area, _ = self.held_out_areas(procedure, rows, _one_vote_per_task(votes, label), "aum")
        return area[np.arange(len(label)), label]


@dataclass(frozen=True, eq=False)
class WaumResult:
    """The AUM and trust of every vote, and their means by task and worker.

    Parameters
    ----------
    votes
        The votes that were scored.
    aum, trust
        (votes,); the area under the margin of each vote, and the weight s_j(x_i) of the worker.
    """

    votes: Votes
    aum: Floats
    trust: Floats

    @property
    def waum(self) -> Floats:
        """(tasks,); mean AUM of the votes, weighted by trust; NaN without votes."""
        weight = np.where(np.isnan(self.aum), 0, self.trust)
        return divide(self.votes.task_sum(weight * np.nan_to_num(self.aum)), self.votes.task_sum(weight))

    @property
    def worker_aum(self) -> Floats:
        """(workers,); mean AUM of the votes of each worker; NaN without votes."""
        return self.votes.worker_mean(self.aum)

    @property
    def worker_trust(self) -> Floats:
        """(workers,); mean trust in the votes of each worker; NaN without votes."""
        return self.votes.worker_mean(self.trust)


@dataclass(frozen=True, kw_only=True)
class WAUM(MarginScore):
    """The areas under the margin of all votes on a task, weighted by the trust in each.

    WAUM(x_i) = Σ_j s_j(x_i) AUM(x_i, y_ij) / Σ_j s_j(x_i) over the workers j who labelled task i,
    with s_j(x_i) = ⟨diag π_j, σ(x_i)⟩: how likely worker j labels such a task right, by the
    confusion matrix π_j and the probabilities σ after the last epoch. The network is trained on
    every vote. A low value means that the task is ambiguous or its votes are wrong.

    Parameters
    ----------
    confusion
        The aggregator that gives the confusion matrices.

    References
    ----------
    Lefort, Charlier, Joly and Salmon, Identify ambiguous tasks combining crowdsourced labels by
    weighting areas under the margin, TMLR 2024. https://arxiv.org/abs/2209.15380
    """

    name = "waum"
    confusion: str = "dawid_skene"

    def score(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Floats:
        return self.explain(procedure, rows, votes).waum

    def explain(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> WaumResult:
        """AUM and trust of every vote."""
        diagonals = _diagonals(self.confusion, votes)
        area, probs = self.held_out_areas(procedure, rows, votes, "waum")
        trust = np.einsum("nk,nk->n", diagonals[votes.worker], probs[votes.task])
        return WaumResult(votes, area[votes.task, votes.label], trust)


@dataclass(frozen=True, kw_only=True)
class WAUMPerWorker(WAUM):
    """WAUM with a network for each worker, which is trained on the votes of that worker alone.

    The votes of a worker are then scored independently of those of others. It needs many votes from each
    worker: workers with a single vote are left out, and nothing is held out (`folds` is 1).
    """

    name = "waum_perworker"
    folds: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds != 1:
            raise ValueError(f"folds is {self.folds}, but waum_perworker holds nothing out")

    def explain(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> WaumResult:
        diagonals = _diagonals(self.confusion, votes)
        aum, trust = np.full((2, len(votes)), np.nan)
        without_gold = replace(votes, gold=None)
        for j in np.flatnonzero(np.bincount(votes.worker, minlength=len(votes.workers)) > 1):
            of_worker = np.flatnonzero(votes.worker == j)
            tasks, row = np.unique(votes.task[of_worker], return_inverse=True)
            own = without_gold.take(of_worker)
            area, probs = self.train_and_record(procedure, rows, own, tasks, f"waum-worker{j}")
            aum[of_worker], trust[of_worker] = area[row, votes.label[of_worker]], probs[row] @ diagonals[j]
        return WaumResult(votes, aum, trust)


def _one_vote_per_task(votes: Votes, label: Codes) -> Votes:
    """One vote on each task that has any, as from a single worker."""
    task = np.unique(votes.task)
    return replace(
        votes, task=task, worker=np.zeros_like(task), label=label[task], workers=np.zeros(1, int),
        weight=None, seconds=None, time=None,
    )  # fmt: skip


def _diagonals(model: str, votes: Votes) -> Floats:
    """P(right | class) of each worker, the diagonals of their confusion matrices, (workers, classes)."""
    matrices = parse_strategy(model).fit(votes).params.get("confusion")
    if matrices is None:
        raise ValueError(f"{model} has no confusion matrices; choose confusion='dawid_skene'")
    diagonals: Floats = np.einsum("jkk->jk", matrices)
    return diagonals
