"""What a way to learn from votes is: a network that is deployed and a loss that is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from crowdpilot.arrays import Floats
from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.vote_loss import Cost
from crowdpilot.votes import Votes

Sweep = Callable[[Callable[[Batch], Tensor]], Tensor]  # a function of batches, over all tasks in order


class Method(nn.Module):
    """A network with what it needs to learn from the votes of a crowd.

    `forward` is what is deployed, `loss` is what is trained. Settings are keyword-only arguments
    of the constructor. What is learned is a parameter, and what is worked out from it a buffer, so
    that the state of a method is its `state_dict`.

    Parameters
    ----------
    net
        Any module from inputs to logits, one for each class.
    votes
        The votes it will be trained on.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    of_tasks: ClassVar[tuple[str, ...]] = ()  # buffers about the training tasks, without use after it
    heeds_gold: ClassVar[bool] = False  # whether the loss itself knows of known classes

    def __init__(self, net: nn.Module, votes: Votes) -> None:
        super().__init__()
        self.net = net
        self.workers, self.classes = len(votes.workers), len(votes.classes)
        self.cost = Cost()
        self.gold = None if votes.gold is None else torch.tensor(votes.gold, dtype=torch.long)
        self.class_counts = torch.as_tensor(votes.cell_sum().sum(axis=0), dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of the classes, (rows, classes)."""
        logits: Tensor = self.net(x)
        return logits

    def loss(self, batch: Batch) -> Tensor:
        """What training makes small."""
        raise NotImplementedError

    def towards(self, logits: Tensor, target: Tensor) -> Tensor:
        """The cost of logits where each class should have the probability `target`."""
        label = torch.arange(self.classes, device=logits.device).expand_as(target)
        return self.cost(logits.log_softmax(dim=-1).flatten(), label.flatten(), target.flatten())

    def full_loss(self, batch: Batch) -> Tensor:
        """The loss, and the cost of the tasks whose class is known."""
        loss = self.loss(batch)
        if self.gold is None or self.heeds_gold:
            return loss
        gold = self.gold.to(batch.task.device)[batch.task]
        if not (gold >= 0).any():
            return loss
        return loss + F.cross_entropy(self(batch.x[gold >= 0]), gold[gold >= 0])

    def confusion(self) -> Tensor:
        """Probability that a worker says a label if the class is certain, (workers, true, said)."""
        raise ValueError(f"{self.name} has no model of the workers, so it cannot say how they would vote")

    def annotate(self, x: Tensor) -> Tensor:
        """Probability that each worker gives each label, (rows, workers, classes)."""
        return torch.einsum("nk,wkl->nwl", self(x).softmax(dim=-1), self.confusion())

    def prior(self, batch: Batch) -> Tensor:
        """Log-probability of the classes of training tasks before their votes are heard."""
        logs: Tensor = self(batch.x).log_softmax(dim=-1)
        return logs

    def weigh(self, logs: Floats) -> float:
        """How much the votes on training tasks count beside their `prior`, (tasks, classes)."""
        return 1.0

    def begin(self, epoch: int, epochs: int, sweep: Sweep) -> None:
        """Do what must be done before an epoch of training; nothing by default.

        `sweep(f)` is f of all tasks, in their order, with the networks as they are deployed.
        """

    def first(self, epochs: int) -> int:
        """The first epoch after which the network may be kept; for methods that train in phases."""
        return 0
