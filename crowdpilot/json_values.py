"""Values as plain data that JSON can hold, bit for bit."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np


def pack(value: Any) -> Any:
    """Plain data for a value: arrays, collections, numbers and texts.

    Examples
    --------
    >>> pack({(1, 2): [0.5]})
    {'pairs': [[{'tuple': [1, 2]}, [0.5]]]}
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [pack(v) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [pack(v) for v in value]}
    if isinstance(value, set):
        return {"set": [pack(v) for v in sorted(value)]}
    if isinstance(value, dict):
        return {"pairs": [[pack(k), pack(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        small = value.astype(value.dtype.newbyteorder("<"))
        packed = b64encode(zlib.compress(small.tobytes(), 1)).decode()
        return {"array": packed, "type": small.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return pack(value.item())
    raise ValueError(f"{value!r} cannot be written down; names are texts or numbers")


def unpack(data: Any) -> Any:
    """What `pack` was given."""
    if isinstance(data, list):
        return [unpack(v) for v in data]
    if not isinstance(data, Mapping):
        return data
    if "tuple" in data:
        return tuple(unpack(v) for v in data["tuple"])
    if "set" in data:
        return {unpack(v) for v in data["set"]}
    if "pairs" in data:
        return {unpack(k): unpack(v) for k, v in data["pairs"]}
    stored = np.frombuffer(zlib.decompress(b64decode(data["array"])), data["type"])
    return stored.astype(stored.dtype.newbyteorder("=")).reshape(data["shape"])
