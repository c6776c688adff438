"""Posteriors from log-joint probabilities, and parameters moved between host and device, as tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from crowdpilot.arrays import Floats


def softmax_(log_joint: Tensor) -> Tensor:
    """Turn log P(state, votes) into the posterior *in place*; return the log-likelihood.

    `log_joint` is (tasks, states). As `arrays.softmax_`.
    """
    evidence = log_joint.logsumexp(dim=1)
    log_joint.sub_(evidence[:, None]).exp_()
    return evidence.sum()


def hardmax_(log_joint: Tensor) -> Tensor:
    """Put all probability of a row on its maximum *in place*, ties equally; return the sum of maxima."""
    best = log_joint.max(dim=1).values
    slack = 1e-12 * (1 + best.abs())
    close = log_joint >= (best - slack)[:, None]
    torch.div(close, close.sum(dim=1, keepdim=True), out=log_joint)
    return best.sum()


def sum_hidden_kinds(posterior: Tensor, classes: int) -> Tensor:
    """Posterior of the classes (tasks, classes), summed over the hidden kinds of each class."""
    return posterior.view(len(posterior), classes, -1).sum(dim=2)


def to_device(array: Floats, device: torch.device) -> Tensor:
    """An array on a device, in double precision; rows that are one broadcast row are copied once."""
    if array.ndim > 1 and array.strides[0] == 0 and len(array):
        return to_device(array[:1].copy(), device).expand(array.shape)
    return torch.tensor(array, dtype=torch.float64, device=device)


def map_tensors(function: Callable[[Tensor], Any], params: Any) -> Any:
    """Apply a function to all tensors of nested tuples, and keep the types of named tuples."""
    if isinstance(params, Tensor):
        return function(params)
    mapped = [map_tensors(function, value) for value in params]
    return type(params)(*mapped) if hasattr(params, "_fields") else tuple(mapped)
