"""JSON values: `to_json_value` for people and programs, `pack` and `unpack` for an exact round trip."""

from __future__ import annotations

import math
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np


def to_json_value(value: Any) -> Any:
    """The value as standard JSON can hold it.

    NaN and infinite numbers become null (None), scalars of numpy the numbers of Python, arrays and
    tuples lists, dataclasses and named tuples objects (dicts); anything else becomes text.

    Examples
    --------
    >>> to_json_value({"skill": np.array([0.5, np.nan]), 3: (np.int64(1), True)})
    {'skill': [0.5, None], '3': [1, True]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): to_json_value(item) for name, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [to_json_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (int, str)) or value is None else str(value)


def pack(value: Any) -> Any:
    """Plain data for arrays, collections, numbers and texts, from which `unpack` restores them exactly.

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
    """The value that `pack` turned into this data; arrays may be arrays already."""
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
