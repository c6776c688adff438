"""CoNAL (Chu et al. 2021): a confusion matrix common to all workers beside one for each worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.layers import find_last_linear, forward_with_features
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.loss import log_prob_of_label
from crowdpilot.votes import Votes


class CoNAL(Method):
    """P(worker *j* says *l* | *x*) = softmax(p(x) · (w·common + (1 - w)·own[j]))[l].

    p is the softmax of the network, and w = sigmoid(u_j · v(x)) is the weight of the common confusion
    matrix. An auxiliary network predicts it: u_j is a unit vector for the worker; v(x) is a linear map
    of the input of the network's last linear layer (of the logits, if it has none), scaled to unit
    length. All matrices start as the identity. The loss is the cross-entropy of the votes less `scale`
    times Σ_j ||own[j] - common||, which keeps own matrices apart from the common one.

    Parameters
    ----------
    scale
        The paper's λ, the factor of the distances.
    embedding
        The length of u and v.

    References
    ----------
    Chu, Ma and Wang, Learning from crowds by modeling common confusions, AAAI 2021.
    https://arxiv.org/abs/2012.13052
    """

    name = "conal"
    aliases = ("common_noise_adaptation_layers",)
    file_names: ClassVar[Mapping[str, str]] = {
        "common": "common_confusion", "own": "worker_confusion", "u.weight": "worker_embedding",
        "v.weight": "task_embedding/weight", "v.bias": "task_embedding/bias",
    }  # fmt: skip

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
        last = find_last_linear(net, K)
        self.last = None if last is None else last[0]
        self.v = nn.Linear(K if last is None else last[1].in_features, embedding)
        self.u = nn.Embedding(J, embedding)

    def loss(self, batch: Batch) -> Tensor:
        probs, v = self._probs_and_embedding(batch.x)
        u = F.normalize(self.u.weight, dim=-1).index_select(0, batch.worker)
        w = (u * v.index_select(0, batch.row)).sum(dim=-1, keepdim=True).sigmoid()
        own = probs.index_select(0, batch.row)[:, :, None] * self.own.index_select(0, batch.worker)
        own, common = own.sum(dim=1), (probs @ self.common).index_select(0, batch.row)
        label_logits = own + w * (common - own)
        loss = self.vote_loss(log_prob_of_label(label_logits, batch.label), batch.label, batch.weight)
        return loss - self.scale * self._distances() if self.scale else loss

    def _probs_and_embedding(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """p(x), (rows, classes), and v(x), (rows, embedding)."""
        if self.last is None:
            logits = features = self(x)
        else:
            logits, features = forward_with_features(self.net, self.net.get_submodule(self.last), x)
        return logits.softmax(dim=-1), F.normalize(self.v(features), dim=-1)

    def _distances(self) -> Tensor:
        """The sum over workers of the Frobenius distance between own and common matrix."""
        distance: Tensor = torch.linalg.vector_norm(self.own - self.common, dim=(1, 2))
        return distance.sum()

    def predict_votes(self, x: Tensor) -> Tensor:
        probs, v = self._probs_and_embedding(x)
        w = torch.sigmoid(v @ F.normalize(self.u.weight, dim=-1).T)[..., None]  # (rows, workers, 1)
        own = torch.einsum("nk,jkl->njl", probs, self.own)
        return (own + w * ((probs @ self.common)[:, None] - own)).softmax(dim=-1)

    def confusion(self) -> Tensor:
        """The matrices for a task of unknown content, w = 1/2: the mean of common and own."""
        return ((self.common + self.own) / 2).softmax(dim=-1)
