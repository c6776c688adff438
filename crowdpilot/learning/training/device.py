"""Where torch computes, and with how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def find_device(wanted: str) -> torch.device:
    """The device of this name; "auto" is a GPU if there is one."""
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=wanted).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"there is no device {wanted!r} here ({reason}); 'auto' takes what there is"
        ) from error


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads on the processor, and as many as before when it ends."""
    if count < 1:
        raise ValueError(f"threads is {count}, expected 1 or more")
    was = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(was)
