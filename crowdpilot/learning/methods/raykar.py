"""EM between a network and the confusion matrices of the workers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.confusion_matrices import count_labels, hear
from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method, Sweep
from crowdpilot.votes import Votes


class Raykar(Method):
    """The network is the prior of each task in the model of Dawid and Skene.

    Before each epoch the classes of all tasks are worked out anew, q(k) ∝ p_k(x) · prod_j
    confusion[j, k, vote_j], then the matrices from them; in the epoch the network is trained
    towards q. It begins with the shares of the votes.

    Parameters
    ----------
    smoothing
        Imaginary votes in each cell of each matrix, so that no probability is zero.
    warmup
        Share of the epochs in which the network is trained towards the shares of the votes.

    References
    ----------
    Raykar et al., Learning from crowds, JMLR 11, 2010. https://jmlr.org/papers/v11/raykar10a.html
    Albarqouni et al., AggNet, IEEE Transactions on Medical Imaging 35(5), 2016.
    https://doi.org/10.1109/TMI.2016.2528120
    """

    name = "raykar"
    aliases = ("aggnet", "em")
    of_tasks = ("target",)
    heeds_gold = True

    target: Tensor
    matrices: Tensor

    def __init__(self, net: nn.Module, votes: Votes, *, smoothing: float = 0.1, warmup: float = 0.1) -> None:
        super().__init__(net, votes)
        self.votes, self.smoothing, self.warmup = votes, smoothing, warmup
        self.register_buffer("target", torch.as_tensor(_shares(votes), dtype=torch.float32))
        self.register_buffer("matrices", torch.as_tensor(self._matrices(), dtype=torch.float32))

    def begin(self, epoch: int, epochs: int, sweep: Sweep) -> None:
        if epoch < self.warmup * epochs:
            return
        logs = sweep(lambda batch: self(batch.x).log_softmax(dim=-1)).cpu().numpy().astype(np.float64)
        joint = logs + hear(self.votes, np.log(self.matrices.cpu().numpy().astype(np.float64)))
        self.target.copy_(torch.as_tensor(self.votes.clamp(softmax(joint))))
        self.matrices.copy_(torch.as_tensor(self._matrices()))

    def loss(self, batch: Batch) -> Tensor:
        return self.towards(self(batch.x), self.target[batch.task])

    def confusion(self) -> Tensor:
        return self.matrices

    def _matrices(self) -> Floats:
        said = count_labels(self.votes, self.target.cpu().numpy().astype(np.float64))
        return to_probs(said + self.smoothing)


def _shares(votes: Votes) -> Floats:
    return votes.clamp(to_probs(votes.tally()))
