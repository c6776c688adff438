"""Self-training: a method foresees the votes that nobody gave, believes some, and learns again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from torch import nn

from crowdpilot.arrays import Codes
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import MakeMethod, find_method
from crowdpilot.learning.self_training.class_imbalance import count, majority, quality, ratio
from crowdpilot.learning.self_training.pseudo_votes import CHOICES, Choice, Foreseen, choose_foreseen, foresee
from crowdpilot.learning.training.loop import Scores
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.option_strings import choose
from crowdpilot.votes import Votes


class Round(NamedTuple):
    """What one round was trained on and how well it did: plain numbers, ready for a file or a plot."""

    made: list[float]  # foreseen votes of each class; none in round 0, which is the base
    ratio_real: float  # imbalance ratio R of the votes that were given,
    ratio_made: float  # of those that were foreseen,
    ratio_all: float  # and of both
    precision: float  # of the foreseen votes on majority classes, see `Quality`; NaN without truth
    recall: float  # of the foreseen votes on minority classes
    scores: Scores  # of the epoch that was kept


class SelfTrained(NamedTuple):
    """What self-training ends with."""

    method: Method  # of the round that was kept
    history: list[Scores]  # of all epochs of all rounds
    rounds: list[Round]
    kept: int  # the number of that round; 0 is the base


@dataclass(frozen=True)
class SelfTraining:
    """Rounds of training, each with more votes than the last: those that the method itself foresees.

    A crowd leaves most pairs of task and worker empty. Round 0 trains the base method on the votes
    that were given. Each round then foresees the missing votes, adds some of them, and trains again.
    To believe the surest ones makes common classes ever more common; "dasc" (distribution aware
    self-training) believes the surest ones of each class, and more of those that are rare.

    Parameters
    ----------
    choice
        "dasc"; "confidence", the surest votes whatever they say; or "random".
    add
        How many votes each round adds: a whole number, or a share of all that are missing.
    rounds
        How many rounds follow round 0; fewer if there is nothing left to add.
    accumulate
        Keep the votes that were added before. If not, each round foresees all votes anew.
    go_on
        Each round goes on with the weights of the last. If not, it begins with fresh ones.
    weight
        How much a foreseen vote counts beside one that was given.

    References
    ----------
    Shi, Li and Huang, Learning from crowds with sparse and imbalanced annotations, Machine Learning
    112, 2023. https://doi.org/10.1007/s10994-022-06185-w
    """

    choice: Choice = "dasc"
    add: float = 0.15
    rounds: int = 6
    accumulate: bool = True
    go_on: bool = True
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise ValueError(f"choice is {self.choice!r}, expected one of {', '.join(CHOICES)}")
        if not (self.add > 0 and (isinstance(self.add, int) or self.add <= 1)):
            raise ValueError(f"add is {self.add}, expected a whole number above 0 or a share of at most 1.0")
        if self.rounds < 1:
            raise ValueError(f"rounds is {self.rounds}, expected 1 or more")
        if not 0 < self.weight < np.inf:
            raise ValueError(f"weight is {self.weight}, expected a number above 0")

    def run(self, recipe: Recipe, rows: Rows, votes: Votes, truth: Codes | None = None) -> SelfTrained:
        """Train as often as the settings say.

        Parameters
        ----------
        recipe
            How each round is trained. If it validates, the round that is best on the validation set
            is kept, with its best epoch; otherwise the last one.
        rows, votes
            What is learned from: row *i* is task *i*.
        truth
            The code of the true class of each task, -1 where it is not known; `votes.gold` if not
            given. It only tells how good the foreseen votes are, and decides nothing.
        """
        truth = votes.gold if truth is None else truth
        add = self._count(votes)
        now, (method, history) = votes, recipe.learn(rows, votes, "round0")
        rounds = [_look(votes, now, truth, history)]
        best, kept, told = method, 0, [{"round": 0.0} | scores for scores in history]
        for number in range(1, self.rounds + 1):
            taken = now if self.accumulate else votes
            rng = np.random.default_rng([recipe.training.seed, number])
            new = choose_foreseen(foresee(method, rows, taken), self.choice, add, len(votes.classes), rng)
            if len(new.task) == 0:
                break
            now = _join(taken, new, self.weight)
            onward = recipe.but(method=_Onward(recipe.method, method)) if self.go_on else recipe
            method, history = onward.learn(rows, now, f"round{number}")
            told += [{"round": float(number)} | scores for scores in history]
            rounds.append(_look(votes, now, truth, history))
            if rounds[-1].scores.get("score", np.inf) > rounds[kept].scores.get("score", -np.inf):
                best, kept = method, number
        return SelfTrained(best, told, rounds, kept)

    def _count(self, votes: Votes) -> int:
        if isinstance(self.add, int):
            return self.add
        pairs = np.unique(votes.task.astype(np.int64) * len(votes.workers) + votes.worker)
        return max(1, round(self.add * (len(votes.tasks) * len(votes.workers) - len(pairs))))


def find_self_training(text: str) -> SelfTraining:
    """What a text such as `dasc[add=10000,rounds=5]` stands for.

    Examples
    --------
    >>> find_self_training("dasc[add=10000,rounds=5]")
    SelfTraining(choice='dasc', add=10000, rounds=5, accumulate=True, go_on=True, weight=1.0)
    """
    known: dict[str, Callable[..., SelfTraining]] = {name: partial(SelfTraining, name) for name in CHOICES}
    made, options = choose(text, known, "self-training")
    return made(**options)


@dataclass(frozen=True)
class _Onward:
    """Makes a method that has learned what another one has; what follows from the votes is its own."""

    made: str | MakeMethod
    last: Method

    def __call__(self, net: nn.Module, votes: Votes) -> Method:
        method = find_method(self.made)(net, votes)
        buffers = {f"net.{name}": buffer for name, buffer in self.last.net.named_buffers()}
        method.load_state_dict({**dict(self.last.named_parameters()), **buffers}, strict=False)
        return method

    def __str__(self) -> str:  # a checkpoint knows a method by its text
        return f"{self.made} that goes on"


def _join(votes: Votes, new: Foreseen, weight: float) -> Votes:
    """The votes, and after them those that were foreseen."""
    weights = np.concatenate([votes.weights, np.full(len(new.task), weight)])
    return replace(
        votes,
        task=np.concatenate([votes.task, new.task]),
        worker=np.concatenate([votes.worker, new.worker]),
        label=np.concatenate([votes.label, new.label]),
        weight=weights, seconds=None, time=None,
    )  # fmt: skip


def _look(votes: Votes, now: Votes, truth: Codes | None, history: list[Scores]) -> Round:
    """What a round was trained on, beyond the votes that were given."""
    made = now.take(slice(len(votes), None))
    real, unreal = count(votes), count(made)
    unknown = np.full(len(votes.tasks), -1, np.int32) if truth is None else truth
    return Round(
        unreal.tolist(), ratio(real), ratio(unreal), ratio(real + unreal),
        *quality(made, unknown, majority(real)), max(history, key=lambda h: h.get("score", h["epoch"])),
    )  # fmt: skip
