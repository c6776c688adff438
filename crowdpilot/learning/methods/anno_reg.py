"""Anno-Reg: confusion matrices kept as far from the identity as the votes allow."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method
from crowdpilot.learning.vote_loss import weighted_mean
from crowdpilot.votes import Votes


class AnnoReg(Method):
    """Worker *j* says *l* about *x* with probability Σ_k p(x)[k] · confusion[j, k, l].

    p is the softmax of the network, and each row of each confusion matrix is one too; it begins as the
    softmax of a row of the identity. To the mean cost of a vote, `strength` times the mean trace of the
    matrix of the worker who gave it is added: of all explanations of the votes, the one in which the
    workers are least reliable leaves most to the network, and it is the true one if workers are right
    more often than not. As the mean is over votes, a worker without any stays as at the start.

    Parameters
    ----------
    strength
        The paper's λ: how much of the trace is added to the cost. Too much of it, such as 1, makes
        the workers so unreliable that the network learns other classes than theirs.

    References
    ----------
    Tanno et al., Learning from noisy labels by regularized estimation of annotator confusion,
    CVPR 2019. https://arxiv.org/abs/1902.03680
    """

    name = "anno_reg"
    aliases: ClassVar[tuple[str, ...]] = ("anno-reg", "trace_reg", "trace-reg", "tanno")

    def __init__(self, net: nn.Module, votes: Votes, *, strength: float = 0.1) -> None:
        super().__init__(net, votes)
        if strength < 0:
            raise ValueError(f"strength is {strength}, expected 0 or more")
        self.strength = strength
        self.matrix = nn.Parameter(
            torch.eye(self.classes).repeat(self.workers, 1, 1)
        )  # (workers, said, true)

    def loss(self, batch: Batch) -> Tensor:
        J, K = self.workers, self.classes
        said = self.matrix.log_softmax(dim=1)
        by_class = said.view(J * K, K).index_select(0, batch.worker * K + batch.label)
        logs = (self(batch.x).log_softmax(dim=-1).index_select(0, batch.row) + by_class).logsumexp(dim=-1)
        loss = self.cost(logs, batch.label, batch.weight)
        if not self.strength:
            return loss
        trace = said.diagonal(dim1=1, dim2=2).exp().sum(dim=1).index_select(0, batch.worker)
        return loss + self.strength * weighted_mean(trace, batch.weight)

    def confusion(self) -> Tensor:
        return self.matrix.softmax(dim=1).swapaxes(1, 2)
