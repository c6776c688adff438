"""One recipe: from rows and votes to a trained method, as often as a procedure needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import FunctionType

import torch

from crowdpilot.learning.data.batches import Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import MakeMethod, Network, find_method, make_network
from crowdpilot.learning.training.checkpoint import Checkpoint
from crowdpilot.learning.training.loop import Scores, Training, Watcher, seeded, train
from crowdpilot.learning.vote_loss import Cost
from crowdpilot.votes import Votes

GLANCE = 64  # rows of X that a checkpoint remembers


@dataclass(frozen=True)
class Recipe:
    """How to train: everything but the data.

    Parameters
    ----------
    network, method
        What is trained; names, or what the names stand for.
    cost, training, device
        The price of an error, the settings of the loop, and where it runs.
    standardize
        Whether the input is brought to a common scale first.
    validate
        Scores of a method on data that are not trained on.
    checkpoint
        A folder where each stage keeps its state.
    tell
        Is told the name of the stage and the scores of each epoch.
    """

    network: Network
    method: str | MakeMethod
    cost: Cost
    training: Training
    device: torch.device
    standardize: bool = True
    validate: Callable[[Method], Scores] | None = None
    checkpoint: Path | None = None
    tell: Callable[[str, Scores], None] | None = None

    def learn(
        self, rows: Rows, votes: Votes, stage: str = "train", *, watchers: Sequence[Watcher] = ()
    ) -> tuple[Method, list[Scores]]:
        """A method trained on these votes, and its history.

        The same recipe, rows, votes and stage give the same method, whatever was trained before.
        """
        with seeded(self.training.seed, 0, self.device):
            net = make_network(self.network, rows, len(votes.classes), standardize=self.standardize)
            method = find_method(self.method)(net, votes)
        method.cost = self.cost.fitted(method.class_counts)
        batches = Batches(rows, votes, self.device)
        tell = self.tell
        history = train(
            method, batches, self.training,
            validate=self.validate, watchers=watchers, checkpoint=self._checkpoint(rows, votes, stage),
            tell=None if tell is None else lambda scores: tell(stage, scores),
        )  # fmt: skip
        return method, history

    def _checkpoint(self, rows: Rows, votes: Votes, stage: str) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        about = {
            "network": _name(self.network), "method": _name(self.method), "balance": self.cost.balance,
            "standardize": self.standardize, **asdict(self.training), "device": self.device.type,
            "votes": _digest(votes), "X": _glance(rows),
        }  # fmt: skip
        return Checkpoint(self.checkpoint / f"{stage}.safetensors", about)

    def but(self, **changes: object) -> Recipe:
        """The same recipe with other settings; those of the training loop by their own names."""
        loop = {name: changes.pop(name) for name in list(changes) if hasattr(self.training, name)}
        return replace(self, training=replace(self.training, **loop), **changes)  # type: ignore[arg-type]  # names are checked by replace


def _name(part: object) -> str:
    """What tells a network or method from others, in this run of Python and the next."""
    if isinstance(part, partial):
        return f"{_name(part.func)}{part.args}{part.keywords}"
    return part.__qualname__ if isinstance(part, (FunctionType, type)) else str(part)


def _digest(votes: Votes) -> str:
    seen = hashlib.sha256()
    for part in (votes.task, votes.worker, votes.label, votes.weights, votes.gold):
        seen.update(b"" if part is None else part.tobytes())
    return seen.hexdigest()


def _glance(rows: Rows) -> str:
    """A digest of some rows: enough to tell other data."""
    some = torch.linspace(0, len(rows) - 1, min(len(rows), GLANCE)).long()
    return hashlib.sha256(rows.take(some, train=False).cpu().numpy().tobytes()).hexdigest()
