"""Classifiers trained on votes, with PyTorch."""

from __future__ import annotations

from typing import Any

from crowdpilot.io import as_votes
from crowdpilot.optional_packages import needed_for

with needed_for("training"):
    import torch  # noqa: F401  # the package to name first

    from crowdpilot.learning.classifier import CrowdClassifier
    from crowdpilot.learning.data.frozen_features import Backbone
    from crowdpilot.learning.data.labels import find_tasks, numbered
    from crowdpilot.learning.method import Method
    from crowdpilot.learning.methods import METHODS
    from crowdpilot.learning.networks import NETWORKS
    from crowdpilot.learning.pruning.scores import SCORES
    from crowdpilot.learning.registry import MakeMethod, Network
    from crowdpilot.learning.self_training.loop import SelfTraining
    from crowdpilot.learning.training.loop import Training
    from crowdpilot.learning.training.tuning import tune

__all__ = [
    "METHODS",
    "NETWORKS",
    "SCORES",
    "CrowdClassifier",
    "Method",
    "SelfTraining",
    "Training",
    "train",
    "tune",
]


def train(
    votes: Any,
    X: Any,
    *,
    network: Network = "mlp",
    method: str | MakeMethod = "mutual",
    backbone: Backbone | None = None,
    calibrate: str | None = None,
    epochs: int = 100,
    lr: float = 1e-3,
    seed: int = 0,
) -> CrowdClassifier:
    """A classifier trained on the votes of a crowd; `CrowdClassifier` has all settings.

    Parameters
    ----------
    votes
        Votes on the rows of X, or what `crowdpilot.read` reads: a file, a data frame, records. The tasks are
        numbered like the rows from 0, or in their order, unless X names them: in a column, or in the index of
        a data frame.
    X
        The content of tasks: an array of features, texts, or images.
    network, method, backbone, calibrate, epochs, lr, seed
        As in `CrowdClassifier`.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=300, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    >>> X = truth[:, None].astype(float)  # one feature, which tells the class
    >>> model = train(votes, X, network="linear", epochs=20, lr=0.05)
    >>> bool((model.predict(X) == truth).mean() > 0.9)
    True
    """
    model = CrowdClassifier(
        network, method, backbone=backbone, calibrate=calibrate, epochs=epochs, lr=lr, seed=seed
    )
    votes, rows = as_votes(votes), model.prepare(X)
    names = find_tasks(rows, X, votes)
    return model.fit(rows, votes, tasks=numbered(votes, len(rows)) if names is None else names)
