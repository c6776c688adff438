"""AUM and WAUM: how hard a network finds it to believe what was said of a task."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.pruning.margins import Measuring
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.votes import Votes


@dataclass(frozen=True, kw_only=True)
class AUM(Measuring):
    """The area under the margin of the label of each task: low if a network cannot believe it.

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

    def score(self, recipe: Recipe, rows: Rows, votes: Votes) -> Floats:
        label = parse_strategy(self.labels).fit(votes).codes
        area, _ = self.run(recipe, rows, _one_each(votes, label), "aum")
        return area[np.arange(len(label)), label]


@dataclass(frozen=True, eq=False)
class Waum:
    """What WAUM found.

    Parameters
    ----------
    votes
        The votes that were looked at.
    aum, trust
        (votes,); the area under the margin of each vote, and how much it is trusted.
    """

    votes: Votes
    aum: Floats
    trust: Floats

    @property
    def waum(self) -> Floats:
        """(tasks,); mean AUM of the votes, each weighed by its trust; NaN without votes."""
        heard = np.where(np.isnan(self.aum), 0, self.trust)
        return divide(self.votes.task_sum(heard * np.nan_to_num(self.aum)), self.votes.task_sum(heard))

    @property
    def worker_aum(self) -> Floats:
        """(workers,); mean AUM of the votes of each worker; NaN without votes."""
        return self.votes.worker_mean(self.aum)

    @property
    def worker_trust(self) -> Floats:
        """(workers,); mean trust in the votes of each worker; NaN without votes."""
        return self.votes.worker_mean(self.trust)


@dataclass(frozen=True, kw_only=True)
class WAUM(Measuring):
    """The areas under the margin of all votes on a task, weighed by the trust in each.

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

    def score(self, recipe: Recipe, rows: Rows, votes: Votes) -> Floats:
        return self.explain(recipe, rows, votes).waum

    def explain(self, recipe: Recipe, rows: Rows, votes: Votes) -> Waum:
        """AUM and trust of every vote."""
        right = _diagonals(self.confusion, votes)
        area, probs = self.run(recipe, rows, votes, "waum")
        trust = np.einsum("nk,nk->n", right[votes.worker], probs[votes.task])
        return Waum(votes, area[votes.task, votes.label], trust)


@dataclass(frozen=True, kw_only=True)
class WAUMPerWorker(WAUM):
    """WAUM with a network for each worker, which learns from the votes of that worker alone.

    So no vote is judged by those of others. It needs many votes from each worker: those with a
    single vote are not heard, and nothing is held out (`folds` is 1).
    """

    name = "waum_perworker"
    folds: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds != 1:
            raise ValueError(f"folds is {self.folds}, but waum_perworker holds nothing out")

    def explain(self, recipe: Recipe, rows: Rows, votes: Votes) -> Waum:
        right = _diagonals(self.confusion, votes)
        aum, trust = np.full((2, len(votes)), np.nan)
        own = replace(votes, gold=None)
        for j in np.flatnonzero(np.bincount(votes.worker, minlength=len(votes.workers)) > 1):
            mine = np.flatnonzero(votes.worker == j)
            tasks, row = np.unique(votes.task[mine], return_inverse=True)
            area, probs = self.watch(recipe, rows, own.take(mine), tasks, f"waum-worker{j}")
            aum[mine], trust[mine] = area[row, votes.label[mine]], probs[row] @ right[j]
        return Waum(votes, aum, trust)


def _one_each(votes: Votes, label: Codes) -> Votes:
    """One vote on each task that has any, as from a single worker."""
    task = np.unique(votes.task)
    return replace(
        votes, task=task, worker=np.zeros_like(task), label=label[task], workers=np.zeros(1, int),
        weight=None, seconds=None, time=None,
    )  # fmt: skip


def _diagonals(model: str, votes: Votes) -> Floats:
    """How likely each worker labels a task of each class right, (workers, classes)."""
    matrices = parse_strategy(model).fit(votes).params.get("confusion")
    if matrices is None:
        raise ValueError(f"{model} has no confusion matrices; choose confusion='dawid_skene'")
    diagonals: Floats = np.einsum("jkk->jk", matrices)
    return diagonals
