"""Networks and methods by name, with options in brackets."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from crowdpilot.aggregate.strategy import choose
from crowdpilot.learn.batches import Rows
from crowdpilot.learn.method import Method
from crowdpilot.learn.methods import METHODS
from crowdpilot.learn.networks import NETWORKS
from crowdpilot.votes import Votes

Network = str | nn.Module | Callable[[int, int], nn.Module]  # a name, a module, or a function of two sizes
MakeMethod = Callable[[nn.Module, Votes], Method]


def find_method(method: str | MakeMethod) -> MakeMethod:
    """The method that a name such as `conal[scale=1e-4]` stands for; a function is one already."""
    if not isinstance(method, str):
        return method
    known = {n: m for m in METHODS.values() for n in (m.name, m.__name__, *m.aliases)}
    made, options = choose(method, known, "method")
    return partial(made, **options)


def make_network(network: Network, rows: Rows, classes: int) -> nn.Module:
    """A network for these rows, checked to give one number for each class."""
    first = rows.take(torch.zeros(1, dtype=torch.long), train=False)
    if isinstance(network, nn.Module):
        net = copy.deepcopy(network)
    else:
        make, options = choose(network, NETWORKS, "network") if isinstance(network, str) else (network, {})
        net = make(first.shape[1] if first.ndim > 1 else 1, classes, **options)
    net.eval().to(first.device)
    try:
        with torch.no_grad():
            shape = tuple(net(first).shape)
    except RuntimeError as error:
        was = "x".join(map(str, first.shape[1:]))
        raise ValueError(f"the network cannot be applied to a row of X, which is {was}: {error}") from None
    if shape != (1, classes):
        raise ValueError(
            f"the network gives {shape[-1]} numbers for a row of X, expected {classes} (classes)"
        )
    return net
