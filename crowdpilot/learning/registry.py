"""Registry: networks, methods and backbones by name with options in brackets, and their construction."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.frozen_features import Backbone
from crowdpilot.learning.layers import standardize_layer
from crowdpilot.learning.method import Method
from crowdpilot.learning.methods import METHODS
from crowdpilot.learning.networks import NETWORKS
from crowdpilot.learning.networks.huggingface import transformer
from crowdpilot.learning.networks.vision import is_vision, vision_networks
from crowdpilot.option_strings import choose
from crowdpilot.votes import Votes

Network = str | nn.Module | Callable[[int, int], nn.Module]  # a name, a module, or a function of two sizes
MakeMethod = Callable[[nn.Module, Votes], Method]

INITIAL_WEIGHTS = ("pretrained", "weights")  # options of a network about its initial weights


def find_method(method: str | MakeMethod) -> MakeMethod:
    """The method that a name such as `conal[scale=1e-4]` stands for; a function is one already."""
    if not isinstance(method, str):
        return method
    known = {n: m for m in METHODS.values() for n in (m.name, m.__name__, *m.aliases)}
    kind, options = choose(method, known, "method")
    return partial(kind, **options)


def find_network(name: str) -> tuple[Callable[..., nn.Module], dict[str, Any]]:
    """The function that a name such as `mlp[hidden=256]` stands for, and its options."""
    known = {**NETWORKS, **vision_networks(name)} if is_vision(name) else NETWORKS
    return choose(name, known, "network")


def make_network(
    network: Network, rows: Rows, classes: int, *, standardize: bool = True, blank: bool = False
) -> nn.Module:
    """A network for these rows, checked to have one output for each class.

    Parameters
    ----------
    network
        A name, a function of the numbers of features (channels of images) and classes, or a
        module, which is copied.
    rows
        Its input.
    classes
        How many there are.
    standardize
        Whether its input is standardized first; see `standardize_layer`.
    blank
        Whether its weights will be replaced, so that none are read or downloaded.
    """
    first = rows.take(torch.zeros(1, dtype=torch.long), train=False)
    if isinstance(network, nn.Module):
        net = copy.deepcopy(network)
    else:
        make, options = find_network(network) if isinstance(network, str) else (network, {})
        net = make(first.shape[1], classes, **(_without_initial_weights(make, options) if blank else options))
    if standardize and not getattr(net, "reads_tokens", False):
        net = nn.Sequential(standardize_layer(rows), net)
    net.eval().to(first.device)
    _check_output(net, first, classes)
    return net


def find_backbone(network: Network, backbone: Backbone | None) -> Backbone | None:
    """The backbone, which for a transformer is its tokenizer."""
    make, options = (None, {}) if _is_not_listed(network) else find_network(str(network))
    if make is not transformer:
        return backbone
    if backbone is not None:
        raise ValueError("a transformer reads texts itself; leave the backbone out")
    tokenizer_options = ",".join(
        f"{name}={value!r}" for name, value in options.items() if name not in INITIAL_WEIGHTS
    )
    return f"tokens[{tokenizer_options}]"


def _is_not_listed(network: Network) -> bool:
    return not isinstance(network, str) or is_vision(network)


def _without_initial_weights(make: Callable[..., nn.Module], options: dict[str, Any]) -> dict[str, Any]:
    """The options without those about initial weights."""
    others = {name: value for name, value in options.items() if name not in INITIAL_WEIGHTS}
    return others | ({"pretrained": False} if "pretrained" in inspect.signature(make).parameters else {})


def _check_output(net: nn.Module, first: Tensor, classes: int) -> None:
    try:
        with torch.no_grad():
            shape = tuple(net(first).shape)
    except Exception as error:
        row, reason = "x".join(map(str, first.shape[1:])), str(error).partition("\n")[0]
        hint = "; for images there is resnet_small" if first.ndim == 4 else ""
        raise ValueError(
            f"the network cannot be applied to a row of X, which is {row} ({reason}){hint}"
        ) from error
    if shape != (1, classes):
        outputs = shape[-1] if len(shape) == 2 else f"{len(shape)} dimensions of"
        raise ValueError(f"the network gives {outputs} numbers for a row of X, expected {classes} (classes)")
