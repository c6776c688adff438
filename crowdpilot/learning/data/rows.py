"""Rows of numbers that a network can be shown."""

from __future__ import annotations

import torch
from scipy.sparse import csr_array
from torch import Tensor

from crowdpilot.arrays import Names


class Dense:
    """Rows of a tensor, which lie where the network is.

    Parameters
    ----------
    x
        (rows, ...).
    device
        Where it is kept.
    names
        The task of each row, if X says so.
    alike
        Whether all columns have one scale, as the features of a network do.
    """

    def __init__(
        self, x: Tensor, device: torch.device, names: Names | None = None, *, alike: bool = False
    ) -> None:
        self.x = x.detach().to(device).contiguous()
        self.names, self.alike = names, alike

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        return self.x[rows.to(self.x.device)]


class Sparse:
    """Rows of a sparse matrix, made dense a batch at a time.

    Parameters
    ----------
    x
        (rows, columns).
    names
        The task of each row, if X says so.
    backbone
        What made them, if it was learned, so that it can make more.
    """

    def __init__(self, x: csr_array, names: Names | None = None, *, backbone: object = None) -> None:
        self.x = x
        self.names, self.backbone = names, backbone

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        return torch.from_numpy(self.x[rows.cpu().numpy()].toarray())
