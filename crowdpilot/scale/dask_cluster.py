"""The processes of a Dask cluster, wherever it runs."""

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
from crowdpilot.scale.engines import Count, Function, Held, in_silence

BRANCHES = 8  # results that are added up together
PATIENCE = 60  # seconds to wait for a process when there is none

_serial = count()  # no two results of this process have the same name


class Cluster:
    """An engine on a Dask cluster: any that a `distributed.Client` can connect to.

    Each process reads the files it works on and keeps their codes as long as its memory allows;
    what is lost with a process is read again elsewhere. Files must have the same path on all
    machines, and crowdpilot must be installed there.

    Parameters
    ----------
    client
        A client, or the address of a scheduler such as `tcp://host:8786`.
    """

    def __init__(self, client: Client | str) -> None:
        self.client = _connect(client) if isinstance(client, str) else client

    @contextmanager
    def hold(self, load: Callable[[str], Any], files: Sequence[str], tell: Count) -> Iterator[Held]:
        with _clear_errors():
            self.client.wait_for_workers(1, timeout=PATIENCE)
            held = Lent(self, [self.submit(load, file) for file in files])
            for n, _ in enumerate(as_completed(held.futures), 1):
                tell(n, len(files))
            held.settle()
            yield held

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """A result under a name that no other has."""
        name = f"crowdpilot-{getattr(function, '__name__', 'load')}-{id(self):x}-{next(_serial)}"
        return self.client.submit(function, *args, key=name)

    def send(self, shared: Any) -> Future[Any] | None:
        """Something large, which processes pass on to each other.

        It is the result of work and not scattered: so it can be made again when those who have it
        die, and nobody waits for a process that dies while it is sent.
        """
        if shared is None:
            return None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.submit(pickle.loads, pickle.dumps(shared, protocol=5))

    def wait(self, future: Future[Any]) -> Any:
        """A result, as long as there is anyone to work on it."""
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:
                if future.done() or not self.client.scheduler_info(n_workers=-1)["workers"]:
                    raise


class Lent:
    """Results that are kept by the processes of a cluster."""

    def __init__(self, cluster: Cluster, futures: list[Future[Any]]) -> None:
        self._cluster = cluster
        self.futures = futures
        self._order = list(range(len(futures)))

    def settle(self) -> None:
        """Add up first what lies in the same process. The order stays, so that the sums do, come what may."""
        homes = self._cluster.client.who_has(self.futures)
        self._order.sort(key=lambda n: min(homes.get(self.futures[n].key, ()), default=""))

    def each(self, function: Function, shared: Any = None, *, tell: Count = in_silence) -> Iterator[Any]:
        sent = self._cluster.send(shared)
        results = [self._cluster.submit(function, part, sent) for part in self.futures]
        for n, result in enumerate(results, 1):
            found = self._cluster.wait(result)
            tell(n, len(results))
            yield found

    def total(self, function: Function, shared: Any = None) -> tuple[Any, ...]:
        sent = self._cluster.send(shared)
        parts = [self.futures[n] for n in self._order]
        level = []
        for n in range(0, len(parts), BRANCHES):  # what is asked for first is done first
            leaves = [self._cluster.submit(function, part, sent) for part in parts[n : n + BRANCHES]]
            level.append(self._cluster.submit(sum_stats, leaves))
        while len(level) > 1:
            level = [
                self._cluster.submit(sum_stats, level[n : n + BRANCHES])
                for n in range(0, len(level), BRANCHES)
            ]
        total: tuple[Any, ...] = self._cluster.wait(level[0])
        return total

    def change(self, function: Function, own: Sequence[Any]) -> Held:
        pairs = zip(self.futures, own, strict=True)
        self.futures = [self._cluster.submit(function, part, mine) for part, mine in pairs]
        return self


@contextmanager
def local(processes: int) -> Iterator[Cluster]:
    """So many processes on this machine, until the end of the block."""
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
        yield Cluster(client)


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at an address, until the end of the block."""
    cluster = Cluster(address)
    with cluster.client:
        yield cluster


def _connect(address: str) -> Client:
    try:
        return Client(address)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"there is no Dask scheduler at {address!r}, expected one such as tcp://host:8786"
        ) from error


@contextmanager
def _clear_errors() -> Iterator[None]:
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
        raise ValueError(f"the cluster has no process to work with after {PATIENCE} seconds") from error
