"""Method: the base class of all ways to train a network on the votes of a crowd."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from crowdpilot.arrays import Floats
from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.votes import Votes

EvaluateAll = Callable[[Callable[[Batch], Tensor]], Tensor]  # a function of batches, over all tasks in order
NETWORK = "network/"  # begins the file names of the tensors of the network


class Method(nn.Module):
    """A network with what it needs to be trained on the votes of a crowd.

    `forward` is what is deployed, `loss` is what is trained. Settings are keyword-only arguments
    of the constructor. What is learned is a parameter, and what is computed from it is a buffer, so
    that the state of a method is its `state_dict`.

    Parameters
    ----------
    net
        Any module from inputs to logits, (rows, classes).
    votes
        The votes it will be trained on.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    task_buffers: ClassVar[tuple[str, ...]] = ()  # buffers about the training tasks, of no use afterwards
    uses_gold: ClassVar[bool] = False  # whether `loss` itself uses the known classes of tasks
    file_names: ClassVar[Mapping[str, str]] = {}  # of tensors in saved files, by attribute

    def __init__(self, net: nn.Module, votes: Votes) -> None:
        super().__init__()
        self.net = net
        self.workers, self.classes = len(votes.workers), len(votes.classes)
        self.vote_loss = VoteLoss()
        self.gold = None if votes.gold is None else torch.tensor(votes.gold, dtype=torch.long)
        self.class_counts = torch.as_tensor(votes.cell_sum().sum(axis=0), dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of the classes, (rows, classes)."""
        logits: Tensor = self.net(x)
        return logits

    def loss(self, batch: Batch) -> Tensor:
        """The objective that training minimizes, a scalar."""
        raise NotImplementedError

    def soft_cross_entropy(self, logits: Tensor, target: Tensor) -> Tensor:
        """The vote loss of logits (rows, classes) where each class is a vote of weight `target`."""
        label = torch.arange(self.classes, device=logits.device).expand_as(target)
        return self.vote_loss(logits.log_softmax(dim=-1).flatten(), label.flatten(), target.flatten())

    def loss_with_gold(self, batch: Batch) -> Tensor:
        """The loss plus the cross-entropy of the tasks whose class is known."""
        loss = self.loss(batch)
        if self.gold is None or self.uses_gold:
            return loss
        gold = self.gold.to(batch.task.device)[batch.task]
        if not (gold >= 0).any():
            return loss
        return loss + F.cross_entropy(self(batch.x[gold >= 0]), gold[gold >= 0])

    def confusion(self) -> Tensor:
        """P(worker says a label | class), (workers, true, said)."""
        raise ValueError(f"{self.name} has no model of the workers, so it cannot predict their votes")

    def predict_votes(self, x: Tensor) -> Tensor:
        """P(worker gives a label | x), (rows, workers, classes)."""
        return torch.einsum("nk,wkl->nwl", self(x).softmax(dim=-1), self.confusion())

    def log_prior(self, batch: Batch) -> Tensor:
        """Log-probability of the classes of training tasks given their content alone, (rows, classes)."""
        log_probs: Tensor = self(batch.x).log_softmax(dim=-1)
        return log_probs

    def posterior_vote_weight(self, log_prior: Floats) -> float:
        """The factor of the votes' log-likelihood beside this prior, (tasks, classes)."""
        return 1.0

    def before_epoch(self, epoch: int, epochs: int, evaluate_all: EvaluateAll) -> None:
        """A callback before each epoch of training, such as an E-step and M-step; nothing by default.

        `evaluate_all(f)` is f of all tasks, in their order, with the network in evaluation mode.
        """

    def first_selectable_epoch(self, epochs: int) -> int:
        """The first epoch whose weights validation may keep; later than 0 if training has phases."""
        return 0

    def to_file(self, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """A `state_dict` by the names of tensors in files, which do not depend on those of attributes."""
        return {self._file_name(name): value for name, value in state.items()}

    def from_file(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The reverse of `to_file`."""
        attributes = {name: attribute for attribute, name in self.file_names.items()}
        return {
            f"net.{name.removeprefix(NETWORK)}"
            if name.startswith(NETWORK)
            else attributes.get(name, name): value
            for name, value in tensors.items()
        }

    def _file_name(self, attribute: str) -> str:
        if attribute.startswith("net."):
            return NETWORK + attribute.removeprefix("net.")
        return self.file_names.get(attribute, attribute)


class TargetMethod(Method):
    """A method that trains the network by cross-entropy towards probabilities of the classes of each task."""

    task_buffers = ("target",)
    uses_gold = True

    target: Tensor  # (tasks, classes)

    def loss(self, batch: Batch) -> Tensor:
        return self.soft_cross_entropy(self(batch.x), self.target[batch.task])
