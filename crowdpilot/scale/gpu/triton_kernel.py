"""One pass over votes on a GPU: rows of a table in, beliefs in registers, counts out.

What lies in memory may be in single precision, which is what bounds the speed; sums are in double.
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

THERE = triton is not None  # whether the kernel can be run
jit: Any = triton.jit if THERE else lambda kernel: kernel

WIDEST = 4096  # states that fit the registers of a program
TILE = 512  # beliefs in the registers of a program at once
PROGRAMS = 16  # for each multiprocessor; each goes over many tasks
SPREAD = 2**22  # numbers in all copies of a small table: adding to one place must wait for the last
MANY = 2**17  # votes in one cell of a table after which single precision would lose some


class Counts(NamedTuple):
    """What is left of a pass, in double precision."""

    seen: Tensor  # (states,): sums of beliefs
    said: Tensor  # (workers x classes, states): sums of beliefs of the tasks a label was given to
    loglik: Tensor


def listen(votes: TensorVotes, table: Tensor, start: Tensor, *, hard: bool) -> Counts:
    """A whole round: beliefs by the rows of `table`, and the counts of those beliefs."""
    return _run(votes, table, start, table, hard=hard, listen=True, tell=True)


def believe(votes: TensorVotes, table: Tensor, start: Tensor) -> Tensor:
    """What is believed of the tasks, (tasks, states), by the rows of `table`."""
    belief = start.new_empty(len(votes.tasks), len(start))
    _run(votes, table, start, belief, hard=False, listen=True, tell=False)
    return belief


def tell(votes: TensorVotes, belief: Tensor) -> Counts:
    """The counts of given beliefs (tasks, states)."""
    return _run(votes, belief, belief, belief, hard=False, listen=False, tell=True)


def _run(
    votes: TensorVotes, table: Tensor, start: Tensor, belief: Tensor, *, hard: bool, listen: bool, tell: bool
) -> Counts:
    states = belief.shape[1]
    width = 1 << (states - 1).bit_length()
    height = max(1, TILE // width)
    rows = len(votes.workers) * len(votes.classes)
    programs = _programs(votes, height)
    copies = min(64, programs, max(1, SPREAD // (rows * states))) if tell else 1
    heavy = tell and votes.heaviest > MANY * copies
    numbers = torch.float64 if heavy else table.dtype
    said = belief.new_zeros(copies, rows if tell else 0, states, dtype=numbers)
    seen = belief.new_empty(programs, width, dtype=torch.float64)
    loglik = belief.new_empty(programs, dtype=torch.float64)
    _pass[(programs,)](
        votes.cell, votes.starts, _or(votes.weight, belief), _or(votes.gold, votes.starts),
        table, start, belief, said, seen, loglik, len(votes.tasks), rows * states, copies,
        STATES=states, WIDTH=width, HEIGHT=height, KINDS=max(1, states // len(votes.classes)),
        WEIGHED=votes.weight is not None, GOLD=votes.gold is not None,
        LISTEN=listen, HARD=hard, TELL=tell,
    )  # fmt: skip
    return Counts(seen.sum(dim=0)[:states], said.sum(dim=0, dtype=torch.float64), loglik.sum())


def _programs(votes: TensorVotes, height: int) -> int:
    """How many programs share the tasks."""
    at_once = 16  # where there is no GPU and the kernel is interpreted
    if votes.cell.is_cuda:
        at_once = torch.cuda.get_device_properties(votes.cell.device).multi_processor_count * PROGRAMS
    return max(1, min(at_once, -(-len(votes.tasks) // height)))


def _or(column: Tensor | None, other: Tensor) -> Tensor:
    """A column, or something in its place that is never read."""
    return other if column is None else column


@jit  # type: ignore[untyped-decorator]  # triton has no types
def _pass(  # type: ignore[no-untyped-def]  # pointers have no types
    cell, starts, weight, gold, table, start, belief, said, seen, loglik, tasks, size, copies,
    STATES: tl.constexpr, WIDTH: tl.constexpr, HEIGHT: tl.constexpr, KINDS: tl.constexpr,
    WEIGHED: tl.constexpr, GOLD: tl.constexpr,
    LISTEN: tl.constexpr, HARD: tl.constexpr, TELL: tl.constexpr,
):  # fmt: skip
    """HEIGHT tasks at a time, their votes one after the other, all WIDTH states at once."""
    state = tl.arange(0, WIDTH)
    inside = state < STATES
    own = said + (tl.program_id(0) % copies).to(tl.int64) * size
    total = tl.zeros([WIDTH], tl.float64)
    evidence = tl.zeros([HEIGHT], tl.float64)
    for first in range(tl.program_id(0) * HEIGHT, tasks, tl.num_programs(0) * HEIGHT):
        task = first + tl.arange(0, HEIGHT)
        real = task < tasks
        begin = tl.load(starts + task, mask=real, other=0)
        count = tl.load(starts + task + 1, mask=real, other=0) - begin
        most = tl.max(count)
        at = task.to(tl.int64)[:, None] * STATES + state[None, :]
        there = real[:, None] & inside[None, :]
        if LISTEN:
            base = tl.load(start + state, mask=inside, other=-float("inf"))
            joint = tl.zeros([HEIGHT, WIDTH], tl.float64) + base[None, :]
            for n in range(most):
                given = n < count
                row = tl.load(cell + begin + n, mask=given, other=0).to(tl.int64)
                held = given[:, None] & inside[None, :]
                logs = tl.load(table + row[:, None] * STATES + state[None, :], mask=held, other=0.0)
                logs = logs.to(tl.float64)
                if WEIGHED:
                    logs *= tl.load(weight + begin + n, mask=given, other=0.0)[:, None]
                joint += logs
            if GOLD:
                known = tl.load(gold + task, mask=real, other=-1)[:, None]
                joint = tl.where((known < 0) | (known == (state // KINDS)[None, :]), joint, -float("inf"))
            top = tl.max(joint, axis=1)
            if HARD:
                close = joint >= (top - 1e-12 * (1 + tl.abs(top)))[:, None]
                shares = tl.where(close & inside[None, :], 1.0, 0.0).to(tl.float64)
                heard = top
            else:
                shares = tl.exp(joint - top[:, None])
                heard = top + tl.log(tl.sum(shares, axis=1))
            probs = shares / tl.sum(shares, axis=1)[:, None]
            probs = tl.where(there, probs, 0.0)
            evidence += tl.where(real, heard, 0.0)
        else:
            probs = tl.load(belief + at, mask=there, other=0.0).to(tl.float64)
        if TELL:
            total += tl.sum(probs, axis=0)
            for n in range(most):
                given = n < count
                row = tl.load(cell + begin + n, mask=given, other=0).to(tl.int64)
                held = given[:, None] & inside[None, :]
                share = probs
                if WEIGHED:
                    share *= tl.load(weight + begin + n, mask=given, other=0.0)[:, None]
                place = own + row[:, None] * STATES + state[None, :]
                tl.atomic_add(place, share.to(said.dtype.element_ty), mask=held, sem="relaxed")
        else:
            tl.store(belief + at, probs, mask=there)
    tl.store(seen + tl.program_id(0) * WIDTH + state, total)
    tl.store(loglik + tl.program_id(0), tl.sum(evidence))
