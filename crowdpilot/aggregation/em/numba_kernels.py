"""One pass over the votes instead of two sparse products, compiled by numba.

The tasks are taken in blocks that fit the cache: their rows of the table are added up, turned into
beliefs, and these are added to the counts of the same rows while they are at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import float32, njit, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats

BLOCK = 128  # tasks at a time
AHEAD = 24  # votes between asking for a row and using it
TIE = 1e-12  # as in `share_best`
SAFE = 32  # sums of up to a million terms that can be multiplied before taking the log

Rows = NDArray[np.float32] | Floats

compiled: Any = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
exactly: Any = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})


def _fetch(typing: Any, array: Any, row: Any) -> Any:
    """Ask for the beginning of a row before it is needed: the rows of votes lie anywhere in memory."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = context.make_array(signature.args[0])(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, rows.strides)[0]
        number = context.cast(builder, args[1], signature.args[1], types.int64)
        place = builder.add(builder.ptrtoint(rows.data, ir.IntType(64)), builder.mul(number, width))
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(call, [builder.inttoptr(place, pointer), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, row), generate


fetch: Any = intrinsic(_fetch)


@compiled
def add_rows(
    starts: NDArray[np.int64], cell: NDArray[Any], weight: Any, table: Rows, said: Any, out: Floats
) -> None:
    """Sum of the rows of the votes of each task, added to `out` (tasks x states, flat)."""
    K = table.shape[1]
    last = len(cell) - 1
    for t in range(len(starts) - 1):
        at = uint64(t * K)
        for v in range(starts[t], starts[t + 1]):
            later = uint64(cell[min(v + AHEAD, last)])
            fetch(table, later)
            if said is not None:
                fetch(said, later)
            c = uint64(cell[v])
            if weight is None:
                for k in range(K):
                    out[at + uint64(k)] += table[c, k]
            else:
                for k in range(K):
                    out[at + uint64(k)] += weight[v] * table[c, k]


@exactly
def exponentiate(values: Floats, powers: Floats) -> None:
    """Exponentials of numbers below zero, in place, to a relative 1e-15.

    exp(x) = 2^n exp(r), where r is at most half of log 2 and its series ends at the 13th power.
    """
    bits = powers.view(np.int64)
    for i in range(len(values)):
        x = max(values[i], -700.0)
        n = np.floor(x * 1.4426950408889634 + 0.5)
        r = x - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10  # log 2 in two parts
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = ((p * r + 0.5) * r + 1.0) * r + 1.0
        bits[i] = (np.int64(n) + 1023) << 52
        values[i] = p * powers[i]


@compiled
def settle(joint: Floats, K: int, hard: bool, powers: Floats) -> float:
    """Turn rows of logs (tasks x K, flat) into beliefs in place; return the log-likelihood."""
    n = len(joint) // K
    total = 0.0
    for t in range(n):
        at = uint64(t * K)
        top = joint[at]
        for k in range(1, K):
            top = max(top, joint[at + uint64(k)])
        total += top
        slack = TIE * (1 + abs(top))
        for k in range(K):
            gap = joint[at + uint64(k)] - top
            joint[at + uint64(k)] = (0.0 if gap >= -slack else -np.inf) if hard else gap
    exponentiate(joint, powers[: len(joint)])
    product = 1.0
    for t in range(n):
        at = uint64(t * K)
        mass = 0.0
        for k in range(K):
            mass += joint[at + uint64(k)]
        share = 1.0 / mass
        for k in range(K):
            joint[at + uint64(k)] *= share
        product *= 1.0 if hard else mass
        if t % SAFE == SAFE - 1:
            total += np.log(product)
            product = 1.0
    return total + float(np.log(product))


@compiled
def know(joint: Floats, K: int, gold: Codes, classes: int) -> None:
    """Make all states but those of the known class impossible, where it is known."""
    each = K // classes
    for t in range(len(gold)):
        if gold[t] >= 0:
            for k in range(K):
                if k // each != gold[t]:
                    joint[t * K + k] = -np.inf


@compiled
def scatter(starts: NDArray[np.int64], cell: NDArray[Any], weight: Any, belief: Floats, said: Rows) -> None:
    """Add the beliefs of tasks (tasks x states, flat) to the rows of their votes."""
    K = said.shape[1]
    for t in range(len(starts) - 1):
        at = uint64(t * K)
        for v in range(starts[t], starts[t + 1]):
            c = uint64(cell[v])
            if weight is None:
                for k in range(K):
                    said[c, k] += float32(belief[at + uint64(k)])
            else:
                for k in range(K):
                    said[c, k] += float32(weight[v] * belief[at + uint64(k)])


@compiled
def believe(
    starts: NDArray[np.int64],
    cell: NDArray[Any],
    weight: Any,
    gold: Any,
    classes: int,
    table: Rows,
    start: Floats,
    hard: bool,
    said: Any,
    out: Floats,
    powers: Floats,
) -> float:
    """Work out the beliefs of some tasks; return their log-likelihood.

    Parameters
    ----------
    starts, cell, weight
        Where the votes of each task begin and end; their rows; their weights or None.
    gold, classes
        The known class of each task, or None; each class has as many states as the others.
    table, start
        Logs, (rows, states) and (states,).
    hard
        Whether a task counts for its best state alone.
    said
        Rows that will be needed next, or None.
    out, powers
        Room for the beliefs (tasks x states, flat), and as much again.
    """
    K = len(start)
    for t in range(len(starts) - 1):
        for k in range(K):
            out[t * K + k] = start[k]
    add_rows(starts, cell, weight, table, said, out)
    if gold is not None:
        know(out, K, gold, classes)
    total: float = settle(out, K, hard, powers)
    return total


@compiled
def count(
    starts: NDArray[np.int64],
    cell: NDArray[Any],
    weight: Any,
    gold: Any,
    classes: int,
    table: Rows,
    start: Floats,
    hard: bool,
    seen: Floats,
    said: NDArray[np.float32],
) -> float:
    """Add the counts of some tasks to `seen` (states,) and `said` (rows, states); as `believe` otherwise."""
    K = len(start)
    belief, powers = np.empty(BLOCK * K), np.empty(BLOCK * K)
    total = 0.0
    for a in range(0, len(starts) - 1, BLOCK):
        bounds = starts[a : a + BLOCK + 1]
        n = len(bounds) - 1
        known = None if gold is None else gold[a : a + n]
        rows = belief[: n * K]
        total += believe(bounds, cell, weight, known, classes, table, start, hard, said, rows, powers)
        for t in range(n):
            for k in range(K):
                seen[k] += rows[t * K + k]
        scatter(bounds, cell, weight, rows, said)
    return total


@compiled
def fill(
    starts: NDArray[np.int64],
    cell: NDArray[Any],
    weight: Any,
    gold: Any,
    classes: int,
    table: Rows,
    start: Floats,
    hard: bool,
    out: Floats,
) -> None:
    """Beliefs of some tasks, into `out` (tasks x states, flat); as `believe` otherwise."""
    K = len(start)
    powers = np.empty(BLOCK * K)
    for a in range(0, len(starts) - 1, BLOCK):
        bounds = starts[a : a + BLOCK + 1]
        b = a + len(bounds) - 1
        known = None if gold is None else gold[a:b]
        rows = out[a * K : b * K]
        believe(bounds, cell, weight, known, classes, table, start, hard, None, rows, powers)
