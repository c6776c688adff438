"""Packages that are loaded without a word, and leave things as they were."""

from __future__ import annotations

import logging
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


@contextmanager
def same_logging() -> Iterator[None]:
    """The root of all loggers is left as it was, whatever a package does to it when it is imported."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
