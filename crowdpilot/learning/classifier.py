"""CrowdClassifier: a scikit-learn classifier that is trained on votes in place of labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from crowdpilot.arrays import Floats, Names
from crowdpilot.calibration import find_map
from crowdpilot.learning.data import inputs
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.frozen_features import Backbone
from crowdpilot.learning.data.labels import to_codes, votes_on
from crowdpilot.learning.held_out_calibration import CalibrateBy, calibrate
from crowdpilot.learning.model_file import SavedModel, load_model, save_model
from crowdpilot.learning.prediction import posterior, predict_probs, vote_accuracy
from crowdpilot.learning.pruning.scores import find_score
from crowdpilot.learning.registry import MakeMethod, Network, find_backbone
from crowdpilot.learning.self_training.loop import run_training
from crowdpilot.learning.training.loop import Optimizer, Precision, Schedule
from crowdpilot.learning.training.loss import Balance
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.learning.training.progress import OnEpoch, Progress
from crowdpilot.learning.training.torch_runtime import find_device, use_threads
from crowdpilot.learning.training.validation import validator


class CrowdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from the votes of a crowd.

    Parameters
    ----------
    network
        A name of `NETWORKS` with options in brackets, such as "mlp[hidden=256]"; any module from X to
        one logit for each class; or a function that makes one of the numbers of features and classes.
    method
        A name of `METHODS` with options in brackets, such as "conal[scale=1e-4]".
    backbone
        A frozen encoder of X into features: a network of torchvision by name; for texts "minilm",
        "wordllama", or "tfidf", which is fitted to them; or any module or function.
    standardize
        Whether columns of numbers are standardized first.
    prune
        Remove the most ambiguous tasks before training, such as "waum[alpha=.01]"; see `SCORES`.
    self_training
        Train on pseudo-votes too, such as "dasc[rounds=5]"; see `SelfTraining`.
    calibrate
        Calibrate probabilities with a map of `crowdpilot.calibration`, such as "temperature". It is
        fitted on votes alone, by cross-validation: the classifier is trained six times instead of once.
    calibrate_by
        What the map is fitted on: "best" chooses between "fusion" and "one_vote" by held-out votes; also
        "votes" and "posterior". See `calibrate`.
    balance
        How imbalanced classes are treated; see `VoteLoss`.
    epochs, ..., seed
        See `Training`.
    device, threads, progress
        Where torch runs ("auto" takes a GPU if there is one), its CPU threads, and whether bars are shown.
    checkpoint
        A folder for the state after each epoch. A run that was interrupted and is started again resumes
        from there, and ends as if it had not been interrupted.

    Attributes
    ----------
    classes_
        All classes of the votes, in the order of the columns of `predict_proba`.
    n_features_in_, feature_names_in_
        Numbers in a row of X, and the names of its columns if X is a data frame.
    method_
        The trained method; `method_.net` is the network.
    history_
        Scores of each epoch.
    backbone_
        The backbone, as it was fitted.
    votes_
        The votes it was trained on, tasks in the order of the rows of X.
    posterior_
        The posterior of each training task given its votes and content, (tasks, classes).
    pruned_
        The names of the tasks that were removed.
    rounds_
        The pseudo-votes and scores of each round of self-training.
    map_, held_out_
        The fitted calibration map, or None; and the held-out predictions it was fitted on, (tasks,
        classes), NaN for tasks without votes.
    seconds_
        The time of `fit`.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
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
        calibrate: str | None = None,
        calibrate_by: CalibrateBy = "best",
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
        size: int = inputs.DEFAULT_IMAGE_SIZE,
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
        self.calibrate = calibrate
        self.calibrate_by = calibrate_by
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
        tasks: Sequence[Any] | Names | None = None,
        classes: Sequence[Any] | None = None,
        truth: Any = None,
    ) -> Self:
        """Train on votes.

        Parameters
        ----------
        X
            One row for each task.
        y
            `Votes`; a data frame with columns for task, worker and label; a matrix (tasks, workers) with -1
            or NaN where there is no vote; or plain labels.
        validation
            X and the true labels (or votes) of other rows: the epoch that is best on them is kept.
        tasks
            The task of each row, if not in the order of `votes.tasks`. Rows without votes are fine.
        classes
            All classes in their order, if y is a matrix or labels.
        truth
            The true label of each row, if known, to measure the quality of pseudo-votes (`rounds_`).
        """
        start = time.perf_counter()
        map = None if self.calibrate is None else find_map(self.calibrate)
        train = partial(run_training, self.self_training)
        with use_threads(self.threads), Progress(self.epochs, shown=self.progress) as progress:
            rows = self.prepare(X)
            self.backbone_ = getattr(rows, "backbone", None) or self.backbone
            votes = votes_on(rows, y, classes, tasks, X)
            codes = None if truth is None else to_codes(truth, len(rows), votes)
            procedure = self._procedure(votes.classes, validation, progress.on_epoch)
            pruned = None if self.prune is None else find_score(self.prune).prune(procedure, rows, votes)
            training = votes if pruned is None else pruned.votes
            self.method_, self.history_, self.rounds_, _ = train(procedure, rows, training, codes)
            self.posterior_ = posterior(self.method_, rows, votes)
            self.map_ = None
            if map is not None:
                self.map_, self.held_out_ = calibrate(
                    map, self.calibrate_by, train, procedure, rows, training
                )
        self.pruned_ = votes.tasks[:0] if pruned is None else votes.tasks[pruned.dropped]
        self.votes_, self.classes_, self.shape_ = training, votes.classes, inputs.shape_of(rows)
        self.n_features_in_ = int(np.prod(self.shape_))
        inputs.remember_columns(self, rows)
        self.seconds_ = time.perf_counter() - start
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def prepare(self, X: Any, backbone: Backbone | None = None) -> Rows:
        """X as rows, which may be passed in place of X, so that several fits share features.

        `backbone` is the fitted one of another classifier; see `backbone_`.
        """
        device, backbone = find_device(self.device), backbone or find_backbone(self.network, self.backbone)
        return inputs.to_rows(X, device, size=self.size, augment=self.augment, backbone=backbone)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (rows, classes)."""
        check_is_fitted(self, "method_")
        with use_threads(self.threads):
            rows = self.prepare(X, self.backbone_)
            inputs.check_rows(rows, self.shape_, getattr(self, "feature_names_in_", None))
            probs = predict_probs(self.method_, rows)
        return probs if self.map_ is None else self.map_(probs)

    def predict(self, X: Any) -> Names:
        """The most probable class of each row."""
        codes = self.predict_proba(X).argmax(axis=1)
        labels: Names = self.classes_[codes]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy by the true labels in y, or by all votes if y holds votes."""
        check_is_fitted(self, "method_")
        rows = self.prepare(X, self.backbone_)
        votes = votes_on(rows, y, self.classes_.tolist(), x=X)
        return vote_accuracy(self.predict_proba(rows), votes, sample_weight)

    def save(self, path: str | Path) -> None:
        """Write it to one file, without the votes; `load` reads it."""
        check_is_fitted(self, "method_")
        rest = self.classes_, self.votes_.workers, self.history_, self.backbone_, self.map_
        save_model(path, SavedModel(self.get_params(deep=False), self.method_, self.shape_, *rest))

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
        path, device
            The file, and where it runs.
        network, method, backbone
            The modules or functions it was trained with, if it was not by their names.
        """
        model = load_model(
            path, device=find_device(device), network=network, method=method,
            backbone=None if isinstance(backbone, str) else backbone,
        )  # fmt: skip
        self = cls(**{**model.settings, "device": device})
        self.method_, self.history_, self.backbone_ = model.method, model.history, model.backbone
        self.votes_, self.classes_ = model.votes, model.classes
        self.shape_, self.map_ = model.shape, model.map
        self.n_features_in_ = int(np.prod(model.shape))
        return self

    def _procedure(
        self, classes: Names, validation: tuple[Any, Any] | None, on_epoch: OnEpoch
    ) -> TrainingProcedure:
        validate = None
        if validation is not None:
            rows = self.prepare(validation[0], self.backbone_)
            validate = validator(rows, votes_on(rows, validation[1], classes.tolist(), x=validation[0]))
        settings = self.get_params(deep=False)
        return TrainingProcedure.from_settings(settings, find_device(self.device), validate, on_epoch)
