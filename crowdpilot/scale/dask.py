"""The processes of a Dask cluster, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import count
from typing import Any

from distributed import Client, Future, KilledWorker, LocalCluster, as_completed

from crowdpilot.aggregate.places import add
from crowdpilot.scale.engines import Count, Function, Held, in_silence

BRANCHES = 8  # results that are added up together
TRIES = 5  # how often what was sent to all processes may be lost with the last one that had it
PATIENCE = 60  # seconds to wait for the first process

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
            held = Lent(self, self._load(load, files))
            for n, _ in enumerate(as_completed(held.futures), 1):
                tell(n, len(files))
            yield held

    def _load(self, load: Callable[[str], Any], files: Sequence[str]) -> list[Future[Any]]:
        """Neighbours are read by the same process, so that their sums need not travel."""
        self.client.wait_for_workers(1, timeout=PATIENCE)
        homes = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        chosen = (homes[n * len(homes) // len(files)] for n in range(len(files)))
        return [
            self.submit(load, file, workers=[home], allow_other_workers=True)
            for file, home in zip(files, chosen, strict=True)
        ]

    def submit(self, function: Callable[..., Any], *args: Any, **where: Any) -> Future[Any]:
        """A result under a name that no other has."""
        name = getattr(function, "__name__", "load")
        return self.client.submit(
            function, *args, key=f"crowdpilot-{name}-{id(self):x}-{next(_serial)}", **where
        )

    def send(self, shared: Any) -> Any:
        """Something large in the memory of all processes."""
        return None if shared is None else self.client.scatter([shared], broadcast=True, hash=False)[0]


class Lent:
    """Results that are kept by the processes of a cluster."""

    def __init__(self, cluster: Cluster, futures: list[Future[Any]]) -> None:
        self._cluster = cluster
        self.futures = futures

    def each(self, function: Function, shared: Any = None, *, tell: Count = in_silence) -> Iterator[Any]:
        done = 0
        for left in range(TRIES, 0, -1):
            sent = self._cluster.send(shared)
            results = [self._cluster.submit(function, part, sent) for part in self.futures[done:]]
            try:
                for result in results:
                    yield result.result()
                    done += 1
                    tell(done, len(self.futures))
                return
            except CancelledError:
                if left == 1:
                    raise

    def total(self, function: Function, shared: Any = None) -> tuple[Any, ...]:
        for _ in range(TRIES - 1):
            try:
                return self._total(function, shared)
            except CancelledError:
                continue  # what was sent to all is lost: send it again
        return self._total(function, shared)

    def _total(self, function: Function, shared: Any) -> tuple[Any, ...]:
        sent = self._cluster.send(shared)
        level = []
        for n in range(0, len(self.futures), BRANCHES):  # what is asked for first is done first
            leaves = [self._cluster.submit(function, part, sent) for part in self.futures[n : n + BRANCHES]]
            level.append(self._cluster.submit(add, leaves))
        while len(level) > 1:
            level = [
                self._cluster.submit(add, level[n : n + BRANCHES]) for n in range(0, len(level), BRANCHES)
            ]
        total: tuple[Any, ...] = level[0].result()
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
            n_workers=processes, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
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
