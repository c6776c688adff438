"""Columns of Arrow tables to codes and numbers, always by way of their distinct values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Encoded
from crowdpilot.io.plain.encoding import ENDINGS, NO_NUMBERS, WHOLE


def vocabulary(column: pa.ChunkedArray | pa.Array) -> tuple[Codes, pa.Array]:
    """The distinct values in the order of their first appearance, and the code of each row.

    A missing value has the code -1. The values of a dictionary may repeat themselves.
    """
    column = _plain(pa.chunked_array([column]) if isinstance(column, pa.Array) else column)
    if pa.types.is_dictionary(column.type):
        codes, names = _split(column.unify_dictionaries())
        codes, places = _split(pa.chunked_array([codes]).dictionary_encode())
        names = names.take(places)
    else:
        codes, names = _split(column.dictionary_encode())
    return codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False), names


def _split(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Codes and names of a column whose chunks share one dictionary."""
    if column.num_chunks == 0:
        return pa.array([], pa.int32()), pa.array([], column.type.value_type)
    chunks = column.chunks
    return pa.chunked_array([chunk.indices for chunk in chunks]).combine_chunks(), chunks[-1].dictionary


def encode_column(column: pa.ChunkedArray, is_text: bool = False, listed: pa.Array | None = None) -> Encoded:
    """Number the values of a column; nothing, NaN and the empty text are missing; see `Engine`."""
    codes, names = vocabulary(column)
    if listed is not None:
        kinds = {array.type for array in (listed, names) if len(array)} - {pa.null()}
        kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
        names = pa.concat_arrays([listed.cast(kind), names.cast(kind)])
        codes = np.where(codes >= 0, codes + np.int32(len(listed)), np.int32(-1))
    tidy = encode_names(names, is_text)
    return Encoded(np.append(tidy.codes, np.int32(-1))[codes], tidy.names)


def encode_names(names: pa.Array, is_text: bool) -> Encoded:
    """The same for values that are few."""
    present, values = _tidy(names, is_text)
    again = values.dictionary_encode()
    codes = np.full(len(names), -1, np.int32)
    codes[present] = again.indices.to_numpy(zero_copy_only=False)
    found = again.dictionary.to_numpy(zero_copy_only=False)
    return Encoded(codes, found.astype(object) if _is_string(values.type) else found)


def _tidy(names: pa.Array, is_text: bool) -> tuple[NDArray[np.bool_], pa.Array]:
    """Which values are present, and those in a type that Votes can hold."""
    kind, present = names.type, names.is_valid()
    if _is_string(kind):
        present = pc.and_(present, pc.not_equal(names, "").fill_null(False))
        numbers = pc.and_(present, pc.invert(pc.is_in(names, pa.array(NO_NUMBERS, kind))))
        if is_text and _are_whole(names.filter(numbers)):
            plain = pc.replace_substring(names.filter(numbers), ".0", "")
            return _mask(numbers), plain.cast(pa.int64())
        return _mask(present), names.filter(present)
    if pa.types.is_floating(kind):
        present = pc.and_(present, pc.invert(pc.is_nan(names)).fill_null(False))
        return _mask(present), _whole_if_possible(names.filter(present).cast(pa.float64()))
    is_small = pa.types.is_integer(kind) and kind != pa.uint64()
    target = pa.int64() if is_small else kind if pa.types.is_boolean(kind) else pa.string()
    return _mask(present), names.filter(present).cast(target)


def _mask(present: pa.Array) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = present.to_numpy(zero_copy_only=False)
    return mask


def _whole_if_possible(names: pa.Array) -> pa.Array:
    values = names.to_numpy(zero_copy_only=False)
    whole = (values == np.floor(values)) & (np.abs(values) < 2**53)
    return names.cast(pa.int64()) if whole.all() else names


def _are_whole(names: pa.Array) -> bool:
    matches = (pc.all(pc.match_substring_regex(names, WHOLE % ending)).as_py() for ending in ENDINGS)
    return len(names) > 0 and any(matches)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Types that Arrow cannot number are cast to one that it can."""
    is_dictionary = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_dictionary else column.type
    if pa.types.is_nested(kind):
        raise ValueError(f"found values of type {kind}")
    if not (pa.types.is_string_view(kind) or pa.types.is_null(kind)):
        return column
    text = pa.large_string()
    return column.cast(pa.dictionary(column.type.index_type, text) if is_dictionary else text)
