"""Protocols of an engine, which loads files as partitions and runs functions on them; progress callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Progress = Callable[[int, int], None]  # called with the number of files that are done, and of all files
PartitionFunction = Callable[[Any, Any], Any]  # of one partition, and of an argument


def no_progress(done: int, total: int) -> None:
    """Report no progress."""


def no_stage_progress(stage: str, done: int, total: int) -> None:
    """Report no progress of any stage."""


class Partitions(Protocol):
    """One object for each file, stored where it was loaded."""

    def map(
        self, function: PartitionFunction, shared: Any = None, *, progress: Progress = no_progress
    ) -> Iterator[Any]:
        """The result of `function(partition, shared)` for each partition, in the order of the files."""

    def sum(self, function: PartitionFunction, shared: Any = None) -> tuple[Any, ...]:
        """The elementwise sum of `function(partition, shared)`, a tuple of numbers or arrays, over all."""

    def replace(self, function: PartitionFunction, arguments: Sequence[Any]) -> Partitions:
        """Replace each partition by `function(partition, argument)`, with one argument for each of them."""


class Engine(Protocol):
    """Loads files, stores what is loaded, and runs functions there."""

    def load(
        self, load_file: Callable[[str], Any], files: Sequence[str], progress: Progress
    ) -> AbstractContextManager[Partitions]:
        """Partitions `load_file(path)` of all files, which are deleted at the end of the block."""
