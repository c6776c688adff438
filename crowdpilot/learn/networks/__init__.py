"""Networks by name: one function each, one line here."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from crowdpilot.learn.networks.mlp import linear, mlp

NETWORKS: dict[str, Callable[..., nn.Module]] = {"linear": linear, "mlp": mlp}  # of features and classes

__all__ = ["NETWORKS", "linear", "mlp"]
