"""Rows of numbers as network input: dense tensors and sparse matrices."""

from __future__ import annotations

import torch
from scipy.sparse import csr_array
from torch import Tensor

from crowdpilot.arrays import Names


class Dense:
    """Rows of a tensor, on the device of the network.

    Parameters
    ----------
    x
        (rows, ...).
    device
        Where the tensor is.
    names
        The task of each row, if X names them.
    columns
        The name of each column, if X names them.
    one_scale
        Whether all columns share one scale, as the features of a network do.
    """

    def __init__(
        self,
        x: Tensor,
        device: torch.device,
        names: Names | None = None,
        *,
        columns: list[str] | None = None,
        one_scale: bool = False,
    ) -> None:
        self.x = x.detach().to(device).contiguous()
        self.names, self.columns, self.one_scale = names, columns, one_scale

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
        The task of each row, if X names them.
    backbone
        The fitted encoder that computed them, if any, to encode other texts.
    """

    def __init__(self, x: csr_array, names: Names | None = None, *, backbone: object = None) -> None:
        self.x = x
        self.names, self.backbone = names, backbone

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        return torch.from_numpy(self.x[rows.cpu().numpy()].toarray())
