"""CrowdLayer (Rodrigues and Pereira 2018): one more layer for each worker on top of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.loss import log_prob_of_label
from crowdpilot.votes import Votes

Kind = Literal["mw", "vw", "vb", "vw+b"]


class CrowdLayer(Method):
    """P(worker *j* says *l* | *x*) = softmax(p(x) · weight[j] + bias[j])[l].

    p is the softmax of the network. The layer starts as the identity: at first all workers are taken to
    be right. The loss is the cross-entropy of the votes.

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
    file_names: ClassVar[Mapping[str, str]] = {
        "matrix": "worker_matrix", "scale": "worker_scale", "bias": "worker_bias"
    }  # fmt: skip

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
        logits = self(batch.x).softmax(dim=-1).index_select(0, batch.row)
        if self.matrix is not None:  # faster than a product of many tiny matrices
            logits = (logits[:, :, None] * self.matrix.index_select(0, batch.worker)).sum(dim=1)
        if self.scale is not None:
            logits = logits * self.scale.index_select(0, batch.worker)
        if self.bias is not None:
            logits = logits + self.bias.index_select(0, batch.worker)
        return self.vote_loss(log_prob_of_label(logits, batch.label), batch.label, batch.weight)

    def predict_votes(self, x: Tensor) -> Tensor:
        return self._worker_probs(self(x).softmax(dim=-1))

    def confusion(self) -> Tensor:
        certain = torch.eye(self.classes).to(next(self.parameters()))
        return self._worker_probs(certain).swapaxes(0, 1)

    def _worker_probs(self, probs: Tensor) -> Tensor:
        """P(label) of all workers, (rows, workers, classes), for class probabilities (rows, classes)."""
        logits = probs[:, None].expand(-1, self.workers, -1)
        if self.matrix is not None:
            logits = torch.einsum("nk,jkl->njl", probs, self.matrix)
        if self.scale is not None:
            logits = logits * self.scale
        if self.bias is not None:
            logits = logits + self.bias
        return logits.softmax(dim=-1)
