"""Engine of one machine: partitions in a temporary folder, memory-mapped, one thread for each file."""

from __future__ import annotations

import mmap
import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.aggregation.em.default_backend import available_cores
from crowdpilot.scale.engine import PartitionFunction, Partitions, Progress, no_progress

ALIGNMENT_BYTES = 64  # arrays begin at multiples of this in a file


class DiskEngine:
    """Engine of this machine, however little memory it has: partitions are mapped from files in a folder.

    Parameters
    ----------
    threads
        Files to work on at the same time; by default as many as there are cores.
    folder
        Where to create the temporary folder, which is removed at the end.
    """

    def __init__(self, *, threads: int | None = None, folder: str | os.PathLike[str] | None = None) -> None:
        self.threads = threads or available_cores()
        self.folder = folder

    @contextmanager
    def load(
        self, load_file: Callable[[str], Any], files: Sequence[str], progress: Progress
    ) -> Iterator[Partitions]:
        with (
            TemporaryDirectory(prefix="crowdpilot-", dir=self.folder) as folder,
            ThreadPoolExecutor(self.threads) as pool,
        ):
            paths = [Path(folder) / str(n) for n in range(len(files))]
            pairs = zip(files, paths, strict=True)
            written = bounded_map(pool, self.threads, partial(_load_to_disk, load_file), pairs)
            for done, _ in enumerate(written, 1):
                progress(done, len(files))
            yield DiskPartitions(paths, pool, self.threads)


class DiskPartitions:
    """Partitions in files of their own, whose arrays are mapped into memory when they are used."""

    def __init__(self, paths: Sequence[Path], pool: ThreadPoolExecutor, threads: int) -> None:
        self._paths = paths
        self._pool = pool
        self._threads = threads

    def map(
        self, function: PartitionFunction, shared: Any = None, *, progress: Progress = no_progress
    ) -> Iterator[Any]:
        work = partial(_apply, function, shared)
        for done, result in enumerate(bounded_map(self._pool, self._threads, work, self._paths), 1):
            progress(done, len(self._paths))
            yield result

    def sum(self, function: PartitionFunction, shared: Any = None) -> tuple[Any, ...]:
        return reduce(lambda a, b: sum_stats([a, b]), self.map(function, shared))

    def replace(self, function: PartitionFunction, arguments: Sequence[Any]) -> Partitions:
        pairs = zip(self._paths, arguments, strict=True)
        list(bounded_map(self._pool, self._threads, partial(_replace, function), pairs))
        return self


def bounded_map(
    pool: ThreadPoolExecutor, max_waiting: int, work: Callable[[Any], Any], items: Iterable[Any]
) -> Iterator[Any]:
    """Like `pool.map`, but at most `max_waiting` results are computed before they are asked for."""
    waiting: deque[Future[Any]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > max_waiting:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _load_to_disk(load_file: Callable[[str], Any], pair: tuple[str, Path]) -> None:
    source, target = pair
    write_mappable(load_file(source), target)


def _apply(function: PartitionFunction, shared: Any, path: Path) -> Any:
    return function(read_mapped(path), shared)


def _replace(function: PartitionFunction, pair: tuple[Path, Any]) -> None:
    path, argument = pair
    draft = path.with_suffix(".new")
    write_mappable(function(read_mapped(path), argument), draft)
    draft.replace(path)


def write_mappable(value: Any, path: Path) -> None:
    """Pickle any value to a file, its arrays outside the pickle so that they can be memory-mapped."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    with path.open("wb") as stream:
        pickle.dump((head, [view.nbytes for view in views]), stream)
        for view in views:
            stream.seek(-stream.tell() % ALIGNMENT_BYTES, os.SEEK_CUR)
            stream.write(view)
        stream.truncate()  # include the padding before a last array of no bytes


def read_mapped(path: Path) -> Any:
    """Read what `write_mappable` wrote; arrays are views of the file, whose pages are read on access."""
    with path.open("rb") as stream:
        head, sizes = pickle.load(stream)
        offset = stream.tell()
        mapped = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    views = []
    for size in sizes:
        offset += -offset % ALIGNMENT_BYTES
        views.append(mapped[offset : offset + size])
        offset += size
    return pickle.loads(head, buffers=views)
