"""Metrics for Prometheus: requests of all web processes, and what the database holds."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from crowdpilot.service.store import statistics
from crowdpilot.service.store.engine import Store

REQUEST_SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The metrics of one application, in a registry of their own.

    Parameters
    ----------
    store
        The database, which is read whenever the metrics are.
    shared
        The folder of PROMETHEUS_MULTIPROC_DIR, in which all web processes count; if empty, only what this
        process counts is shown.
    """

    def __init__(self, store: Store, *, shared: str = "") -> None:
        self.shared, self._store = shared, _StoreCollector(store)
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "crowdpilot_requests", "Requests by HTTP status code.", ["status"], registry=self.registry
        )
        self._seconds = Histogram(
            "crowdpilot_request_seconds", "Seconds until a request was answered.",
            buckets=REQUEST_SECONDS_BUCKETS, registry=self.registry,
        )  # fmt: skip
        self._by_status: dict[int, Counter] = {}

    def count_request(self, status: int, seconds: float) -> None:
        """A request was answered."""
        if status not in self._by_status:
            self._by_status[status] = self._requests.labels(status)
        self._by_status[status].inc()
        self._seconds.observe(seconds)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        registry = self.registry
        if self.shared:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, self.shared)  # type: ignore[no-untyped-call]  # it has no types
        stored = CollectorRegistry()
        stored.register(self._store)
        return generate_latest(registry) + generate_latest(stored)


class _StoreCollector(Collector):
    """How many projects, jobs, workers, deliveries and votes there are in each state."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def collect(self) -> Iterator[GaugeMetricFamily]:
        with self.store.reading() as c:
            counts = statistics.counts_by_state(c)
        for name, by_state in counts.items():
            family = GaugeMetricFamily(f"crowdpilot_{name}", f"Number of {name} by state.", labels=["state"])
            for state, count in sorted(by_state.items()):
                family.add_metric([state], count)
            yield family
