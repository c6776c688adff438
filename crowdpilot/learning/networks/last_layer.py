"""The last layer of any network, and what it is given."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def find_last(net: nn.Module, classes: int) -> tuple[str, nn.Linear] | None:
    """The last linear layer with one output for each class, and its name, which is "" for `net` itself."""
    parts = ((name, part) for name, part in net.named_modules() if isinstance(part, nn.Linear))
    fitting = [(name, part) for name, part in parts if part.out_features == classes]
    return fitting[-1] if fitting else None


def apply_and_tap(net: nn.Module, layer: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """What the network says of x, and what one of its layers was given for it."""
    given: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    try:
        logits: Tensor = net(x)
    finally:
        hook.remove()
    features = torch.cat(given) if sum(map(len, given)) == len(x) else given[-1]  # x may be read in parts
    if features.ndim != 2:
        raise ValueError(
            "the last layer of the network looks at each token alone, so that there are no features of a "
            "whole text; choose a method such as crowdlayer"
        )
    return logits, features
