"""Triton kernel of the E-step: one pass over the votes, with the posterior in registers.

Tables in memory may be in single precision, whose bandwidth bounds the speed; sums are in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from crowdpilot.scale.gpu.tensor_votes import TensorVotes

try:
    import triton
    import triton.language as tl
except ModuleNotFoundError:  # it comes with torch for GPUs; elsewhere the kernel is not run
    triton = None

IS_AVAILABLE = triton is not None  # whether the kernel can be run
jit: Any = triton.jit if IS_AVAILABLE else lambda kernel: kernel

MAX_STATES = 4096  # that fit the registers of a program
TILE_ENTRIES = 512  # of the posterior (tasks x states) in the registers of a program at once
PROGRAMS_PER_MULTIPROCESSOR = 16  # each goes over many tasks
MAX_COPIES = 64  # of the table of counts: atomic additions to one address wait for each other
MAX_ENTRIES_OF_ALL_COPIES = 2**22
MAX_SINGLE_PRECISION_VOTES_PER_CELL = 2**17  # with more, sums in single precision would lose some
PROGRAMS_WITHOUT_GPU = 16  # where the kernel is interpreted


class Counts(NamedTuple):
    """Expected counts of a pass, in double precision."""

    states: Tensor  # (states,): sums of the posterior over tasks
    table: Tensor  # (workers x classes, states): sums of the posterior over the tasks of each label
    log_likelihood: Tensor


def e_step(votes: TensorVotes, table: Tensor, log_prior: Tensor, *, hard: bool) -> Counts:
    """Expected counts under the posterior of a table.

    Parameters
    ----------
    votes
        Votes on the device.
    table
        log P(label of the worker | state), (workers x classes, states).
    log_prior
        (states,).
    hard
        Whether all probability goes to the most probable state, and ties are shared.
    """
    return _launch(votes, table, log_prior, table, hard=hard, infer=True, count=True)


def posterior(votes: TensorVotes, table: Tensor, log_prior: Tensor) -> Tensor:
    """The posterior of each task, (tasks, states); parameters as in `e_step`."""
    probs = log_prior.new_empty(len(votes.tasks), len(log_prior))
    _launch(votes, table, log_prior, probs, hard=False, infer=True, count=False)
    return probs


def expected_counts(votes: TensorVotes, probs: Tensor) -> Counts:
    """Expected counts under a given posterior, (tasks, states)."""
    return _launch(votes, probs, probs, probs, hard=False, infer=False, count=True)


def _launch(
    votes: TensorVotes,
    table: Tensor,
    log_prior: Tensor,
    probs: Tensor,
    *,
    hard: bool,
    infer: bool,
    count: bool,
) -> Counts:
    """Run the kernel: `infer` computes the posterior from `table`, else it is read from `probs`.

    With `count` it is summed into counts, else it is written to `probs`.
    """
    states = probs.shape[1]
    width = 1 << (states - 1).bit_length()
    height = max(1, TILE_ENTRIES // width)
    rows = len(votes.workers) * len(votes.classes)
    programs = _n_programs(votes, height)
    copies = min(MAX_COPIES, programs, max(1, MAX_ENTRIES_OF_ALL_COPIES // (rows * states))) if count else 1
    overflows = count and votes.max_votes_per_cell > MAX_SINGLE_PRECISION_VOTES_PER_CELL * copies
    dtype = torch.float64 if overflows else table.dtype
    table_counts = probs.new_zeros(copies, rows if count else 0, states, dtype=dtype)
    state_counts = probs.new_empty(programs, width, dtype=torch.float64)
    log_likelihood = probs.new_empty(programs, dtype=torch.float64)
    _e_step_kernel[(programs,)](
        votes.cell, votes.starts, _or_placeholder(votes.weight, probs),
        _or_placeholder(votes.gold, votes.starts), table, log_prior, probs, table_counts, state_counts,
        log_likelihood, len(votes.tasks), rows * states, copies,
        STATES=states, WIDTH=width, HEIGHT=height, KINDS=max(1, states // len(votes.classes)),
        WEIGHTED=votes.weight is not None, GOLD=votes.gold is not None,
        INFER=infer, HARD=hard, COUNT=count,
    )  # fmt: skip
    by_state = state_counts.sum(dim=0)[:states]
    return Counts(by_state, table_counts.sum(dim=0, dtype=torch.float64), log_likelihood.sum())


def _n_programs(votes: TensorVotes, height: int) -> int:
    """Number of programs that share the tasks."""
    at_once = PROGRAMS_WITHOUT_GPU
    if votes.cell.is_cuda:
        properties = torch.cuda.get_device_properties(votes.cell.device)
        at_once = properties.multi_processor_count * PROGRAMS_PER_MULTIPROCESSOR
    return max(1, min(at_once, -(-len(votes.tasks) // height)))


def _or_placeholder(column: Tensor | None, placeholder: Tensor) -> Tensor:
    """A column, or a tensor in its place that the kernel never reads."""
    return placeholder if column is None else column


@jit  # type: ignore[untyped-decorator]  # triton has no types
def _e_step_kernel(  # type: ignore[no-untyped-def]  # pointers have no types
    cell, starts, weight, gold, table, log_prior, probs, table_counts, state_counts, log_likelihood,
    tasks, size, copies,
    STATES: tl.constexpr, WIDTH: tl.constexpr, HEIGHT: tl.constexpr, KINDS: tl.constexpr,
    WEIGHTED: tl.constexpr, GOLD: tl.constexpr,
    INFER: tl.constexpr, HARD: tl.constexpr, COUNT: tl.constexpr,
):  # fmt: skip
    """HEIGHT tasks at a time, their votes one after the other, all STATES (padded to WIDTH) at once."""
    state = tl.arange(0, WIDTH)
    is_state = state < STATES
    own_counts = table_counts + (tl.program_id(0) % copies).to(tl.int64) * size
    state_sums = tl.zeros([WIDTH], tl.float64)
    evidence_sums = tl.zeros([HEIGHT], tl.float64)
    for first in range(tl.program_id(0) * HEIGHT, tasks, tl.num_programs(0) * HEIGHT):
        task = first + tl.arange(0, HEIGHT)
        is_task = task < tasks
        begin = tl.load(starts + task, mask=is_task, other=0)
        n_votes = tl.load(starts + task + 1, mask=is_task, other=0) - begin
        most = tl.max(n_votes)
        entry = task.to(tl.int64)[:, None] * STATES + state[None, :]
        is_entry = is_task[:, None] & is_state[None, :]
        if INFER:
            base = tl.load(log_prior + state, mask=is_state, other=-float("inf"))
            joint = tl.zeros([HEIGHT, WIDTH], tl.float64) + base[None, :]
            for n in range(most):
                is_vote = n < n_votes
                row = tl.load(cell + begin + n, mask=is_vote, other=0).to(tl.int64)
                valid = is_vote[:, None] & is_state[None, :]
                logs = tl.load(table + row[:, None] * STATES + state[None, :], mask=valid, other=0.0)
                logs = logs.to(tl.float64)
                if WEIGHTED:
                    logs *= tl.load(weight + begin + n, mask=is_vote, other=0.0)[:, None]
                joint += logs
            if GOLD:
                known = tl.load(gold + task, mask=is_task, other=-1)[:, None]
                joint = tl.where((known < 0) | (known == (state // KINDS)[None, :]), joint, -float("inf"))
            top = tl.max(joint, axis=1)
            if HARD:
                close = joint >= (top - 1e-12 * (1 + tl.abs(top)))[:, None]
                shares = tl.where(close & is_state[None, :], 1.0, 0.0).to(tl.float64)
                evidence = top
            else:
                shares = tl.exp(joint - top[:, None])
                evidence = top + tl.log(tl.sum(shares, axis=1))
            tile = shares / tl.sum(shares, axis=1)[:, None]
            tile = tl.where(is_entry, tile, 0.0)
            evidence_sums += tl.where(is_task, evidence, 0.0)
        else:
            tile = tl.load(probs + entry, mask=is_entry, other=0.0).to(tl.float64)
        if COUNT:
            state_sums += tl.sum(tile, axis=0)
            for n in range(most):
                is_vote = n < n_votes
                row = tl.load(cell + begin + n, mask=is_vote, other=0).to(tl.int64)
                valid = is_vote[:, None] & is_state[None, :]
                share = tile
                if WEIGHTED:
                    share *= tl.load(weight + begin + n, mask=is_vote, other=0.0)[:, None]
                target = own_counts + row[:, None] * STATES + state[None, :]
                tl.atomic_add(target, share.to(table_counts.dtype.element_ty), mask=valid, sem="relaxed")
        else:
            tl.store(probs + entry, tile, mask=is_entry)
    tl.store(state_counts + tl.program_id(0) * WIDTH + state, state_sums)
    tl.store(log_likelihood + tl.program_id(0), tl.sum(evidence_sums))
