"""Raykar's EM (AggNet): a network as the prior of the classes, and a confusion matrix for each worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.learning.method import EvaluateAll, TargetMethod
from crowdpilot.votes import Votes


class Raykar(TargetMethod):
    """The model of Dawid and Skene whose class prior is the network's prediction.

    Before each epoch, the E-step computes the posterior of all tasks, q(k) ∝ p_k(x) · Π_j
    confusion[j, k, vote_j], and the M-step the confusion matrices from it; in the epoch the network is
    trained by cross-entropy towards q. q starts as the shares of the votes.

    Parameters
    ----------
    smoothing
        Pseudo-count in each cell of each matrix, so that no probability is zero.
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
    file_names: ClassVar[Mapping[str, str]] = {"target": "posterior", "matrices": "confusion"}

    matrices: Tensor  # (workers, true, said)

    def __init__(self, net: nn.Module, votes: Votes, *, smoothing: float = 0.1, warmup: float = 0.1) -> None:
        super().__init__(net, votes)
        self.votes, self.smoothing, self.warmup = votes, smoothing, warmup
        shares = votes.clamp(to_probs(votes.tally()))
        self.register_buffer("target", torch.as_tensor(shares, dtype=torch.float32))
        self.register_buffer("matrices", torch.as_tensor(self._m_step(), dtype=torch.float32))

    def before_epoch(self, epoch: int, epochs: int, evaluate_all: EvaluateAll) -> None:
        if epoch < self.warmup * epochs:
            return
        log_prior = evaluate_all(self.log_prior).cpu().numpy().astype(np.float64)
        joint = log_prior + votes_log_likelihood(
            self.votes, np.log(self.matrices.cpu().numpy().astype(np.float64))
        )
        self.target.copy_(torch.as_tensor(self.votes.clamp(softmax(joint))))
        self.matrices.copy_(torch.as_tensor(self._m_step()))

    def confusion(self) -> Tensor:
        return self.matrices

    def _m_step(self) -> Floats:
        """Confusion matrices from expected counts, (workers, true, said)."""
        counts = count_labels(self.votes, self.target.cpu().numpy().astype(np.float64))
        return to_probs(counts + self.smoothing)
