"""Transformers without its bars and hints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def quiet() -> Iterator[None]:
    """While it loads weights, transformers shows no bar, and of its messages only errors."""
    told = import_module("transformers.utils.logging")
    shown, level = told.is_progress_bar_enabled(), told.get_verbosity()
    told.disable_progress_bar()
    told.set_verbosity_error()
    try:
        yield
    finally:
        told.set_verbosity(level)
        if shown:
            told.enable_progress_bar()
