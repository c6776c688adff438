"""Import of 100,000 annotations of Label Studio, time and memory: `python -m benchmarks.label_studio_import`.

The records are those of an export that Label Studio 1.23.2 has written (`tests/io/corpus/label-studio-json`),
repeated with other numbers of tasks, annotations and users until there are enough. Each way to read them runs
in a process of its own.
"""

from __future__ import annotations

import copy
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot import io
from crowdpilot.service.label_studio.importing import find_single_question_project, import_tasks
from crowdpilot.service.platforms.label_studio.tasks import read_tasks
from tests.service.harness.processes import Caller, serving
from tests.service.harness.service import create_project, migrated_store, sqlite_url

EXPORT = Path(__file__).parents[1] / "tests/io/corpus/label-studio-json/export.json"
CLASSES = ["negative", "neutral", "positive"]
SPEC = {"name": "Reviews", "classes": CLASSES}
ANNOTATIONS, USERS_PER_COPY, COPIES_OF_USERS = 100_000, 10, 40
REQUEST_BYTES = 7 << 20  # of a part that is sent to the service, which takes 8 MiB of JSON


class Measured(NamedTuple):
    """Votes that were read, seconds, and the most memory that the process had, in MiB."""

    votes: int
    seconds: float
    mebibytes: float


def make_export(annotations: int) -> list[dict[str, Any]]:
    """Tasks with so many annotations or a few more, all of them copies of real ones."""
    real, made, n, copies = json.loads(EXPORT.read_text()), [], 0, 0
    while n < annotations:
        for task in copy.deepcopy(real):
            task["id"] += copies * 1000
            for one in task["annotations"]:
                one["id"] += copies * 1000
                one["task"] = task["id"]
                for field in ("completed_by", "updated_by"):
                    one[field] += copies % COPIES_OF_USERS * USERS_PER_COPY
            n += len(task["annotations"])
            made.append(task)
        copies += 1
    return made


def read_file(path: Path) -> int:
    """The library: a file becomes `Votes`."""
    return len(io.read(path))


def import_file(path: Path) -> int:
    """The service without HTTP: items and votes are written to SQLite in one transaction."""
    with tempfile.TemporaryDirectory() as folder:
        store = migrated_store(sqlite_url(Path(folder)))
        project = find_single_question_project(store, create_project(store, SPEC))
        counts = import_tasks(store, project, "benchmark", read_tasks(json.loads(path.read_text()), CLASSES))
        store.close()
    return counts.votes


WAYS: dict[str, Callable[[Path], int]] = {"io.read": read_file, "import": import_file}


def run_alone(way: str, path: Path) -> Measured:
    """Time and memory of one way in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.label_studio_import", "--way", way, "--file", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measured(*json.loads(done.stdout.strip().splitlines()[-1]))


def send(tasks: list[dict[str, Any]]) -> Measured:
    """The service over HTTP: the file is sent in parts; the memory is that of its web process."""
    with tempfile.TemporaryDirectory() as folder, serving(sqlite_url(Path(folder)), 1) as service:
        caller = Caller(service.address, key=service.key, until=3600)
        project = create_project(service.store, SPEC)
        begun, votes = time.monotonic(), 0
        for part in parts(tasks):
            status, answer = caller.ask("POST", f"/api/projects/{project}/label-studio", part)
            if status != 201:
                raise ValueError(f"the service refuses a part of the export: {answer}")
            votes += answer["votes"]
        seconds = time.monotonic() - begun
        caller.close()
        return Measured(votes, seconds, service.memory("web", "VmHWM"))


def parts(tasks: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The tasks in parts that one request may hold."""
    part: list[dict[str, Any]] = []
    size = 0
    for task in tasks:
        length = len(json.dumps(task)) + 2
        if part and size + length > REQUEST_BYTES:
            yield part
            part, size = [], 0
        part.append(task)
        size += length
    yield part


def report(tasks: list[dict[str, Any]], path: Path, found: dict[str, Measured], output: Path) -> None:
    """Print and write the table."""
    n = sum(len(task["annotations"]) for task in tasks)
    rows = [
        [name, f"{one.votes:,}", f"{one.seconds:.1f}", f"{n / one.seconds:,.0f}", f"{one.mebibytes:,.0f}"]
        for name, one in found.items()
    ]
    header = ["way", "votes", "seconds", "annotations a second", "peak memory, MiB"]
    text = (
        "# Import from Label Studio\n\n"
        f"{n:,} annotations on {len(tasks):,} tasks, a JSON export of {path.stat().st_size / 2**20:.0f} MiB: "
        "records of an export that Label Studio 1.23.2 has written, repeated with other numbers. Annotations "
        "that are cancelled, empty or repeated are no votes. "
        f"{machine()}.\n\n{markdown(header, rows)}"
    )
    typer.echo(text)
    data = {name: one._asdict() for name, one in found.items()}
    write(output, "label_studio_import", text, {"machine": machine(), "annotations": n, "ways": data})


def main(
    output: Annotated[Path, typer.Option(help="Folder of the result files.")] = RESULTS,
    annotations: Annotated[int, typer.Option(help="How many, or a few more.")] = ANNOTATIONS,
    way: Annotated[str, typer.Option(help="Measure this way alone, with --file.", hidden=True)] = "",
    file: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure the import of an export of Label Studio."""
    if way and file is not None:
        begun = time.monotonic()
        votes = WAYS[way](file)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        typer.echo(json.dumps([votes, time.monotonic() - begun, peak]))
        return
    tasks = make_export(annotations)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.json"
        path.write_text(json.dumps(tasks))
        found = {
            "`crowdpilot.io.read`": run_alone("io.read", path),
            "import into the service, one transaction": run_alone("import", path),
            "import over HTTP, in parts of 7 MiB": send(tasks),
        }
        report(tasks, path, found, output)


if __name__ == "__main__":
    launch(main)
