"""Networks by name: one function each, one line here; those of torchvision have their names there."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from crowdpilot.learning.networks.mlp import linear, mlp
from crowdpilot.learning.networks.resnet_small import resnet_small
from crowdpilot.learning.networks.transformer import transformer

NETWORKS: dict[str, Callable[..., nn.Module]] = {  # of features (or channels) and classes
    "linear": linear,
    "mlp": mlp,
    "resnet_small": resnet_small,
    "transformer": transformer,
}

__all__ = ["NETWORKS", "linear", "mlp", "resnet_small", "transformer"]
