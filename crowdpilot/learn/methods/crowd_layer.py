"""CrowdLayer: one more layer for each worker."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from crowdpilot.learn.batches import Batch
from crowdpilot.learn.method import Method
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
        probs = self(batch.x).softmax(dim=-1)[batch.row]
        said = self._said(probs, batch.worker).log_softmax(dim=-1)
        logs = said.gather(1, batch.label[:, None]).squeeze(1)
        return self.cost(logs, batch.label, batch.weight)

    def _said(self, probs: Tensor, worker: Tensor) -> Tensor:
        """Logits of what each worker says where the classes have these probabilities."""
        if self.matrix is not None:
            return torch.bmm(probs[:, None], self.matrix[worker]).squeeze(1)
        if self.scale is not None:
            probs = probs * self.scale[worker]
        return probs if self.bias is None else probs + self.bias[worker]

    def annotate(self, x: Tensor) -> Tensor:
        return self._everyone(self(x).softmax(dim=-1))

    def confusion(self) -> Tensor:
        device = next(self.parameters()).device
        return self._everyone(torch.eye(self.classes, device=device)).swapaxes(0, 1)

    def _everyone(self, probs: Tensor) -> Tensor:
        n, J = len(probs), self.workers
        worker = torch.arange(J, device=probs.device).repeat(n)
        return self._said(probs.repeat_interleave(J, 0), worker).softmax(dim=-1).view(n, J, -1)
