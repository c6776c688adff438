"""Parts of networks: standardization of the input, ensembles, and access to the last linear layer."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.rows import Sparse

STATISTICS_BATCH_ROWS = 1024  # rows that are read at a time
MAX_STATISTICS_ROWS = 1 << 14  # rows from which mean and standard deviation are computed


class Standardize(nn.Module):
    """(x - mean) / scale, for each column of numbers and each channel of images.

    Parameters
    ----------
    mean, scale
        One number for each column or channel, with as many dimensions as a batch.

    The names of the buffers are those of tensors in saved files.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean).div_(self.scale)  # in place: for wide rows, memory bandwidth is the cost


def standardize_layer(rows: Rows) -> Standardize:
    """The layer that gives each column (or channel) of these rows mean 0 and standard deviation 1.

    Columns that are constant become zero. Features of a backbone are divided by one number for all
    columns, as their relative variances carry information (on LabelMe, a scale for each column costs two
    points of accuracy). A sparse matrix is only divided by one number, the root mean square of its
    nonzero values: centring would make it dense, and a scale for each column would inflate rare words.
    """
    if isinstance(rows, Sparse):
        values = torch.from_numpy(rows.x.data).double()
        rms = (values**2).mean().sqrt() if len(values) else values.new_tensor(0.0)
        columns = torch.ones(1, rows.x.shape[1])
        return Standardize(0 * columns, _positive(rms).float() * columns)
    step = -(-len(rows) // MAX_STATISTICS_ROWS)
    parts = torch.arange(0, len(rows), step).split(STATISTICS_BATCH_ROWS)
    first = rows.take(parts[0][:1], train=False).double()
    shift = _by_column(first)[:, 0]  # against cancellation; a constant column becomes exactly zero
    count, total, squares = 0, torch.zeros_like(shift), torch.zeros_like(shift)
    for part in parts:
        shifted = _by_column(rows.take(part, train=False).double()) - shift[:, None]
        count += shifted.shape[1]
        total += shifted.sum(dim=1)
        squares += (shifted**2).sum(dim=1)
    deviation = (squares / count - (total / count) ** 2).clamp(min=0).sqrt()
    if getattr(rows, "one_scale", False):
        deviation = (deviation**2).mean().sqrt().expand_as(deviation)
    shape = (1, -1, *([1] * (first.ndim - 2)))
    return Standardize((shift + total / count).float().view(shape), _positive(deviation).float().view(shape))


def _by_column(x: Tensor) -> Tensor:
    """All values of each column or channel, (columns, values)."""
    return x.transpose(0, 1).flatten(1)


def _positive(scale: Tensor) -> Tensor:
    """The scale, or one where it is zero or too small for a float32."""
    return torch.where(scale > torch.finfo(torch.float32).tiny, scale, torch.ones_like(scale))


class Ensemble(nn.Module):
    """Copies of a network; the prediction is the log of their mean probabilities.

    Parameters
    ----------
    net
        The network, in the initial state of all copies.
    members
        How many copies.

    The name of the list of copies is that of tensors in saved files.
    """

    def __init__(self, net: nn.Module, members: int) -> None:
        super().__init__()
        self.members = nn.ModuleList(copy.deepcopy(net) for _ in range(members))

    def forward(self, x: Tensor) -> Tensor:
        """Log of the mean probability of each class, (rows, classes)."""
        log_probs = torch.stack([member(x).log_softmax(dim=-1) for member in self.members])
        return log_probs.logsumexp(dim=0) - torch.log(torch.tensor(float(len(self.members))))

    def one_of(self, x: Tensor, member: Tensor) -> Tensor:
        """Logits of each row by one member, (rows, classes); `member`, (rows,), is its index."""
        order = member.argsort()
        sizes = torch.bincount(member, minlength=len(self.members)).tolist()
        parts = x[order].split(sizes)
        logits = torch.cat([net(part) for net, part in zip(self.members, parts, strict=True) if len(part)])
        return logits[order.argsort()]


def find_last_linear(net: nn.Module, classes: int) -> tuple[str, nn.Linear] | None:
    """The last linear layer with one output for each class, and its name, which is "" for `net` itself."""
    layers = ((name, layer) for name, layer in net.named_modules() if isinstance(layer, nn.Linear))
    fitting = [(name, layer) for name, layer in layers if layer.out_features == classes]
    return fitting[-1] if fitting else None


def forward_with_features(net: nn.Module, layer: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """The logits of x, (rows, classes), and the input of one of the network's layers, (rows, features)."""
    inputs: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0]))
    try:
        logits: Tensor = net(x)
    finally:
        hook.remove()
    was_split = sum(map(len, inputs)) == len(x)  # a network may read x in parts
    features = torch.cat(inputs) if was_split else inputs[-1]
    if features.ndim != 2:
        raise ValueError(
            "the last layer of the network is applied to each token alone, so that there are no features of "
            "a whole text; choose a method such as crowdlayer"
        )
    return logits, features
