"""One recipe: from rows and votes to a trained method, as often as a procedure needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from crowdpilot.learn.batches import Batches, Rows
from crowdpilot.learn.checkpoint import Checkpoint
from crowdpilot.learn.choosing import MakeMethod, Network, find_method, make_network
from crowdpilot.learn.cost import Cost
from crowdpilot.learn.method import Method
from crowdpilot.learn.training import Scores, Training, Watcher, seeded, train
from crowdpilot.votes import Votes


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
            validate=self.validate, watchers=watchers, checkpoint=self._checkpoint(votes, stage),
            tell=None if tell is None else lambda scores: tell(stage, scores),
        )  # fmt: skip
        return method, history

    def _checkpoint(self, votes: Votes, stage: str) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        seen = hashlib.sha256()
        for part in (votes.task, votes.worker, votes.label, votes.weights):
            seen.update(part.tobytes())
        about = {
            "network": str(self.network), "method": str(self.method), "balance": self.cost.balance,
            **asdict(self.training), "device": self.device.type, "votes": seen.hexdigest(),
        }  # fmt: skip
        return Checkpoint(self.checkpoint / f"{stage}.safetensors", about)

    def but(self, **changes: object) -> Recipe:
        """The same recipe with other settings; those of the training loop by their own names."""
        loop = {name: changes.pop(name) for name in list(changes) if hasattr(self.training, name)}
        return replace(self, training=replace(self.training, **loop), **changes)  # type: ignore[arg-type]  # names are checked by replace
