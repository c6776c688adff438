"""What is given with items: a machine's word, and known classes; checked before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Floats


def check_machine(said: Any, n: int, K: int) -> Floats | None:
    """What a machine says of `n` items, (items, classes), if it says anything."""
    if said is None:
        return None
    probs = np.asarray(said, np.float64)
    if probs.shape != (n, K):
        raise ValueError(f"the machine's probabilities have shape {probs.shape}, expected {(n, K)}")
    if not (np.isfinite(probs) & (probs >= 0)).all() or not (probs.sum(axis=1) > 0).all():
        raise ValueError("the machine's probabilities hold a number below 0, none at all, or not a number")
    return probs


def gold_codes(known: Mapping[Any, Any] | None, names: list[Any], label: Mapping[Any, int]) -> Codes:
    """The code of the known class of each item, -1 where it is not known."""
    known = known or {}
    if unknown := [name for name in known.values() if name not in label]:
        raise ValueError(f"gold label {unknown[0]!r} is not a class ({', '.join(map(str, label))})")
    return np.asarray([label[known[name]] if name in known else -1 for name in names], np.int32)
