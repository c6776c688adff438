"""How much load the service bears: `python -m benchmarks.service`.

Beside it a bare endpoint that inserts one row and commits, over the same kind of database with the same
settings, behind the same server, asked by the same client; the two take turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks import service_isolation
from benchmarks.peers import ROOT
from benchmarks.process import launch
from benchmarks.service_hosts import Host, fill, prepare_bare, serving
from benchmarks.tables import RESULTS, machine, markdown, whole, write
from crowdpilot.service.store import Store, projects

BARE = {"bare, in threads": "/threads", "bare, in the loop": "/loop"}
OURS = "service"
BATCH = 20  # items that a worker asks for at once
WARM_UP_VOTES = 20_000  # votes after which memory is compared
Measured = dict[str, Any]


@contextmanager
def databases(kind: str) -> Iterator[tuple[str, str]]:
    """Addresses of two new databases that keep what they acknowledge."""
    with ExitStack() as stack:
        if kind == "sqlite":
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            yield f"sqlite:///{folder}/ours.db", f"sqlite:///{folder}/bare.db"
            return
        from tests.service.harness.postgres import Postgres  # the server that the tests use

        server = Postgres.make(fsync=True)
        stack.callback(server.remove)
        yield stack.enter_context(server.database()), stack.enter_context(server.database())


def drive(host: Host, tokens: list[str], path: str, K: int, seconds: float, warm: float) -> Measured:
    """Put load on a service for a while."""
    options = {
        "host": host.host, "port": host.port, "tokens": tokens, "path": path, "leases": path == "/api/votes",
        "classes": [f"class {k}" for k in range(K)], "batch": BATCH, "seconds": seconds, "warm": warm,
        "round": time.time_ns(),
    }  # fmt: skip
    command = [sys.executable, "-m", "benchmarks.service_client"]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "seen.json"
        done = subprocess.run(
            command, input=json.dumps(options | {"output": str(output)}), text=True, cwd=ROOT
        )
        if done.returncode:
            raise ValueError("the client has failed; its errors are above")
        found = json.loads(output.read_text())
    if bad := {status: n for status, n in found["statuses"].items() if int(status) >= 300}:
        raise ValueError(f"the service has refused requests: {bad}")
    return summary(found)


def summary(found: Measured) -> Measured:
    """Rates, and times in milliseconds."""
    votes, asks, seconds = found["times"]["vote"], found["times"]["next"], found["seconds"]
    return {
        "votes_per_second": len(votes) / seconds,
        "requests_per_second": (len(votes) + len(asks)) / seconds,
        "vote_p50": percentile(votes, 50),
        "vote_p99": percentile(votes, 99),
        "next_p50": percentile(asks, 50),
        "next_p99": percentile(asks, 99),
    }


def percentile(seconds: list[float], q: float) -> float | None:
    return 1000 * float(np.percentile(seconds, q)) if seconds else None


def compare(kind: str, K: int, items: int, workers: int, rounds: int, seconds: float) -> dict[str, Measured]:
    """The medians of several rounds, in each of which all take turns."""
    found: dict[str, list[Measured]] = {name: [] for name in (OURS, *BARE)}
    with databases(kind) as (ours, bare):
        _, tokens = fill(ours, items, workers, K)
        prepare_bare(bare)
        plain = serving(bare, app="benchmarks.service_hosts:create_bare", jobs=0)
        with serving(ours) as service, plain as other:
            for n in range(rounds):
                for name, path in BARE.items():
                    found[name].append(drive(other, tokens, path, K, seconds, warm=1.0))
                warm = max(3.0, seconds / 2) if n == 0 else 3.0  # the first to ask wait for the replica
                found[OURS].append(drive(service, tokens, "/api/votes", K, seconds, warm=warm))
                typer.echo(f"{kind} {K} classes: {describe(found)}", err=True)
    return {name: medians(several) for name, several in found.items()}


def medians(several: list[Measured]) -> Measured:
    names = several[0].keys()
    return {
        n: None if several[0][n] is None else float(np.median([one[n] for one in several])) for n in names
    }


def describe(found: dict[str, list[Measured]]) -> str:
    return ", ".join(f"{name} {several[-1]['votes_per_second']:.0f}/s" for name, several in found.items())


def ratio(measured: dict[str, Measured]) -> float:
    """Votes of the service for each row of the faster bare endpoint."""
    best = max(measured[name]["votes_per_second"] for name in BARE)
    return float(measured[OURS]["votes_per_second"]) / best


def measure_memory(kind: str, items: int, workers: int, votes: int, limit: float) -> list[tuple[int, float]]:
    """Votes so far and megabytes of the web process, until there are so many votes."""
    samples: list[tuple[int, float]] = []
    with databases(kind) as (url, _):
        project, tokens = fill(url, items, workers, 2)
        store = Store(url)
        with serving(url) as service:
            load = threading.Thread(target=_load, args=(service, tokens, store, project, votes, limit))
            load.start()
            while load.is_alive():
                samples.append((_count(store, project), service.memory))
                load.join(2.0)
            samples.append((_count(store, project), service.memory))
        store.close()
    return samples


def _load(service: Host, tokens: list[str], store: Store, project: str, votes: int, limit: float) -> None:
    end = time.monotonic() + limit
    while _count(store, project) < votes and time.monotonic() < end:
        drive(service, tokens, "/api/votes", 2, seconds=20, warm=0.5)


def _count(store: Store, project: str) -> int:
    with store.reading() as c:
        return int(projects.find(c, project).votes)


def measure_isolation(kinds: list[str], items: int) -> dict[str, list[Measured]]:
    """For each database, times of a small project while a large one is loaded, uploaded to and refitted."""
    found = {}
    for kind in kinds if items else []:
        with databases(kind) as (url, _):
            found[kind] = service_isolation.measure(url, items)
    return found


def growth(samples: list[tuple[int, float]]) -> Measured:
    """Bytes for each vote after the first ones, by the line that fits best."""
    late = np.array([sample for sample in samples if sample[0] >= WARM_UP_VOTES], float)
    if len(late) < 2 or np.ptp(late[:, 0]) == 0:
        return {
            "votes": samples[-1][0],
            "first_mb": samples[0][1],
            "last_mb": samples[-1][1],
            "per_vote": None,
        }
    slope = float(np.polyfit(late[:, 0], late[:, 1], 1)[0]) * 1024**2
    return {"votes": samples[-1][0], "first_mb": late[0, 1], "last_mb": late[-1, 1], "per_vote": slope}


def main(
    kinds: Annotated[str, typer.Option(help="Databases, with commas.")] = "sqlite,postgresql",
    classes: Annotated[str, typer.Option(help="Numbers of classes, with commas.")] = "2,10",
    items: Annotated[int, typer.Option(help="Items of the project.")] = 100_000,
    workers: Annotated[int, typer.Option(help="Workers, each with a connection.")] = 200,
    rounds: Annotated[int, typer.Option(help="How often all take turns.")] = 3,
    seconds: Annotated[float, typer.Option(help="Of one turn.")] = 10,
    votes: Annotated[
        int, typer.Option(help="Votes over which memory is watched; 0 leaves it out.")
    ] = 200_000,
    limit: Annotated[float, typer.Option(help="Seconds this may take.")] = 900,
    large: Annotated[
        int, typer.Option(help="Items of a project beside which another one is timed; 0 leaves it out.")
    ] = 1_000_000,
    output: Annotated[Path, typer.Option(help="Folder for service.md and service.json.")] = RESULTS,
) -> None:
    """Measure votes per second beside a bare endpoint, and the memory over many votes."""
    names = list(filter(None, kinds.split(",")))
    cases = {
        f"{kind}, {K} classes": compare(kind, int(K), items, workers, rounds, seconds)
        for kind in names
        for K in filter(None, classes.split(","))
    }
    samples = measure_memory("sqlite", items, workers, votes, limit) if votes else []
    record = {
        "machine": machine(), "items": items, "workers": workers, "rounds": rounds, "seconds": seconds,
        "cases": cases, "large": large, "isolation": measure_isolation(names, large),
        "memory": growth(samples) if samples else None, "samples": samples,
    }  # fmt: skip
    write(output, "service", render(record), record)
    typer.echo(render(record))


def render(record: dict[str, Any]) -> str:
    """The report in Markdown."""
    text = TEXT.format(**record)
    for title, measured in record["cases"].items():
        rows = [
            [name, *(whole(one[column]) for column in COLUMNS.values())] for name, one in measured.items()
        ]
        text += f"\n## {title}\n\n{markdown(['what', *COLUMNS], rows)}"
        text += f"\nThe service takes {ratio(measured):.2f} votes for each row of the faster bare endpoint.\n"
    if record.get("isolation"):
        text += service_isolation.render(record["isolation"], record["large"])
    if record["memory"]:
        text += MEMORY.format(
            calm=WARM_UP_VOTES, **record["memory"] | {"grown": whole(record["memory"]["per_vote"])}
        )
    return text


COLUMNS = {
    "votes or rows per second": "votes_per_second",
    "requests per second": "requests_per_second",
    "median ms": "vote_p50",
    "99th percentile": "vote_p99",
    "next: median": "next_p50",
    "next: 99th percentile": "next_p99",
}

TEXT = """# How much load the service bears

Written by `python -m benchmarks.service`. Measured on {machine}, which also runs the client and the database.

A project with {items:,} items, and {workers} workers who each ask for 20 items and vote on them one by one,
without a pause, each over a connection of their own. The bare endpoint inserts one row with SQLAlchemy and
commits, in threads as FastAPI does by default, or in the loop itself; with the same settings of server and
database (WAL and synchronous FULL, or fsync on). One web process; the service has a job process beside it,
which learns from the votes all the while. All take turns; medians of {rounds} rounds of {seconds:g} seconds.
"""
MEMORY = """
## Memory

After {calm:,} votes the web process held {first_mb:.0f} MB, after {votes:,} votes {last_mb:.0f} MB:
{grown} bytes for each vote between.
"""


if __name__ == "__main__":
    launch(main)
