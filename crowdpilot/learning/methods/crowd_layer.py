"""CrowdLayer: one more layer for each worker."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method
from crowdpilot.learning.vote_loss import log_prob
from crowdpilot.votes import Votes

Kind = Literal["mw", "vw", "vb", "vw+b"]


class CrowdLayer(Method):
    """Worker *j* says *l* about *x* with probability softmax(p(x) · weight[j] + bias[j])[l].

    p is the softmax of the network. The layer begins as the identity, so that the network begins as
    if all workers were right.

    Parameters
    ----------
    kind
        "mw", a matrix for each worker; "vw", a weight for each class; "vb", a bias for each class;
        or "vw+b", both.

    References
    ----------
    Rodrigues and Pereira, Deep learning from crowds, AAAI 2018. https://arxiv.org/abs/1709.01779
    """

    name = "crowdlayer"
    aliases = ("crowd_layer", "CL")

    def __init__(self, net: nn.Module, votes: Votes, *, kind: Kind = "mw") -> None:
        super().__init__(net, votes)
        if kind not in get_args(Kind):
            raise ValueError(f"kind is {kind!r}, expected one of {', '.join(get_args(Kind))}")
        J, K = self.workers, self.classes
        self.kind = kind
        self.matrix = nn.Parameter(torch.eye(K).repeat(J, 1, 1)) if kind == "mw" else None
        self.scale = nn.Parameter(torch.ones(J, K)) if "vw" in kind else None
        self.bias = nn.Parameter(torch.zeros(J, K)) if "b" in kind else None

    def loss(self, batch: Batch) -> Tensor:
        said = self(batch.x).softmax(dim=-1).index_select(0, batch.row)
        if self.matrix is not None:  # faster than a product of many tiny matrices
            said = (said[:, :, None] * self.matrix.index_select(0, batch.worker)).sum(dim=1)
        if self.scale is not None:
            said = said * self.scale.index_select(0, batch.worker)
        if self.bias is not None:
            said = said + self.bias.index_select(0, batch.worker)
        return self.cost(log_prob(said, batch.label), batch.label, batch.weight)

    def annotate(self, x: Tensor) -> Tensor:
        return self._everyone(self(x).softmax(dim=-1))

    def confusion(self) -> Tensor:
        certain = torch.eye(self.classes).to(next(self.parameters()))
        return self._everyone(certain).swapaxes(0, 1)

    def _everyone(self, probs: Tensor) -> Tensor:
        """What all workers say where the classes have these probabilities, (rows, workers, classes)."""
        said = probs[:, None].expand(-1, self.workers, -1)
        if self.matrix is not None:
            said = torch.einsum("nk,jkl->njl", probs, self.matrix)
        if self.scale is not None:
            said = said * self.scale
        if self.bias is not None:
            said = said + self.bias
        return said.softmax(dim=-1)
