"""CoNAL: confusions that all workers share beside those of each worker."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method
from crowdpilot.learning.networks.last_layer import apply_and_tap, find_last
from crowdpilot.learning.vote_loss import log_prob
from crowdpilot.votes import Votes


class CoNAL(Method):
    """Worker *j* says *l* about *x* with probability softmax(p(x) · (w·common + (1 - w)·own[j]))[l].

    p is the softmax of the network, and w = sigmoid(u_j · v(x)) is how much of the answer comes from
    the confusion that all workers share. An auxiliary network finds it: u_j is a unit vector for the
    worker; v(x) is a linear map of what the last layer of the network is given (the logits, if it
    does not end in a linear layer), brought to unit length. All matrices begin as the identity. The
    loss is less by `scale` times the sum of the distances between own matrices and the common one,
    so that they come to explain different things.

    Parameters
    ----------
    scale
        The paper's λ: how much own matrices are rewarded for being unlike the common one.
    embedding
        The length of u and v.

    References
    ----------
    Chu, Ma and Wang, Learning from crowds by modeling common confusions, AAAI 2021.
    https://arxiv.org/abs/2012.13052
    """

    name = "conal"
    aliases = ("common_noise_adaptation_layers",)

    def __init__(self, net: nn.Module, votes: Votes, *, scale: float = 1e-4, embedding: int = 20) -> None:
        super().__init__(net, votes)
        if scale < 0 or embedding < 1:
            raise ValueError(
                f"scale is {scale} and embedding {embedding}, expected at least 0 and at least 1"
            )
        J, K = self.workers, self.classes
        self.scale = scale
        self.common = nn.Parameter(torch.eye(K))
        self.own = nn.Parameter(torch.eye(K).repeat(J, 1, 1))
        last = find_last(net, K)
        self.last = None if last is None else last[0]
        self.v = nn.Linear(K if last is None else last[1].in_features, embedding)
        self.u = nn.Embedding(J, embedding)

    def loss(self, batch: Batch) -> Tensor:
        probs, v = self._see(batch.x)
        u = F.normalize(self.u.weight, dim=-1).index_select(0, batch.worker)
        w = (u * v.index_select(0, batch.row)).sum(dim=-1, keepdim=True).sigmoid()
        own = probs.index_select(0, batch.row)[:, :, None] * self.own.index_select(0, batch.worker)
        own, common = own.sum(dim=1), (probs @ self.common).index_select(0, batch.row)
        said = own + w * (common - own)
        cost = self.cost(log_prob(said, batch.label), batch.label, batch.weight)
        return cost - self.scale * self._apart() if self.scale else cost

    def _see(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The probabilities of the classes and the embedding of each task."""
        if self.last is None:
            logits = features = self(x)
        else:
            logits, features = apply_and_tap(self.net, self.net.get_submodule(self.last), x)
        return logits.softmax(dim=-1), F.normalize(self.v(features), dim=-1)

    def _apart(self) -> Tensor:
        """How far all own matrices are from the common one."""
        far: Tensor = torch.linalg.vector_norm(self.own - self.common, dim=(1, 2))
        return far.sum()

    def annotate(self, x: Tensor) -> Tensor:
        probs, v = self._see(x)
        w = torch.sigmoid(v @ F.normalize(self.u.weight, dim=-1).T)[..., None]  # (rows, workers, 1)
        own = torch.einsum("nk,jkl->njl", probs, self.own)
        return (own + w * ((probs @ self.common)[:, None] - own)).softmax(dim=-1)

    def confusion(self) -> Tensor:
        """As in tasks of which nothing is known: half common, half the worker's own."""
        return ((self.common + self.own) / 2).softmax(dim=-1)
