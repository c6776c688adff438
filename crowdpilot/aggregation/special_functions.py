"""What numpy and torch call by different names, for arrays and tensors alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from crowdpilot.arrays import library


def like(values: Any, array: Any) -> Any:
    """The values as an array of the same kind as another: its library, type and device."""
    if isinstance(array, np.ndarray):
        return np.asarray(values, array.dtype)
    return library(array).as_tensor(values, dtype=array.dtype, device=array.device)


def contiguous(array: Any) -> Any:
    """The array with its numbers one after the other in memory."""
    return np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array.contiguous()


def repeats(array: Any) -> bool:
    """Whether all of the first axis are the same numbers in memory."""
    step = array.strides[0] if isinstance(array, np.ndarray) else array.stride(0)
    return bool(step == 0)


def digamma(x: Any) -> Any:
    """The derivative of `gammaln`."""
    return _home(x).digamma(x)


def gammaln(x: Any) -> Any:
    """The log of the gamma function."""
    return _home(x).gammaln(x)


def expit(x: Any) -> Any:
    """The logistic function."""
    return _home(x).expit(x)


def log_expit(x: Any) -> Any:
    """The log of the logistic function."""
    return special.log_expit(x) if isinstance(x, np.ndarray) else library(x).nn.functional.logsigmoid(x)


def _home(x: Any) -> Any:
    """The module that has the functions above, and calls them so."""
    return special if isinstance(x, np.ndarray | np.generic) else library(x).special
