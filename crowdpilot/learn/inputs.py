"""Anything people have as X, as rows that a network can be shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from torch import Tensor

from crowdpilot.learn.batches import Rows


class Dense:
    """Rows of a tensor, which lie where the network is."""

    def __init__(self, x: Tensor, device: torch.device) -> None:
        self.x = x.to(device)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        return self.x[rows.to(self.x.device)]


class Sparse:
    """Rows of a sparse matrix, made dense a batch at a time."""

    def __init__(self, x: csr_array) -> None:
        self.x = x

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        return torch.from_numpy(self.x[rows.cpu().numpy()].toarray())


def _check(values: Tensor, starts: Any = None) -> None:
    """Raise if a number is missing or infinite."""
    bad = ~torch.isfinite(values)
    if not bad.any():
        return
    place = int(bad.nonzero()[0, 0])
    row = place if starts is None else int(np.searchsorted(starts, place, side="right")) - 1
    raise ValueError(f"row {row} of X holds a NaN or an infinite number; fill it or leave the row out")


def to_rows(x: Any, device: torch.device) -> Rows:
    """X as rows: an array, a tensor or a sparse matrix, one row for each task."""
    if issparse(x):
        matrix = csr_array(x).astype(np.float32)
        _check(torch.from_numpy(matrix.data), matrix.indptr)
        return Sparse(matrix)
    tensor = x if isinstance(x, Tensor) else torch.from_numpy(np.asarray(x))
    if not tensor.is_floating_point():
        tensor = tensor.float()
    _check(tensor)
    return Dense(tensor.float(), device)
