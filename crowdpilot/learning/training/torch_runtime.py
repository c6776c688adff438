"""Torch at run time: the device by name, the number of threads, and seeded random numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def find_device(name: str) -> torch.device:
    """The device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"there is no device {name!r} here ({reason}); 'auto' takes what there is"
        ) from error


@contextmanager
def use_threads(count: int) -> Iterator[None]:
    """A context in which torch uses so many CPU threads, at most those of the machine."""
    if count < 1:
        raise ValueError(f"threads is {count}, expected 1 or more")
    before = torch.get_num_threads()
    torch.set_num_threads(min(count, os.cpu_count() or count))
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int, stream: int, device: torch.device) -> Iterator[None]:
    """A context with its own random numbers of torch, which depend on seed and stream alone."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int(np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0] >> 1))
        yield
