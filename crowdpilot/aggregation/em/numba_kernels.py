"""Numba kernels of EM: the E-step and the expected counts in one pass over the votes.

Tasks are taken in blocks that fit the cache: their rows of the table are added up and turned into
posteriors, which are added to the expected counts of the same rows while these are in the cache.
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

TASKS_PER_BLOCK = 128
PREFETCH_VOTES = 24  # votes between prefetching a row and using it
TIE = 1e-12  # as in `share_best`
FACTORS_PER_LOG = 32  # sums of up to a million terms that can be multiplied before their log is needed

Rows = NDArray[np.float32] | Floats

compiled: Any = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
exactly: Any = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})


def _prefetch(typing: Any, array: Any, row: Any) -> Any:
    """Prefetch the beginning of a row: the rows of successive votes lie anywhere in memory."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = context.make_array(signature.args[0])(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, rows.strides)[0]
        number = context.cast(builder, args[1], signature.args[1], types.int64)
        address = builder.add(builder.ptrtoint(rows.data, ir.IntType(64)), builder.mul(number, width))
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature_type = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        call = cgutils.get_or_insert_function(builder.module, signature_type, "llvm.prefetch.p0")
        builder.call(call, [builder.inttoptr(address, pointer), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, row), generate


prefetch: Any = intrinsic(_prefetch)


@compiled
def add_rows(
    starts: NDArray[np.int64], cell: NDArray[Any], weight: Any, table: Rows, counts: Any, out: Floats
) -> None:
    """Add the rows of the votes of each task to `out` (tasks x states, flat); prefetch those of `counts`."""
    K = table.shape[1]
    last = len(cell) - 1
    for t in range(len(starts) - 1):
        at = uint64(t * K)
        for v in range(starts[t], starts[t + 1]):
            later = uint64(cell[min(v + PREFETCH_VOTES, last)])
            prefetch(table, later)
            if counts is not None:
                prefetch(counts, later)
            c = uint64(cell[v])
            if weight is None:
                for k in range(K):
                    out[at + uint64(k)] += table[c, k]
            else:
                for k in range(K):
                    out[at + uint64(k)] += weight[v] * table[c, k]


@exactly
def exponentiate(values: Floats, powers: Floats) -> None:
    """Exponentials of negative numbers, in place, with a relative error of 1e-15.

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
def normalize(log_joint: Floats, K: int, hard: bool, powers: Floats) -> float:
    """Turn rows of log P(state, votes) (tasks x K, flat) into posteriors in place; the log-likelihood."""
    n = len(log_joint) // K
    total = 0.0
    for t in range(n):
        at = uint64(t * K)
        top = log_joint[at]
        for k in range(1, K):
            top = max(top, log_joint[at + uint64(k)])
        total += top
        slack = TIE * (1 + abs(top))
        for k in range(K):
            gap = log_joint[at + uint64(k)] - top
            log_joint[at + uint64(k)] = (0.0 if gap >= -slack else -np.inf) if hard else gap
    exponentiate(log_joint, powers[: len(log_joint)])
    product = 1.0
    for t in range(n):
        at = uint64(t * K)
        mass = 0.0
        for k in range(K):
            mass += log_joint[at + uint64(k)]
        share = 1.0 / mass
        for k in range(K):
            log_joint[at + uint64(k)] *= share
        product *= 1.0 if hard else mass
        if t % FACTORS_PER_LOG == FACTORS_PER_LOG - 1:
            total += np.log(product)
            product = 1.0
    return total + float(np.log(product))


@compiled
def exclude_other_classes(log_joint: Floats, K: int, gold: Codes, classes: int) -> None:
    """Make all states of other classes impossible, in place, for tasks whose class is known."""
    kinds = K // classes
    for t in range(len(gold)):
        if gold[t] >= 0:
            for k in range(K):
                if k // kinds != gold[t]:
                    log_joint[t * K + k] = -np.inf


@compiled
def scatter(
    starts: NDArray[np.int64], cell: NDArray[Any], weight: Any, posterior: Floats, counts: Rows
) -> None:
    """Add the posteriors of tasks (tasks x states, flat) to the rows of their votes in `counts`."""
    K = counts.shape[1]
    for t in range(len(starts) - 1):
        at = uint64(t * K)
        for v in range(starts[t], starts[t + 1]):
            c = uint64(cell[v])
            if weight is None:
                for k in range(K):
                    counts[c, k] += float32(posterior[at + uint64(k)])
            else:
                for k in range(K):
                    counts[c, k] += float32(weight[v] * posterior[at + uint64(k)])


@compiled
def posterior_of_tasks(
    starts: NDArray[np.int64],
    cell: NDArray[Any],
    weight: Any,
    gold: Any,
    classes: int,
    table: Rows,
    log_prior: Floats,
    hard: bool,
    counts: Any,
    out: Floats,
    powers: Floats,
) -> float:
    """Write the posteriors of some tasks into `out`; return their log-likelihood.

    Parameters
    ----------
    starts, cell, weight
        Where the votes of each task begin and end; the row of each vote; their weights or None.
    gold, classes
        The known class of each task, or None; all classes have the same number of states.
    table, log_prior
        Log P(label | state), (rows, states), and log P(state), (states,).
    hard
        Whether all probability goes to the most probable state.
    counts
        Rows to prefetch because they are needed next, or None.
    out, powers
        Arrays for the posteriors (tasks x states, flat), and for temporaries of the same size.
    """
    K = len(log_prior)
    for t in range(len(starts) - 1):
        for k in range(K):
            out[t * K + k] = log_prior[k]
    add_rows(starts, cell, weight, table, counts, out)
    if gold is not None:
        exclude_other_classes(out, K, gold, classes)
    total: float = normalize(out, K, hard, powers)
    return total


@compiled
def e_step(
    starts: NDArray[np.int64],
    cell: NDArray[Any],
    weight: Any,
    gold: Any,
    classes: int,
    table: Rows,
    log_prior: Floats,
    hard: bool,
    state_counts: Floats,
    counts: NDArray[np.float32],
) -> float:
    """Add the expected counts of some tasks to `state_counts` (states,) and `counts` (rows, states).

    Returns the log-likelihood; the other arguments are those of `posterior_of_tasks`.
    """
    K = len(log_prior)
    posterior, powers = np.empty(TASKS_PER_BLOCK * K), np.empty(TASKS_PER_BLOCK * K)
    total = 0.0
    for a in range(0, len(starts) - 1, TASKS_PER_BLOCK):
        bounds = starts[a : a + TASKS_PER_BLOCK + 1]
        n = len(bounds) - 1
        known = None if gold is None else gold[a : a + n]
        rows = posterior[: n * K]
        total += posterior_of_tasks(
            bounds, cell, weight, known, classes, table, log_prior, hard, counts, rows, powers
        )
        for t in range(n):
            for k in range(K):
                state_counts[k] += rows[t * K + k]
        scatter(bounds, cell, weight, rows, counts)
    return total


@compiled
def fill_posterior(
    starts: NDArray[np.int64],
    cell: NDArray[Any],
    weight: Any,
    gold: Any,
    classes: int,
    table: Rows,
    log_prior: Floats,
    hard: bool,
    out: Floats,
) -> None:
    """Write the posteriors of all tasks into `out` (tasks x states, flat), block by block."""
    K = len(log_prior)
    powers = np.empty(TASKS_PER_BLOCK * K)
    for a in range(0, len(starts) - 1, TASKS_PER_BLOCK):
        bounds = starts[a : a + TASKS_PER_BLOCK + 1]
        b = a + len(bounds) - 1
        known = None if gold is None else gold[a:b]
        rows = out[a * K : b * K]
        posterior_of_tasks(bounds, cell, weight, known, classes, table, log_prior, hard, None, rows, powers)
