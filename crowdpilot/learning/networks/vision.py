"""Vision networks: those of torchvision by name, which is loaded when one is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from crowdpilot.optional_packages import load

FAMILIES = (
    "alexnet", "convnext", "densenet", "efficientnet", "maxvit", "mnasnet", "mobilenet", "regnet", "resnet",
    "resnext", "shufflenet", "squeezenet", "swin", "vgg", "vit", "wideresnet",
)  # fmt: skip
OWN_NETWORK = "resnetsmall"
MAX_STEM_PIXELS = 7  # a first convolution that is wider cuts an image into patches


def is_vision(name: str) -> bool:
    """Whether a network of this name is one of torchvision's."""
    plain = re.sub(r"[\s_-]", "", name.partition("[")[0]).lower()
    return plain.startswith(FAMILIES) and plain != OWN_NETWORK


def vision_networks(name: str) -> dict[str, Callable[..., nn.Module]]:
    """All networks of torchvision for images; `name` is in the error if it is not installed."""
    models = load("torchvision.models", name)
    names = models.list_models(module=models)
    return {listed: partial(vision, listed) for listed in names if is_vision(listed)}


def vision(
    name: str,
    features: int,
    classes: int,
    *,
    pretrained: bool = False,
    weights: str | None = None,
    small: bool = False,
) -> nn.Module:
    """A network of torchvision with a last layer for these classes.

    Parameters
    ----------
    name
        Such as "resnet18".
    features, classes
        Channels of the images, and number of logits.
    pretrained
        Start from the weights of torchvision, which are downloaded once.
    weights
        Start from the weights in this file (.safetensors or .pth) instead.
    small
        For images of about 32 x 32 pixels: the first layers keep their size.
    """
    models = import_module("torchvision.models")
    net: nn.Module = models.get_model(name, weights=None, num_classes=classes)
    if weights is not None:
        load_body(net, _read_weights(Path(weights)), weights)
    elif pretrained:
        load_body(net, models.get_model_weights(name).DEFAULT.get_state_dict(progress=False), name)
    if small or features != 3:
        fit_stem(net, features, small=small)
    return net


def load_body(net: nn.Module, state: dict[str, Tensor], source: str) -> None:
    """Load all weights but those of the last layer, which is new."""
    head = f"{head_of(net)}."
    try:
        keys = net.load_state_dict({k: v for k, v in state.items() if not k.startswith(head)}, strict=False)
        unfit = [key for key in keys.missing_keys if not key.startswith(head)] + keys.unexpected_keys
    except RuntimeError as error:
        unfit = [str(error).splitlines()[-1].strip()]
    if unfit:
        raise ValueError(f"{source} does not hold the weights of this network: {unfit[0]} does not fit")


def head_of(net: nn.Module) -> str:
    """The path of the last layer that is linear or a convolution."""
    return str([path for path, m in net.named_modules() if isinstance(m, (nn.Linear, nn.Conv2d))][-1])


def without_head(net: nn.Module) -> nn.Module:
    """The same network without its last layer: its output are features."""
    replace_layer(net, head_of(net), nn.Identity())
    return net


def fit_stem(net: nn.Module, features: int, *, small: bool) -> None:
    """Replace the first convolution: by one for so many channels, and for small images if wanted.

    For small images it is a 3 x 3 convolution of stride 1, and a max-pooling that follows at once is
    removed.
    """
    layers = [(p, m) for p, m in net.named_modules() if isinstance(m, (nn.Conv2d, nn.MaxPool2d))]
    path, conv = layers[0]
    if not isinstance(conv, nn.Conv2d) or (small and max(conv.kernel_size) > MAX_STEM_PIXELS):
        raise ValueError("this network cuts images into patches, so that it has no form for small ones")
    window: dict[str, Any] = {"kernel_size": 3, "stride": 1, "padding": 1}
    if not small:
        window = {name: getattr(conv, name) for name in window}
    fresh = nn.Conv2d(features, conv.out_channels, **window, bias=conv.bias is not None)
    replace_layer(net, path, fresh)
    for after, pool in layers[1:2]:
        if small and isinstance(pool, nn.MaxPool2d):
            replace_layer(net, after, nn.Identity())


def replace_layer(net: nn.Module, path: str, layer: nn.Module) -> None:
    """Replace the layer at a path."""
    parent, _, name = path.rpartition(".")
    setattr(net.get_submodule(parent), name, layer)


def _read_weights(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
        return {str(key): value for key, value in state.items() if isinstance(value, Tensor)}
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0][:100]
        raise ValueError(f"{path}: cannot be read as weights ({reason})") from error
