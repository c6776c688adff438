"""Weighted Doctor Net (Guan et al. 2018): an output layer for each worker, then a weight for each worker."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.layers import find_last_linear
from crowdpilot.learning.method import EvaluateAll, Method
from crowdpilot.learning.training.loss import log_prob_of_label
from crowdpilot.votes import Votes

TINY = torch.finfo(torch.float32).tiny


class DoctorNet(Method):
    """p(x) = Σ_j weight[j] · softmax(logits_j(x)), the weighted mean of the workers' predicted votes.

    The last linear layer of the network is repeated for each worker; all copies start as the layer that
    was there. In the first phase the network learns to predict the votes of each worker. In the second it
    is frozen, and the weights, a softmax over workers with votes, are learned by the cross-entropy
    between p(x) and the shares of the labels among the votes on a task.

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
    file_names: ClassVar[Mapping[str, str]] = {
        "weight_logits": "worker_weight_logits",
        "voted": "worker_voted",
    }

    voted: Tensor  # (workers,), whether a worker has votes

    def __init__(self, net: nn.Module, votes: Votes, *, second: float = 0.5, speed: float = 10.0) -> None:
        super().__init__(_with_worker_layers(net, len(votes.workers), len(votes.classes)), votes)
        if not 0 <= second < 1 or speed <= 0:
            raise ValueError(f"second is {second} and speed {speed}, expected 0 <= second < 1 and speed > 0")
        self.second, self.speed = second, speed
        self.network_parameters = [part for part in self.net.parameters() if part.requires_grad]
        self.weight_logits = nn.Parameter(torch.zeros(self.workers), requires_grad=False)
        voted = torch.bincount(torch.tensor(votes.worker, dtype=torch.long), minlength=self.workers) > 0
        self.register_buffer("voted", voted | ~voted.any())

    def forward(self, x: Tensor) -> Tensor:
        log_weight = (self.speed * self.weight_logits).masked_fill(~self.voted, -torch.inf).log_softmax(dim=0)
        return (self._worker_logits(x).log_softmax(dim=-1) + log_weight[:, None]).logsumexp(dim=1)

    def loss(self, batch: Batch) -> Tensor:
        if self.weight_logits.requires_grad:
            total = batch.weight.new_zeros(len(batch.x)).index_add(0, batch.row, batch.weight)
            logits, weight = self(batch.x)[batch.row], batch.weight / total.clamp(min=TINY)[batch.row]
        else:
            logits, weight = self._worker_logits(batch.x)[batch.row, batch.worker], batch.weight
        return self.vote_loss(log_prob_of_label(logits, batch.label), batch.label, weight)

    def _worker_logits(self, x: Tensor) -> Tensor:
        """Logits of each worker's label, (rows, workers, classes)."""
        logits: Tensor = self.net(x)
        return logits.view(-1, self.workers, self.classes)

    def predict_votes(self, x: Tensor) -> Tensor:
        return self._worker_logits(x).softmax(dim=-1)

    def confusion(self) -> Tensor:
        raise ValueError("wdn predicts the votes of workers on a task, not on a class; call predict_votes")

    def before_epoch(self, epoch: int, epochs: int, evaluate_all: EvaluateAll) -> None:
        second = epoch >= self._start_of_second_phase(epochs)
        self.weight_logits.requires_grad_(second)
        for part in self.network_parameters:
            part.requires_grad_(not second)

    def first_selectable_epoch(self, epochs: int) -> int:
        start = self._start_of_second_phase(epochs)
        return start if start < epochs else 0

    def _start_of_second_phase(self, epochs: int) -> int:
        return epochs - int(epochs * self.second)

    def train(self, mode: bool = True) -> DoctorNet:
        super().train(mode)
        if self.weight_logits.requires_grad:
            self.net.eval()  # frozen: no dropout, no new statistics of batch normalization
        return self


def _with_worker_layers(net: nn.Module, workers: int, classes: int) -> nn.Module:
    """A copy of the network with its last linear layer repeated for each worker."""
    net = copy.deepcopy(net)
    last_linear = find_last_linear(net, classes)
    if last_linear is None:
        raise ValueError("wdn repeats the last linear layer of a network for each worker; this has none")
    name, last = last_linear
    wide = nn.Linear(last.in_features, workers * classes, last.bias is not None).to(last.weight)
    with torch.no_grad():
        wide.weight.copy_(last.weight.repeat(workers, 1))
        if last.bias is not None:
            wide.bias.copy_(last.bias.repeat(workers))
    if not name:
        return wide
    net.set_submodule(name, wide)
    return net
