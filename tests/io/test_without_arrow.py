"""The package where Arrow is not installed: in a process of its own, in which it cannot be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

VOTES = "task,worker,label\n" + "".join(
    f"{task},{worker},{'cat' if task % 2 or worker == 'eve' else 'dog'}\n"
    for task in range(20)
    for worker in ("ann", "bob", "eve")
)
START = "import sys; sys.modules['pyarrow'] = None; "
MAIN = START + "from crowdpilot.cli import main; main()"


def run(code: str, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """What a process without Arrow says."""
    home = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": home, "NO_COLOR": "1", "COLUMNS": "100"}
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with votes in it."""
    (tmp_path / "votes.csv").write_text(VOTES)
    return tmp_path


def test_the_library_takes_three_lines(folder: Path) -> None:
    code = """
import crowdpilot as cp
result = cp.DawidSkene().fit(cp.read("votes.csv"))
print(*result.labels[:4], list(result.columns()), sorted(m for m in sys.modules if m.startswith("pyarrow.")))
"""
    done = run(START + code, folder)
    assert done.stdout == "dog cat dog cat ['task', 'label', 'confidence', 'votes'] []\n", done.stderr


COMMANDS = [
    "simulate -o crowd.csv --n-task 40 --n-worker 8 -K 2 --truth truth.csv --seed 1",
    "aggregate crowd.csv -s dawid_skene -o labels.csv --workers workers.tsv --probs",
    "score labels.csv truth.csv",
    "convert crowd.csv crowd.jsonl",
    "convert crowd.jsonl folder",
    "convert folder wide.csv --to wide",
    "convert wide.csv votes.tsv.gz",
    "aggregate votes.tsv.gz --strategy majority_voting",
    "strategies",
    "agreement crowd.csv",
    "identify crowd.csv",
    "forecast crowd.csv --runs 2 --items 60",
    "audit labels.csv --sample 5 -o check.csv",
    "replay crowd.csv --truth truth.csv --seeds 1 -o curve.csv",
]
EACH = """
from crowdpilot.cli import main
for command in sys.argv[1:]:
    sys.argv = ["crowdpilot", *command.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            sys.exit(command)
"""


def test_everyday_files_are_enough_for_the_command_line(folder: Path) -> None:
    done = run(START + EACH, folder, *COMMANDS)
    assert done.returncode == 0, done.stderr
    assert (folder / "labels.csv").read_text().startswith("task,label,confidence,votes,")
    assert (folder / "workers.tsv").read_text().startswith("worker\tskill\tvotes")
    assert (folder / "votes.tsv.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("args", ["convert votes.csv votes.parquet", "aggregate votes.csv -o labels.parquet"])
def test_what_needs_arrow_is_one_sentence(folder: Path, args: str) -> None:
    done = run(MAIN, folder, *args.split())
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith('Parquet needs pyarrow: pip install "crowdpilot[arrow]"')
    assert [path.name for path in folder.iterdir()] == ["votes.csv"]


def test_arrow_tables_are_asked_for_by_name(folder: Path) -> None:
    code = 'import crowdpilot as cp; cp.MajorityVoting().fit(cp.read("votes.csv")).to_table()'
    error = run(START + code, folder).stderr.splitlines()[-1]
    assert error.partition(": ")[2] == 'to_table() needs pyarrow: pip install "crowdpilot[arrow]"'
