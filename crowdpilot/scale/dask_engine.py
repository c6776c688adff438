"""Engine on the processes of a Dask cluster: partitions in their memory, sums in a tree."""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import count
from typing import Any

from distributed import Client, Future, KilledWorker, LocalCluster, as_completed

from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.scale.engine import PartitionFunction, Partitions, Progress, no_progress

RESULTS_PER_SUM = 8  # children of a node in the tree of sums
WORKER_WAIT_SECONDS = 60  # how long to wait for a process if there is none

_serial = count()  # no two results of this process have the same name


class DaskEngine:
    """An engine on a Dask cluster: any that a `distributed.Client` can connect to.

    Each process reads the files it works on and keeps their partitions as long as its memory allows;
    what is lost with a process is loaded again elsewhere. Files must have the same path on all
    machines, and crowdpilot must be installed there.

    Parameters
    ----------
    client
        A client, or the address of a scheduler such as `tcp://host:8786`.
    """

    def __init__(self, client: Client | str) -> None:
        self.client = _connect(client) if isinstance(client, str) else client

    @contextmanager
    def load(
        self, load_file: Callable[[str], Any], files: Sequence[str], progress: Progress
    ) -> Iterator[Partitions]:
        with _plain_errors():
            self.client.wait_for_workers(1, timeout=WORKER_WAIT_SECONDS)
            partitions = DaskPartitions(self, [self.submit(load_file, file) for file in files])
            for done, _ in enumerate(as_completed(partitions.futures), 1):
                progress(done, len(files))
            partitions.order_by_process()
            yield partitions

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Compute a result on the cluster, under a name that no other result has."""
        name = f"crowdpilot-{getattr(function, '__name__', 'load')}-{id(self):x}-{next(_serial)}"
        return self.client.submit(function, *args, key=name)

    def send(self, shared: Any) -> Future[Any] | None:
        """Send one large value, which the processes pass on to each other.

        It is a result that is computed and not scattered: so it can be computed again when the
        processes that have it die, and nothing waits for a process that dies while it is sent.
        """
        if shared is None:
            return None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.submit(pickle.loads, pickle.dumps(shared, protocol=5))

    def wait(self, future: Future[Any]) -> Any:
        """Wait for a result, as long as there is any process to compute it."""
        while True:
            try:
                return future.result(timeout=WORKER_WAIT_SECONDS)
            except TimeoutError:
                if future.done() or not self.client.scheduler_info(n_workers=-1)["workers"]:
                    raise


class DaskPartitions:
    """Partitions in the memory of the processes of a cluster."""

    def __init__(self, engine: DaskEngine, futures: list[Future[Any]]) -> None:
        self._engine = engine
        self.futures = futures
        self._sum_order = list(range(len(futures)))

    def order_by_process(self) -> None:
        """Sum the partitions of each process first.

        The order is chosen once: sums stay the same to the last digit when a process is lost later.
        """
        processes = self._engine.client.who_has(self.futures)
        self._sum_order.sort(key=lambda n: min(processes.get(self.futures[n].key, ()), default=""))

    def map(
        self, function: PartitionFunction, shared: Any = None, *, progress: Progress = no_progress
    ) -> Iterator[Any]:
        sent = self._engine.send(shared)
        futures = [self._engine.submit(function, partition, sent) for partition in self.futures]
        for done, future in enumerate(futures, 1):
            result = self._engine.wait(future)
            progress(done, len(futures))
            yield result

    def sum(self, function: PartitionFunction, shared: Any = None) -> tuple[Any, ...]:
        submit = self._engine.submit
        sent = self._engine.send(shared)
        ordered = [self.futures[n] for n in self._sum_order]
        level = []
        for some in _groups(ordered):  # submitted in this order, and so computed in this order
            leaves = [submit(function, partition, sent) for partition in some]
            level.append(submit(sum_stats, leaves))
        while len(level) > 1:
            level = [submit(sum_stats, some) for some in _groups(level)]
        total: tuple[Any, ...] = self._engine.wait(level[0])
        return total

    def replace(self, function: PartitionFunction, arguments: Sequence[Any]) -> Partitions:
        pairs = zip(self.futures, arguments, strict=True)
        self.futures = [self._engine.submit(function, partition, argument) for partition, argument in pairs]
        return self


def _groups(futures: list[Future[Any]]) -> Iterator[list[Future[Any]]]:
    """Consecutive futures that are summed together."""
    return (futures[n : n + RESULTS_PER_SUM] for n in range(0, len(futures), RESULTS_PER_SUM))


@contextmanager
def local_cluster(processes: int) -> Iterator[DaskEngine]:
    """An engine on a new cluster of processes on this machine, until the end of the block."""
    if processes < 1:
        raise ValueError(f"a cluster of {processes} processes was asked for, expected 1 or more")
    with (
        LocalCluster(
            n_workers=processes,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield DaskEngine(client)


@contextmanager
def connected_cluster(address: str) -> Iterator[DaskEngine]:
    """An engine on the cluster at an address, connected until the end of the block."""
    engine = DaskEngine(address)
    with engine.client:
        yield engine


def _connect(address: str) -> Client:
    try:
        return Client(address)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"there is no Dask scheduler at {address!r}, expected one such as tcp://host:8786"
        ) from error


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Raise errors of Dask as a `ValueError` that says what to do."""
    try:
        yield
    except KilledWorker as error:
        raise ValueError(
            "process after process died with the same work, most likely for want of memory; "
            "give them more, or make more and smaller files with `crowdpilot convert --shards`"
        ) from error
    except CancelledError as error:
        raise ValueError(
            "the cluster loses what it is sent, as if all its processes ended at once"
        ) from error
    except TimeoutError as error:
        raise ValueError(
            f"the cluster has no process to work with after {WORKER_WAIT_SECONDS} seconds"
        ) from error
