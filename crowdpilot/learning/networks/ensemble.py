"""Several networks that answer as one."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


class Ensemble(nn.Module):
    """Copies of a network; together they give the log of their mean probabilities.

    Parameters
    ----------
    net
        The network, in the state in which all copies begin.
    members
        How many copies.
    """

    def __init__(self, net: nn.Module, members: int) -> None:
        super().__init__()
        self.members = nn.ModuleList(copy.deepcopy(net) for _ in range(members))

    def forward(self, x: Tensor) -> Tensor:
        """Log of the mean probability of each class, (rows, classes)."""
        logs = torch.stack([member(x).log_softmax(dim=-1) for member in self.members])
        return logs.logsumexp(dim=0) - torch.log(torch.tensor(float(len(self.members))))

    def one_of(self, x: Tensor, which: Tensor) -> Tensor:
        """Logits of each row by one member alone."""
        order = which.argsort()
        sizes = torch.bincount(which, minlength=len(self.members)).tolist()
        parts = x[order].split(sizes)
        found = torch.cat([m(part) for m, part in zip(self.members, parts, strict=True) if len(part)])
        return found[order.argsort()]
