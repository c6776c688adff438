"""Networks by name: one function each, one line here; those of torchvision have their names there."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from crowdpilot.learning.networks.dense import linear, mlp
from crowdpilot.learning.networks.huggingface import transformer
from crowdpilot.learning.networks.small_resnet import resnet_small

NETWORKS: dict[str, Callable[..., nn.Module]] = {  # of features (or channels) and classes
    "linear": linear,
    "mlp": mlp,
    "resnet_small": resnet_small,
    "transformer": transformer,
}

__all__ = ["NETWORKS", "linear", "mlp", "resnet_small", "transformer"]
