"""Saved state of a project: its newest model update, and its audit."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import audits, model_updates

WITH_ARRAYS = b"crowdpilot-arrays-1\n"  # the first bytes of a model update with arrays of bytes

# Model updates, by the primary key


def pack_model_update(model_update: dict[str, Any]) -> bytes:
    """`Campaign.model_update` as bytes; made before the transaction, because it takes a while.

    A mark, the length of a JSON text, the text, and the compressed arrays one after the other: so that large
    arrays are read by calls during which other threads run, unlike a JSON text of many megabytes.
    """
    arrays: list[bytes] = []

    def separate(packed: dict[str, Any]) -> dict[str, Any]:
        arrays.append(b64decode(packed["array"]))
        return {**packed, "array": len(arrays[-1])}

    text = json.dumps(_replace_arrays(model_update, separate)).encode()
    return b"".join([WITH_ARRAYS, len(text).to_bytes(8, "little"), text, *arrays])


def unpack_model_update(data: bytes) -> dict[str, Any]:
    """What `pack_model_update` has packed, with arrays for `unpack`; or compressed JSON, as it was before."""
    if not data.startswith(WITH_ARRAYS):
        stored: dict[str, Any] = json.loads(zlib.decompress(data))
        return stored
    start = len(WITH_ARRAYS) + 8
    at = start + int.from_bytes(data[len(WITH_ARRAYS) : start], "little")
    view = memoryview(data)

    def join(packed: dict[str, Any]) -> NDArray[Any]:
        nonlocal at
        first, at = at, at + packed["array"]
        array = np.frombuffer(zlib.decompress(view[first:at]), packed["type"])
        return array.astype(array.dtype.newbyteorder("=")).reshape(packed["shape"])

    model_update: dict[str, Any] = _replace_arrays(json.loads(data[start:at]), join)
    return model_update


def _replace_arrays(value: Any, replace: Callable[[dict[str, Any]], Any]) -> Any:
    """The same JSON value with every array in it, as `pack` makes them, replaced."""
    if isinstance(value, list):
        return [_replace_arrays(part, replace) for part in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return replace(value)
    return {name: _replace_arrays(part, replace) for name, part in value.items()}


def write_model_update(c: Connection, project: str, data: bytes, votes: int) -> int:
    """Replace the model update, fitted to so many votes, in a write transaction; its change number."""
    number = int(projects.next_change(c, project).change_number)
    c.execute(delete(model_updates).where(model_updates.c.project == project))
    c.execute(insert(model_updates).values(project=project, change_number=number, votes=votes, data=data))
    projects.change(c, project, update_number=number, fitted=votes)
    return number


def read_model_update(c: Connection, project: str) -> dict[str, Any] | None:
    """The newest model update, None before the first refit; in the read transaction of a replica."""
    row = c.execute(select(model_updates.c.data).where(model_updates.c.project == project)).first()
    if row is None:
        return None
    return unpack_model_update(bytes(row.data))


def remove_model_update(c: Connection, project: str) -> None:
    """Delete the model update of a project, in a write transaction: replicas go on without one."""
    c.execute(delete(model_updates).where(model_updates.c.project == project))
    projects.change(c, project, update_number=0, fitted=0)


# Audits, by the primary key


def read_audit(c: Connection, project: str) -> Row | None:
    """The audit of a project, None if none has begun."""
    return c.execute(select(audits).where(audits.c.project == project)).first()


def audit_version(c: Connection, project: str) -> int:
    """The version of the audit of a project, 0 if none has begun."""
    return c.execute(select(audits.c.version).where(audits.c.project == project)).scalar() or 0


def write_audit(c: Connection, project: str, data: dict[str, Any], version: int) -> bool:
    """Write an audit that was read at this version, 0 if there was none, in a write transaction.

    Returns False if it has changed since (optimistic locking).
    """
    if version:
        same = audits.c.project == project, audits.c.version == version
        return c.execute(update(audits).where(*same).values(data=data, version=version + 1)).rowcount > 0
    try:
        with c.begin_nested():
            c.execute(insert(audits).values(project=project, data=data, version=1))
    except IntegrityError:
        return False
    return True


def remove_audit(c: Connection, project: str) -> bool:
    """Delete an audit in a write transaction; whether there was one."""
    return c.execute(delete(audits).where(audits.c.project == project)).rowcount > 0
