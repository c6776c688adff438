"""Training procedure: from rows and votes to a trained method, repeatable with the same settings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, Self

import torch

from crowdpilot.learning.data.batches import Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import MakeMethod, Network, find_method, make_network
from crowdpilot.learning.training.checkpoint import Checkpoint
from crowdpilot.learning.training.loop import EpochCallback, Scores, Training, train
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.torch_runtime import seeded
from crowdpilot.votes import Votes

MAX_DIGEST_ROWS = 64  # rows of X whose digest a checkpoint holds


@dataclass(frozen=True)
class TrainingProcedure:
    """How to train: everything but the data.

    Parameters
    ----------
    network, method
        What is trained; names, or what the names stand for.
    vote_loss, training, device
        The loss of a vote, the settings of the loop, and where it runs.
    standardize
        Whether the input is standardized first.
    validate
        Scores of a method on validation data.
    checkpoint
        A folder with a checkpoint of each stage.
    on_epoch
        Called with the name of the stage and the scores of each epoch.
    """

    network: Network
    method: str | MakeMethod
    vote_loss: VoteLoss
    training: Training
    device: torch.device
    standardize: bool = True
    validate: Callable[[Method], Scores] | None = None
    checkpoint: Path | None = None
    on_epoch: Callable[[str, Scores], None] | None = None

    @classmethod
    def from_settings(
        cls,
        settings: Mapping[str, Any],
        device: torch.device,
        validate: Callable[[Method], Scores] | None,
        on_epoch: Callable[[str, Scores], None],
    ) -> Self:
        """The procedure by the parameters of a `CrowdClassifier`."""
        loop = {name: settings[name] for name in Training.__dataclass_fields__}
        return cls(
            settings["network"], settings["method"], VoteLoss(settings["balance"]), Training(**loop), device,
            standardize=settings["standardize"], validate=validate, on_epoch=on_epoch,
            checkpoint=None if settings["checkpoint"] is None else Path(settings["checkpoint"]),
        )  # fmt: skip

    def train(
        self, rows: Rows, votes: Votes, stage: str = "train", *, callbacks: Sequence[EpochCallback] = ()
    ) -> tuple[Method, list[Scores]]:
        """A method trained on these votes, and the scores of its epochs.

        The same procedure, rows, votes and stage give the same method, independent of earlier training.
        """
        with seeded(self.training.seed, 0, self.device):
            net = make_network(self.network, rows, len(votes.classes), standardize=self.standardize)
            method = find_method(self.method)(net, votes)
        method.vote_loss = self.vote_loss.for_class_counts(method.class_counts)
        batches = Batches(rows, votes, self.device)
        on_epoch = self.on_epoch
        history = train(
            method, batches, self.training,
            validate=self.validate, callbacks=callbacks, checkpoint=self._checkpoint(rows, votes, stage),
            on_epoch=None if on_epoch is None else lambda scores: on_epoch(stage, scores),
        )  # fmt: skip
        return method, history

    def with_changes(self, **changes: object) -> TrainingProcedure:
        """The same procedure with other settings; those of the training loop by their own names."""
        loop = {name: changes.pop(name) for name in list(changes) if hasattr(self.training, name)}
        return replace(self, training=replace(self.training, **loop), **changes)  # type: ignore[arg-type]  # names are checked by replace

    def _checkpoint(self, rows: Rows, votes: Votes, stage: str) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        return Checkpoint(self.checkpoint / f"{stage}.safetensors", self._describe(rows, votes))

    def _describe(self, rows: Rows, votes: Votes) -> dict[str, Any]:
        """What identifies a run in its checkpoint, by the names of the file."""
        t = self.training
        return {
            "network": _name(self.network), "method": _name(self.method), "balance": self.vote_loss.balance,
            "standardize": self.standardize, "epochs": t.epochs, "batch_size": t.batch_size, "lr": t.lr,
            "weight_decay": t.weight_decay, "optimizer": t.optimizer, "momentum": t.momentum,
            "schedule": t.schedule, "milestones": t.milestones, "lr_decay": t.lr_decay,
            "patience": t.patience, "precision": t.precision, "seed": t.seed, "device": self.device.type,
            "votes": _digest(votes), "X": _digest_rows(rows),
        }  # fmt: skip


def _name(part: object) -> str:
    """What identifies a network or method in this Python process and the next."""
    if isinstance(part, partial):
        return f"{_name(part.func)}{part.args}{part.keywords}"
    return part.__qualname__ if isinstance(part, (FunctionType, type)) else str(part)


def _digest(votes: Votes) -> str:
    digest = hashlib.sha256()
    for part in (votes.task, votes.worker, votes.label, votes.weights, votes.gold):
        digest.update(b"" if part is None else part.tobytes())
    return digest.hexdigest()


def _digest_rows(rows: Rows) -> str:
    """A digest of evenly spaced rows, which differs for other data."""
    some = torch.linspace(0, len(rows) - 1, min(len(rows), MAX_DIGEST_ROWS)).long()
    return hashlib.sha256(rows.take(some, train=False).cpu().numpy().tobytes()).hexdigest()
