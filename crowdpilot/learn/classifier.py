"""CrowdClassifier: scikit-learn's contract, with votes in place of labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from crowdpilot import metrics
from crowdpilot.arrays import Floats, Names, softmax
from crowdpilot.learn.answers import align, to_votes
from crowdpilot.learn.batches import Rows
from crowdpilot.learn.choosing import MakeMethod, Network
from crowdpilot.learn.cost import Balance, Cost
from crowdpilot.learn.inputs import to_rows
from crowdpilot.learn.method import Method
from crowdpilot.learn.recipe import Recipe
from crowdpilot.learn.training import SWEEP, Optimizer, Precision, Schedule, Scores, Training
from crowdpilot.votes import Votes

TIEBREAK = 1e-4  # of epochs with equal accuracy, the one with the smaller log-loss is better


class CrowdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from the votes of a crowd.

    Parameters
    ----------
    network
        A name of `NETWORKS` with options in brackets, such as "mlp[hidden=256]"; any module from
        rows of X to one logit for each class; or a function that makes one, given the numbers of
        features and classes.
    method
        A name of `METHODS` with options in brackets, such as "conal[scale=1e-4]".
    balance
        What is done for rare classes: "none", "resample", "reweight", "focal" or "cb_focal".
    epochs, batch_size, lr, weight_decay, optimizer, schedule, patience, precision, seed
        See `Training`.
    device
        "auto" takes a GPU if there is one.
    threads
        How many threads torch may use on the processor.
    progress
        Show a bar on standard error.
    checkpoint
        A folder in which the state is kept after each epoch. A run that was stopped goes on from
        there when it is started again, and ends as if it had not been stopped.

    Attributes
    ----------
    classes_
        The classes, in the order of the columns of `predict_proba`.
    method_
        The trained method; `method_.net` is the network.
    history_
        Scores of each epoch.
    votes_
        The votes it was trained on.

    Examples
    --------
    >>> from crowdpilot.simulate import one_coin
    >>> votes, truth = one_coin(tasks=300, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    >>> X = np.eye(2)[truth] + np.random.default_rng(0).normal(0, 0.3, (300, 2))
    >>> model = CrowdClassifier("linear", "crowdlayer", epochs=20, lr=0.05).fit(X, votes)
    >>> bool((model.predict(X) == truth).mean() > 0.9)
    True
    """

    def __init__(
        self,
        network: Network = "mlp",
        method: str | MakeMethod = "crowdlayer",
        *,
        balance: Balance = "none",
        epochs: int = 100,
        batch_size: int = 64,
        lr: float = 1e-3,
        weight_decay: float = 5e-4,
        optimizer: Optimizer = "adam",
        schedule: Schedule = "constant",
        patience: int | None = None,
        precision: Precision = "full",
        seed: int = 0,
        device: str = "auto",
        threads: int = 1,
        progress: bool = False,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.network = network
        self.method = method
        self.balance = balance
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.optimizer = optimizer
        self.schedule = schedule
        self.patience = patience
        self.precision = precision
        self.seed = seed
        self.device = device
        self.threads = threads
        self.progress = progress
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        validation: tuple[Any, Any] | None = None,
        tasks: Sequence[Any] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Learn from votes.

        Parameters
        ----------
        X
            One row for each task.
        y
            `Votes`; or a matrix (tasks, workers) with -1 where there is no vote; or plain labels.
        validation
            X and the true labels (or votes) of other rows: the epoch that is best on them is kept.
        tasks
            The name of the task of each row, if they are not in the order of `votes.tasks`. Rows
            without votes are fine.
        classes
            All classes in their order, if y is a matrix or labels.
        """
        with _threads(self.threads):
            rows = to_rows(X, self._device)
            votes = align(y, tasks) if tasks is not None else to_votes(y, len(rows), classes)
            self.votes_ = votes
            self.classes_ = votes.classes
            self.method_, self.history_ = self._recipe(votes, validation).learn(rows, votes)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (rows, classes)."""
        check_is_fitted(self, "method_")
        with _threads(self.threads):
            return _probs(self.method_, to_rows(X, self._device))

    def predict(self, X: Any) -> Names:
        """The most probable class of each row."""
        labels: Names = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of labels that are foreseen: of the true ones, or of all votes if y holds votes."""
        rows = to_rows(X, self._device)
        with _threads(self.threads):
            return _scores(_probs(self.method_, rows), to_votes(y, len(rows), self.classes_.tolist()))[
                "accuracy"
            ]

    @property
    def _device(self) -> torch.device:
        wanted = self.device
        if wanted == "auto":
            wanted = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(wanted)

    def _recipe(self, votes: Votes, validation: tuple[Any, Any] | None) -> Recipe:
        loop = {name: getattr(self, name) for name in Training.__dataclass_fields__}
        return Recipe(
            self.network, self.method, Cost(self.balance), Training(**loop), self._device,
            validate=None if validation is None else self._validate(votes, *validation),
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
        )  # fmt: skip

    def _validate(self, votes: Votes, X: Any, y: Any) -> Any:
        rows = to_rows(X, self._device)
        known = to_votes(y, len(rows), votes.classes.tolist())

        def validate(method: Method) -> Scores:
            scores = _scores(_probs(method, rows), known)
            score = scores["accuracy"] - TIEBREAK * scores["log_loss"]
            return {f"val_{name}": value for name, value in scores.items()} | {"score": score}

        return validate


def _probs(method: Method, rows: Rows) -> Floats:
    """What the method says of each row, as it is deployed."""
    method.eval()
    parts = torch.arange(len(rows)).split(SWEEP)
    device = next(method.parameters()).device
    with torch.no_grad():
        logits = [method(rows.take(part, train=False).to(device)).float().cpu() for part in parts]
    return softmax(torch.cat(logits).numpy().astype(np.float64))


def _scores(probs: Floats, votes: Votes) -> Scores:
    """How well probabilities foresee votes."""
    said, truth = probs[votes.task], votes.label
    return {
        "accuracy": metrics.accuracy(truth, said.argmax(axis=1)),
        "log_loss": metrics.log_loss(truth, said),
        "ece": metrics.ece(truth, said),
    }


@contextmanager
def _threads(count: int) -> Iterator[None]:
    was = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(was)
