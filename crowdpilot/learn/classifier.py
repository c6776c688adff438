"""CrowdClassifier: scikit-learn's contract, with votes in place of labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from crowdpilot import metrics
from crowdpilot.arrays import Floats, Names
from crowdpilot.learn.answers import align, known_codes, to_votes
from crowdpilot.learn.backbone import Backbone
from crowdpilot.learn.batches import Rows
from crowdpilot.learn.choosing import MakeMethod, Network
from crowdpilot.learn.cost import Balance, Cost
from crowdpilot.learn.foretelling import foretell, posterior
from crowdpilot.learn.inputs import SIZE, check_shape, shape_of, to_rows
from crowdpilot.learn.machine import find_device, threads
from crowdpilot.learn.method import Method
from crowdpilot.learn.progress import Progress, Tell
from crowdpilot.learn.pruning import prune
from crowdpilot.learn.recipe import Recipe
from crowdpilot.learn.saving import Model, load_model, save_model
from crowdpilot.learn.self_training import Round, find_self_training
from crowdpilot.learn.training import Optimizer, Precision, Schedule, Scores, Training
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
    backbone
        What turns X into features first, once: a network of torchvision by name, "minilm" for
        texts, or any module or function. The network is then trained on the features.
    standardize
        Whether columns of numbers are brought to a common scale first.
    prune
        Leave out the most ambiguous tasks before learning, such as "waum[alpha=.01]"; see `SCORES`.
    self_training
        Let the method foresee missing votes and learn from them, such as "dasc[rounds=5]"; see
        `SelfTraining`.
    balance
        What is done for rare classes: "none", "resample", "reweight", "focal" or "cb_focal".
    epochs, batch_size, lr, weight_decay, optimizer, momentum
        See `Training`, as for the next ones.
    schedule, milestones, lr_decay, patience, precision, seed
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
        The votes it was trained on, tasks in the order of the rows of X.
    posterior_
        The probability of each class of each task given its votes and its content, (tasks,
        classes).
    pruned_
        The names of the tasks that were left out.
    rounds_
        What each round of self-training was trained on.
    seconds_
        How long it took.

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
        method: str | MakeMethod = "mutual",
        *,
        backbone: Backbone | None = None,
        standardize: bool = True,
        prune: str | None = None,
        self_training: str | None = None,
        balance: Balance = "none",
        epochs: int = 100,
        batch_size: int = 64,
        lr: float = 1e-3,
        weight_decay: float = 5e-4,
        optimizer: Optimizer = "adam",
        momentum: float = 0.9,
        schedule: Schedule = "constant",
        milestones: tuple[int, ...] = (),
        lr_decay: float = 0.1,
        patience: int | None = None,
        precision: Precision = "full",
        seed: int = 0,
        augment: bool = False,
        size: int = SIZE,
        device: str = "auto",
        threads: int = 1,
        progress: bool = False,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.network = network
        self.method = method
        self.backbone = backbone
        self.standardize = standardize
        self.prune = prune
        self.self_training = self_training
        self.balance = balance
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.optimizer = optimizer
        self.momentum = momentum
        self.schedule = schedule
        self.milestones = milestones
        self.lr_decay = lr_decay
        self.patience = patience
        self.precision = precision
        self.seed = seed
        self.augment = augment
        self.size = size
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
        truth: Any = None,
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
        truth
            The true label of each row, if it is known: it decides nothing, and tells in `rounds_`
            how good the votes are that self-training foresees.
        """
        began = time.perf_counter()
        with threads(self.threads), Progress(self.epochs, shown=self.progress) as progress:
            rows = self._rows(X, train=True)
            names = getattr(rows, "names", None) if tasks is None else tasks
            y = align(y, names) if names is not None and isinstance(y, Votes) else y
            votes = to_votes(y, len(rows), classes)
            codes = None if truth is None else known_codes(truth, len(rows), votes)
            recipe = self._recipe(votes, validation, progress.tell)
            pruned = None if self.prune is None else prune(self.prune, recipe, rows, votes)
            used = votes if pruned is None else pruned.votes
            if self.self_training is None:
                self.method_, self.history_ = recipe.learn(rows, used)
                self.rounds_: list[Round] = []
            else:
                told = find_self_training(self.self_training).run(recipe, rows, used, codes)
                self.method_, self.history_, self.rounds_ = told.method, told.history, told.rounds
            self.posterior_ = posterior(self.method_, rows, votes)
        self.pruned_ = votes.tasks[:0] if pruned is None else votes.tasks[pruned.dropped]
        self.votes_, self.classes_, self.shape_ = used, votes.classes, shape_of(rows)
        self.n_features_in_ = int(np.prod(self.shape_))
        self.seconds_ = time.perf_counter() - began
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (rows, classes)."""
        check_is_fitted(self, "method_")
        with threads(self.threads):
            rows = self._rows(X)
            check_shape(rows, self.shape_)
            return foretell(self.method_, rows)

    def predict(self, X: Any) -> Names:
        """The most probable class of each row."""
        probs = self.predict_proba(X)
        labels: Names = self.classes_[probs.argmax(axis=1)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of labels that are foreseen: of the true ones, or of all votes if y holds votes."""
        probs = self.predict_proba(X)
        votes = to_votes(y, len(probs), self.classes_.tolist())
        weight = None if sample_weight is None else np.asarray(sample_weight)[votes.task]
        return metrics.accuracy(votes.label, probs.argmax(axis=1)[votes.task], weight=weight)

    def save(self, path: str | Path) -> None:
        """Write it to one file, without the votes; `load` reads it."""
        check_is_fitted(self, "method_")
        found = self.method_, self.shape_, self.classes_, self.votes_.workers, self.history_
        save_model(path, Model(self.get_params(deep=False), *found))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        device: str = "auto",
        network: Network | None = None,
        method: MakeMethod | None = None,
        backbone: Backbone | None = None,
    ) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path
            The file.
        device
            Where it runs.
        network, method, backbone
            The modules or functions it was trained with, if it was not by their names.
        """
        model = load_model(
            path, device=find_device(device), network=network, method=method,
            backbone=None if isinstance(backbone, str) else backbone,
        )  # fmt: skip
        self = cls(**{**model.settings, "device": device})
        self.method_, self.history_, self.shape_ = model.method, model.history, model.shape
        self.classes_, self.n_features_in_ = model.classes, int(np.prod(model.shape))
        nothing = np.zeros(0, np.int32)
        self.votes_ = Votes(nothing, nothing, nothing, np.zeros(0, str), model.workers, model.classes)
        return self

    def _rows(self, X: Any, *, train: bool = False) -> Rows:
        return to_rows(
            X, find_device(self.device),
            size=self.size, augment=self.augment and train, backbone=self.backbone,
        )  # fmt: skip

    def _recipe(self, votes: Votes, validation: tuple[Any, Any] | None, tell: Tell) -> Recipe:
        loop = {name: getattr(self, name) for name in Training.__dataclass_fields__}
        return Recipe(
            self.network, self.method, Cost(self.balance), Training(**loop), find_device(self.device),
            standardize=self.standardize,
            validate=None if validation is None else self._validate(votes, *validation),
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            tell=tell,
        )  # fmt: skip

    def _validate(self, votes: Votes, X: Any, y: Any) -> Callable[[Method], Scores]:
        rows = self._rows(X)
        known = to_votes(y, len(rows), votes.classes.tolist())

        def validate(method: Method) -> Scores:
            said, truth = foretell(method, rows)[known.task], known.label
            scores = {
                "val_accuracy": metrics.accuracy(truth, said.argmax(axis=1)),
                "val_log_loss": metrics.log_loss(truth, said),
                "val_ece": metrics.ece(truth, said),
            }
            return scores | {"score": scores["val_accuracy"] - TIEBREAK * scores["val_log_loss"]}

        return validate
