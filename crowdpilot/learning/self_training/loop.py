"""Self-training: rounds of training on the votes and on pseudo-votes that the method itself predicts."""

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
from crowdpilot.learning.self_training.class_imbalance import (
    class_counts,
    imbalance_ratio,
    majority_classes,
    pseudo_vote_quality,
)
from crowdpilot.learning.self_training.pseudo_votes import (
    SELECTIONS,
    PseudoVotes,
    Selection,
    predict_missing_votes,
    select_pseudo_votes,
)
from crowdpilot.learning.training.loop import Scores
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.option_strings import choose
from crowdpilot.votes import Votes


class Round(NamedTuple):
    """What one round of self-training was trained on, and its scores: plain numbers for a file or a plot."""

    pseudo_votes: list[float]  # of each class; none in round 0, which is the base
    imbalance_votes: float  # imbalance ratio R of the votes,
    imbalance_pseudo_votes: float  # of the pseudo-votes,
    imbalance_all: float  # and of both
    precision: float  # of pseudo-votes on majority classes, see `PseudoVoteQuality`; NaN without truth
    recall: float  # of pseudo-votes on minority classes
    scores: Scores  # of the best epoch


class SelfTrainingResult(NamedTuple):
    """The trained method, and the scores of all rounds."""

    method: Method  # of the best round
    history: list[Scores]  # of all epochs of all rounds
    rounds: list[Round]
    best_round: int  # the number of that round; 0 is the base


@dataclass(frozen=True)
class SelfTraining:
    """Rounds of training on the votes and on pseudo-votes for the missing pairs of task and worker.

    Round 0 trains the base method on the votes. Each later round predicts the missing votes, adds some
    of these pseudo-votes, and trains again. Adding the most confident ones makes frequent classes ever
    more frequent; "dasc" (distribution aware self-training) adds the most confident ones of each class,
    and more of the rare classes.

    Parameters
    ----------
    selection
        "dasc"; "confidence", the most confident pseudo-votes of all; or "random".
    add
        How many pseudo-votes each round adds: a whole number, or a share of all missing votes.
    rounds
        How many rounds follow round 0; fewer if there is nothing left to add.
    accumulate
        Keep the pseudo-votes of earlier rounds. If not, each round predicts all missing votes again.
    warm_start
        Each round starts from the weights of the last. If not, from new random ones.
    weight
        The weight of a pseudo-vote; that of a vote is 1.

    References
    ----------
    Shi, Li and Huang, Learning from crowds with sparse and imbalanced annotations, Machine Learning
    112, 2023. https://doi.org/10.1007/s10994-022-06185-w
    """

    selection: Selection = "dasc"
    add: float = 0.15
    rounds: int = 6
    accumulate: bool = True
    warm_start: bool = True
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection is {self.selection!r}, expected one of {', '.join(SELECTIONS)}")
        if not (self.add > 0 and (isinstance(self.add, int) or self.add <= 1)):
            raise ValueError(f"add is {self.add}, expected a whole number above 0 or a share of at most 1.0")
        if self.rounds < 1:
            raise ValueError(f"rounds is {self.rounds}, expected 1 or more")
        if not 0 < self.weight < np.inf:
            raise ValueError(f"weight is {self.weight}, expected a number above 0")

    def run(
        self, procedure: TrainingProcedure, rows: Rows, votes: Votes, truth: Codes | None = None
    ) -> SelfTrainingResult:
        """Train round 0 and all rounds of self-training.

        Parameters
        ----------
        procedure
            How each round is trained. With validation data, the round that is best on them is kept, with
            its best epoch; otherwise the last one.
        rows, votes
            The training data: row *i* is task *i*.
        truth
            The code of the true class of each task, (tasks,), -1 where it is unknown; `votes.gold` if not
            given. It is only used to measure the quality of the pseudo-votes.
        """
        truth = votes.gold if truth is None else truth
        add = self._pseudo_votes_per_round(votes)
        training_votes, (method, history) = votes, procedure.train(rows, votes, "round0")
        rounds = [_describe(votes, training_votes, truth, history)]
        best, best_round, epochs = method, 0, [{"round": 0.0} | scores for scores in history]
        for number in range(1, self.rounds + 1):
            before = training_votes if self.accumulate else votes
            rng = np.random.default_rng([procedure.training.seed, number])
            missing = predict_missing_votes(method, rows, before)
            new = select_pseudo_votes(missing, self.selection, add, len(votes.classes), rng)
            if len(new.task) == 0:
                break
            training_votes = _join(before, new, self.weight)
            step = procedure
            if self.warm_start:
                step = procedure.with_changes(method=_WarmStart(procedure.method, method))
            method, history = step.train(rows, training_votes, f"round{number}")
            epochs += [{"round": float(number)} | scores for scores in history]
            rounds.append(_describe(votes, training_votes, truth, history))
            if rounds[-1].scores.get("score", np.inf) > rounds[best_round].scores.get("score", -np.inf):
                best, best_round = method, number
        return SelfTrainingResult(best, epochs, rounds, best_round)

    def _pseudo_votes_per_round(self, votes: Votes) -> int:
        if isinstance(self.add, int):
            return self.add
        pairs = np.unique(votes.task.astype(np.int64) * len(votes.workers) + votes.worker)
        return max(1, round(self.add * (len(votes.tasks) * len(votes.workers) - len(pairs))))


def parse_self_training(text: str) -> SelfTraining:
    """The self-training that a text such as `dasc[add=10000,rounds=5]` stands for.

    Examples
    --------
    >>> parse_self_training("dasc[add=10000,rounds=5]")
    SelfTraining(selection='dasc', add=10000, rounds=5, accumulate=True, warm_start=True, weight=1.0)
    """
    known: dict[str, Callable[..., SelfTraining]] = {name: partial(SelfTraining, name) for name in SELECTIONS}
    settings, options = choose(text, known, "self-training")
    return settings(**options)


@dataclass(frozen=True)
class _WarmStart:
    """Makes a method with the weights of another one; what is computed from the votes is its own."""

    base: str | MakeMethod
    trained: Method

    def __call__(self, net: nn.Module, votes: Votes) -> Method:
        method = find_method(self.base)(net, votes)
        buffers = {f"net.{name}": buffer for name, buffer in self.trained.net.named_buffers()}
        method.load_state_dict({**dict(self.trained.named_parameters()), **buffers}, strict=False)
        return method

    def __str__(self) -> str:  # identifies the method in a checkpoint
        return f"{self.base} with a warm start"


def _join(votes: Votes, new: PseudoVotes, weight: float) -> Votes:
    """The votes followed by the pseudo-votes."""
    weights = np.concatenate([votes.weights, np.full(len(new.task), weight)])
    return replace(
        votes,
        task=np.concatenate([votes.task, new.task]),
        worker=np.concatenate([votes.worker, new.worker]),
        label=np.concatenate([votes.label, new.label]),
        weight=weights, seconds=None, time=None,
    )  # fmt: skip


def _describe(votes: Votes, training_votes: Votes, truth: Codes | None, history: list[Scores]) -> Round:
    """The pseudo-votes and scores of a round that was trained on `training_votes`."""
    pseudo = training_votes.take(slice(len(votes), None))
    real, added = class_counts(votes), class_counts(pseudo)
    unknown = np.full(len(votes.tasks), -1, np.int32) if truth is None else truth
    return Round(
        added.tolist(), imbalance_ratio(real), imbalance_ratio(added), imbalance_ratio(real + added),
        *pseudo_vote_quality(pseudo, unknown, majority_classes(real)),
        max(history, key=lambda h: h.get("score", h["epoch"])),
    )  # fmt: skip


def run_training(
    self_training: str | None,
    procedure: TrainingProcedure,
    rows: Rows,
    votes: Votes,
    truth: Codes | None = None,
) -> SelfTrainingResult:
    """Train once, or with self-training of this name."""
    if self_training is not None:
        return parse_self_training(self_training).run(procedure, rows, votes, truth)
    return SelfTrainingResult(*procedure.train(rows, votes), [], 0)
