"""Where files are read and what is in them is kept: here, with Disk, or on a cluster."""

from __future__ import annotations

import mmap
import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.aggregation.em.default_backend import available_cores

Count = Callable[[int, int], None]  # is told how many files are done, and of how many
Function = Callable[[Any, Any], Any]  # of what is held of one file, and of what is the same for all

LINE = 64  # bytes; where arrays begin in a file


def in_silence(done: int, of: int) -> None:
    """Tell nobody."""


class Held(Protocol):
    """What was made of each file, kept where it was made."""

    def each(self, function: Function, shared: Any = None, *, tell: Count = in_silence) -> Iterator[Any]:
        """The function of each one, in order."""

    def total(self, function: Function, shared: Any = None) -> tuple[Any, ...]:
        """The sum of the function of each, which gives a tuple of numbers or arrays."""

    def change(self, function: Function, own: Sequence[Any]) -> Held:
        """Something else in place of each, made of it and of something of its own."""


class Engine(Protocol):
    """Something that can work on many files."""

    def hold(
        self, load: Callable[[str], Any], files: Sequence[str], tell: Count
    ) -> AbstractContextManager[Held]:
        """What `load` makes of each file, until the end of the block."""


class Disk:
    """The machine itself, however little memory it has: codes lie in a folder and are mapped from there.

    Parameters
    ----------
    threads
        Files to work on at the same time; as many as there are cores if not given.
    folder
        Where to make the temporary folder, which is removed at the end.
    """

    def __init__(self, *, threads: int | None = None, folder: str | os.PathLike[str] | None = None) -> None:
        self.threads = threads or available_cores()
        self.folder = folder

    @contextmanager
    def hold(self, load: Callable[[str], Any], files: Sequence[str], tell: Count) -> Iterator[Held]:
        with (
            TemporaryDirectory(prefix="crowdpilot-", dir=self.folder) as folder,
            ThreadPoolExecutor(self.threads) as pool,
        ):
            stowed = [Path(folder) / str(n) for n in range(len(files))]
            work = partial(_load, load)
            ahead = in_order(pool, self.threads, work, zip(files, stowed, strict=True))
            for n, _ in enumerate(ahead, 1):
                tell(n, len(files))
            yield Stowed(stowed, pool, self.threads)


class Stowed:
    """Things in files of their own, which are mapped into memory when they are needed."""

    def __init__(self, files: Sequence[Path], pool: ThreadPoolExecutor, threads: int) -> None:
        self._files = files
        self._pool = pool
        self._threads = threads

    def each(self, function: Function, shared: Any = None, *, tell: Count = in_silence) -> Iterator[Any]:
        work = partial(_apply, function, shared)
        for n, done in enumerate(in_order(self._pool, self._threads, work, self._files), 1):
            tell(n, len(self._files))
            yield done

    def total(self, function: Function, shared: Any = None) -> tuple[Any, ...]:
        return reduce(lambda a, b: sum_stats([a, b]), self.each(function, shared))

    def change(self, function: Function, own: Sequence[Any]) -> Held:
        pairs = zip(self._files, own, strict=True)
        list(in_order(self._pool, self._threads, partial(_change, function), pairs))
        return self


def in_order(
    pool: ThreadPoolExecutor, ahead: int, work: Callable[[Any], Any], items: Iterable[Any]
) -> Iterator[Any]:
    """Like `pool.map`, with no more than so many results waiting to be taken."""
    waiting: deque[Future[Any]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _load(load: Callable[[str], Any], pair: tuple[str, Path]) -> None:
    stow(load(pair[0]), pair[1])


def _apply(function: Function, shared: Any, file: Path) -> Any:
    return function(fetch(file), shared)


def _change(function: Function, pair: tuple[Path, Any]) -> None:
    file, own = pair
    draft = file.with_suffix(".new")
    stow(function(fetch(file), own), draft)
    draft.replace(file)


def stow(thing: Any, file: Path) -> None:
    """Write anything into a file, so that its arrays can be mapped from there."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    with file.open("wb") as stream:
        pickle.dump((head, [view.nbytes for view in views]), stream)
        for view in views:
            stream.seek(-stream.tell() % LINE, os.SEEK_CUR)
            stream.write(view)
        stream.truncate()  # also what a last seek has skipped


def fetch(file: Path) -> Any:
    """What was written into a file; its arrays are read when they are looked at."""
    with file.open("rb") as stream:
        head, sizes = pickle.load(stream)
        place = stream.tell()
        mapped = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    views = []
    for size in sizes:
        place += -place % LINE
        views.append(mapped[place : place + size])
        place += size
    return pickle.loads(head, buffers=views)
