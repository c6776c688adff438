"""Weighted Doctor Net: a classifier for each worker on shared features, then a weight for each worker."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method, Sweep
from crowdpilot.learning.networks.last_layer import find_last
from crowdpilot.learning.vote_loss import log_prob
from crowdpilot.votes import Votes

TINY = torch.finfo(torch.float32).tiny


class DoctorNet(Method):
    """The mean of what all workers would say of *x*, weighed by worker.

    The last linear layer of the network becomes one for each worker; all begin as the layer that was
    there. In the first phase the network learns to foresee the votes of each worker. In the second it
    is left as it is, and the weights are learned, a softmax, by the cross-entropy between the weighted
    mean of the workers' probabilities and the shares of the labels among the votes on a task. A worker
    without votes has no weight.

    Parameters
    ----------
    second
        The share of the epochs that belongs to the second phase.
    speed
        How many times faster the weights of workers are learned than the network.

    References
    ----------
    Guan et al., Who said what: modeling individual labelers improves classification, AAAI 2018.
    https://arxiv.org/abs/1703.08774
    """

    name = "wdn"
    aliases = ("doctor_net", "weighted_doctor_net")

    voted: Tensor

    def __init__(self, net: nn.Module, votes: Votes, *, second: float = 0.5, speed: float = 10.0) -> None:
        super().__init__(_spread(net, len(votes.workers), len(votes.classes)), votes)
        if not 0 <= second < 1 or speed <= 0:
            raise ValueError(f"second is {second} and speed {speed}, expected 0 <= second < 1 and speed > 0")
        self.second, self.speed = second, speed
        self.learned = [part for part in self.net.parameters() if part.requires_grad]
        self.trust = nn.Parameter(torch.zeros(self.workers), requires_grad=False)
        voted = torch.bincount(torch.tensor(votes.worker, dtype=torch.long), minlength=self.workers) > 0
        self.register_buffer("voted", voted | ~voted.any())

    def forward(self, x: Tensor) -> Tensor:
        weight = (self.speed * self.trust).masked_fill(~self.voted, -torch.inf).log_softmax(dim=0)
        return (self._said(x).log_softmax(dim=-1) + weight[:, None]).logsumexp(dim=1)

    def loss(self, batch: Batch) -> Tensor:
        if self.trust.requires_grad:
            total = batch.weight.new_zeros(len(batch.x)).index_add(0, batch.row, batch.weight)
            said, weight = self(batch.x)[batch.row], batch.weight / total.clamp(min=TINY)[batch.row]
        else:
            said, weight = self._said(batch.x)[batch.row, batch.worker], batch.weight
        return self.cost(log_prob(said, batch.label), batch.label, weight)

    def _said(self, x: Tensor) -> Tensor:
        """Logits of what each worker says, (rows, workers, classes)."""
        logits: Tensor = self.net(x)
        return logits.view(-1, self.workers, self.classes)

    def annotate(self, x: Tensor) -> Tensor:
        return self._said(x).softmax(dim=-1)

    def confusion(self) -> Tensor:
        raise ValueError("wdn knows what workers say of a task, not of a class; ask annotate")

    def begin(self, epoch: int, epochs: int, sweep: Sweep) -> None:
        weighing = epoch >= self._second_from(epochs)
        self.trust.requires_grad_(weighing)
        for part in self.learned:
            part.requires_grad_(not weighing)

    def first(self, epochs: int) -> int:
        start = self._second_from(epochs)
        return start if start < epochs else 0

    def _second_from(self, epochs: int) -> int:
        return epochs - int(epochs * self.second)

    def train(self, mode: bool = True) -> DoctorNet:
        super().train(mode)
        if self.trust.requires_grad:
            self.net.eval()  # it is left as it is: no dropout, no new statistics
        return self


def _spread(net: nn.Module, workers: int, classes: int) -> nn.Module:
    """A copy of the network whose last layer is there once for each worker."""
    net = copy.deepcopy(net)
    found = find_last(net, classes)
    if found is None:
        raise ValueError("wdn needs a network with a last linear layer to give to each worker; this has none")
    name, last = found
    wide = nn.Linear(last.in_features, workers * classes, last.bias is not None).to(last.weight)
    with torch.no_grad():
        wide.weight.copy_(last.weight.repeat(workers, 1))
        if last.bias is not None:
            wide.bias.copy_(last.bias.repeat(workers))
    if not name:
        return wide
    net.set_submodule(name, wide)
    return net
