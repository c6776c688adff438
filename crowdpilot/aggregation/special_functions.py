"""Special functions (digamma, gammaln, expit) for numpy arrays and torch tensors alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from crowdpilot.arrays import Floats, library


def like(values: Any, array: Any) -> Any:
    """The values as an array of the same kind as another: its library, type and device."""
    if isinstance(array, np.ndarray):
        return np.asarray(values, array.dtype)
    return library(array).as_tensor(values, dtype=array.dtype, device=array.device)


def contiguous(array: Any) -> Any:
    """The array as one contiguous block of memory."""
    return np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array.contiguous()


def repeats(array: Any) -> bool:
    """Whether the array is broadcast along its first axis: all of it is the same memory."""
    step = array.strides[0] if isinstance(array, np.ndarray) else array.stride(0)
    return bool(step == 0)


def digamma(x: Any) -> Any:
    """The derivative of `gammaln`."""
    return _module_of(x).digamma(x)


def gammaln(x: Any) -> Any:
    """The log of the gamma function."""
    return _module_of(x).gammaln(x)


def expit(x: Any) -> Any:
    """The logistic function."""
    return _module_of(x).expit(x)


def log_expit(x: Any) -> Any:
    """The log of the logistic function."""
    return special.log_expit(x) if isinstance(x, np.ndarray) else library(x).nn.functional.logsigmoid(x)


def log_norm(counts: Floats) -> Floats:
    """Log of the normalizing constant of Dirichlet distributions with these counts, over the last axis."""
    once = counts[:1] if repeats(counts) else counts  # pseudo-counts are the same for all workers
    norm = gammaln(once).sum(axis=-1) - gammaln(once.sum(axis=-1))
    whole: Floats = library(norm).broadcast_to(norm, counts.shape[:-1])
    return whole


def _module_of(x: Any) -> Any:
    """The module that has the functions above under these names."""
    return special if isinstance(x, np.ndarray | np.generic) else library(x).special
