"""EM whose beliefs are held for the candidates of each task alone, whatever the number of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import xlogy

from crowdpilot.aggregation.base import Aggregate, Aggregator, match
from crowdpilot.aggregation.em.backend import CORES, Here, Machine, Stats
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.sparse.candidates import Candidates, candidates, is_wide, vote_shares
from crowdpilot.aggregation.sparse.posterior import at, fill
from crowdpilot.arrays import Floats, sum_by
from crowdpilot.votes import Votes


class Coins(NamedTuple):
    """Estimates of the one-coin model."""

    prior: Floats  # (classes,)
    skill: Floats  # (workers,)


@dataclass(frozen=True)
class Begin:
    """One machine, for beliefs of candidates; they begin at an earlier result if there is one."""

    start: Aggregate | None

    def hold(self, model: EM, votes: Votes, probs: Floats) -> Here:
        if self.start is not None:
            probs = with_none(candidates(votes), begun(votes, self.start))
        return Here(votes, probs)


@dataclass(frozen=True)
class Listed(EM):
    """The one-coin model over candidates: the classes somebody gave to a task, or it is known to have.

    A belief is one array: a number for each candidate of all tasks, then one for each task, the
    probability that its class is none of them. Nothing is as large as tasks x classes.

    Parameters
    ----------
    smoothing
        Imaginary votes of each worker, as often right as wrong.
    trust
        Further imaginary votes that are right.
    """

    prior: Prior = "uniform"
    smoothing: float = 0.1
    trust: float = 1.0

    name: ClassVar[str] = "one_coin"
    divisible: ClassVar[bool] = False
    wide: ClassVar[bool] = True

    def run_on(
        self, on: Machine | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        return Aggregator.run_on(self, on, votes, start, history)  # the cores of this machine alone

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, on: Machine = CORES
    ) -> Aggregate:
        return super().run(votes, None, history, Begin(start))

    def pseudo(self, votes: Votes) -> Stats:
        right_wrong = np.tile([self.smoothing + self.trust, self.smoothing], (len(votes.workers), 1))
        return np.full(len(votes.classes), self.smoothing), right_wrong

    def first(self, votes: Votes) -> Floats:
        found = candidates(votes)
        return with_none(found, at(vote_shares(votes), found.task, found.label))

    def count(self, votes: Votes, belief: Floats) -> Stats:
        return self.tell(votes, belief, np.full(len(votes.classes), 1 / len(votes.classes)))

    def tell(self, votes: Votes, belief: Floats, prior: Floats) -> Stats:
        """The counts; `prior` says of which class are tasks of none of their candidates."""
        found = candidates(votes)
        listed, none = np.split(belief, [len(found.task)])
        each = np.divide(none, outside(found, prior), out=np.zeros(len(none)), where=found.unlisted > 0)
        seen = sum_by(found.label, listed - each[found.task] * prior[found.label], len(prior))
        right = votes.worker_sum(listed[found.vote])
        wrong = np.maximum(votes.worker_sum() - right, 0)
        return np.maximum(seen + each.sum() * prior, 0), np.stack([right, wrong], axis=1)

    def maximize(self, stats: Stats, params: Any) -> Any:
        seen, right_wrong = stats
        return Coins(self.class_prior(seen), right_wrong[:, 0] / right_wrong.sum(axis=1))

    def joint(self, votes: Votes, params: Any) -> Floats:
        found = candidates(votes)
        log_right, log_wrong = np.log(params.skill)[votes.worker], np.log1p(-params.skill)[votes.worker]
        all_wrong = votes.task_sum(log_wrong)
        listed = found.tally(votes, log_right - log_wrong) + np.log(params.prior)[found.label]
        listed += all_wrong[found.task] + self.blame(votes, found, params)
        chance = votes.task_sum() * np.log(len(params.prior) - 1)
        with np.errstate(divide="ignore"):  # every class may be a candidate
            none = all_wrong - chance + np.log(outside(found, params.prior))
        return np.concatenate([listed, none])

    def blame(self, votes: Votes, found: Candidates, params: Any) -> Floats:
        """For each candidate the log-probability of the mistakes, given who makes one, if it is the class."""
        mistakes = votes.task_sum()[found.task] - found.weight
        logs: Floats = -mistakes * np.log(len(votes.classes) - 1)
        return logs

    def score(self, pseudo: Stats, params: Any) -> float:
        coin = np.stack([params.skill, 1 - params.skill], axis=1)
        return float(xlogy(pseudo[0], params.prior).sum() + xlogy(pseudo[1], coin).sum())

    def round(self, votes: Votes, params: Any) -> tuple[Stats, float]:
        belief = self.joint(votes, params)
        loglik = normalize_(candidates(votes), belief)
        return self.tell(votes, belief, params.prior), loglik

    def believe(self, votes: Votes, params: Any) -> Floats:
        belief = self.joint(votes, params)
        normalize_(candidates(votes), belief)
        return belief

    def finish(self, votes: Votes, params: Any, belief: Floats) -> Aggregate:
        found = candidates(votes)
        listed = found.to_matrix(belief[: len(found.task)])
        probs = listed if is_wide(votes) else fill(listed, params.prior)
        skill = np.where(votes.worker_sum() > 0, params.skill, np.nan)
        return Aggregate(votes, probs, skill, {"prior": params.prior})


def outside(found: Candidates, prior: Floats) -> Floats:
    """For each task the probability of all classes that are no candidates."""
    rest = 1 - found.per_task(prior[found.label])
    return np.where(found.unlisted > 0, np.maximum(rest, np.finfo(np.float64).tiny), 0)


def normalize_(found: Candidates, joint: Floats) -> float:
    """Turn logs of candidates, and of none of them, into probabilities in place; the log-likelihood."""
    listed, none = np.split(joint, [len(found.task)])  # views
    if found.gold is not None:
        listed[found.excluded] = -np.inf
        none[found.gold >= 0] = -np.inf
    top = np.maximum(found.highest(listed), none)
    joint -= np.concatenate([top[found.task], top])
    np.exp(joint, out=joint)
    total = found.per_task(listed) + none
    joint /= np.concatenate([total[found.task], total])
    return float((top + np.log(total)).sum())


def with_none(found: Candidates, listed: Floats) -> Floats:
    """What is believed of each candidate, then of none of them for each task."""
    return np.concatenate([listed, np.maximum(1 - found.per_task(listed), 0)])


def begun(votes: Votes, start: Aggregate) -> Floats:
    """What an earlier result says of each candidate; shares of the votes for tasks that are new to it."""
    found = candidates(votes)
    columns = match(votes.classes, start.votes.classes)
    if (columns < 0).any():
        raise ValueError("the result to begin at has other classes than the votes")
    rows = match(votes.tasks, start.votes.tasks)[found.task]
    old = at(start.beliefs, np.maximum(rows, 0), columns[found.label], start.others)
    new = at(vote_shares(votes), found.task, found.label)
    return found.clamp(np.where(rows >= 0, old, new))


def as_reliable(votes: Votes, gain: float) -> Floats:
    """What is believed if each vote for a class makes it more probable by as much, in logs."""
    found = candidates(votes)
    with np.errstate(divide="ignore"):  # every class may be a candidate
        joint = np.concatenate([gain * found.weight, np.log(found.unlisted)])
    normalize_(found, joint)
    return joint
