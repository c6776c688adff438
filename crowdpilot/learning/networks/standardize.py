"""Inputs brought to a common scale, as the first layer of a network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.rows import Sparse

SWEEP = 1024  # rows at a time
ENOUGH = 1 << 14  # rows from which mean and deviation are taken


class Standardize(nn.Module):
    """(x - mean) / scale, for each column of numbers and each channel of images.

    Parameters
    ----------
    mean, scale
        One number for each column or channel, with as many dimensions as a batch.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean).div_(self.scale)  # in place: of wide rows, memory is what costs time


def standard_layer(rows: Rows) -> Standardize:
    """The layer that gives each column (or channel) of these rows the mean zero and the deviation one.

    What is the same in all rows becomes zero. Features of a backbone are divided by one number for
    all columns: how much each varies is part of what they say (on LabelMe, a scale for each column
    costs two points). Numbers in a sparse matrix are only divided by a single one, so that those
    that are not zero are about one: the mean of a rare word would say nothing, and its deviation
    would make it the loudest.
    """
    if isinstance(rows, Sparse):
        values = torch.from_numpy(rows.x.data).double()
        size = (values**2).mean().sqrt() if len(values) else values.new_tensor(0.0)
        columns = torch.ones(1, rows.x.shape[1])
        return Standardize(0 * columns, _usable(size).float() * columns)
    step = -(-len(rows) // ENOUGH)
    parts = torch.arange(0, len(rows), step).split(SWEEP)
    first = rows.take(parts[0][:1], train=False).double()
    centre = _by_column(first)[:, 0]  # any value will do; this one makes what is constant exactly zero
    count, total, squares = 0, torch.zeros_like(centre), torch.zeros_like(centre)
    for part in parts:
        away = _by_column(rows.take(part, train=False).double()) - centre[:, None]
        count += away.shape[1]
        total += away.sum(dim=1)
        squares += (away**2).sum(dim=1)
    spread = (squares / count - (total / count) ** 2).clamp(min=0).sqrt()
    if getattr(rows, "alike", False):
        spread = (spread**2).mean().sqrt().expand_as(spread)
    shape = (1, -1, *([1] * (first.ndim - 2)))
    return Standardize((centre + total / count).float().view(shape), _usable(spread).float().view(shape))


def _by_column(x: Tensor) -> Tensor:
    """All values of each column or channel, (columns, values)."""
    return x.transpose(0, 1).flatten(1)


def _usable(scale: Tensor) -> Tensor:
    """One where nothing varies; and no float32 may overflow."""
    return torch.where(scale > torch.finfo(torch.float32).tiny, scale, torch.ones_like(scale))
