"""A usual mistake ends in a sentence that says what to do next."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import crowdpilot
from crowdpilot.optional_packages import EXTRAS

Run = Callable[..., Result]

MISTAKES = {  # what was typed, and what the sentence says to do
    "aggregate vots.csv": "did you mean votes.csv?",
    "aggregate nothing.xyz": "check its name",
    "aggregate none/votes.csv": "check its name",
    "aggregate other.csv": "name it with columns= (--columns task=NAME)",
    "aggregate votes.csv --columns task=url": "only 'task', 'worker', 'label'",
    "aggregate votes.csv --columns worker": "expected ROLE=NAME such as task=url",
    "aggregate folder": "name a file in it",
    "aggregate empty.csv": "expected votes below a line such as task,worker,label",
    "aggregate head.csv": "head.csv has no vote, expected one in every row below the first",
    "aggregate binary.csv": "say so with format= (--format)",
    "aggregate votes.csv -s dawid_skeen": "did you mean dawid_skene?",
    "aggregate votes.csv -s nothing": "there are auto",
    "aggregate votes.csv -s glad[max_itr=3]": "its options are: ",
    "aggregate votes.csv -s mv --tol 1": "--tol cannot be given",
    "aggregate votes.csv --format excel": "there are peerannot",
    "aggregate votes.csv --gold labels_of_others.csv": "called 'cat' there and 'owl' here: rename them",
    "aggregate votes.csv --exclude nobody.csv": "they are called 'ann' and so on",
    "aggregate votes.csv -o labels.xlsx": "expected .csv, .tsv, .parquet, .jsonl, .npy",
    "aggregate votes.csv -o votes.csv/labels.csv": "votes.csv is a file; choose another folder",
    "aggregate votes.csv -o -": "leave out -o for standard output",
    "aggregate votes.csv -o folder": "it is a folder; name a file in it",
    "aggregate votes.csv -s mv -o /proc/labels.csv": "choose another place",
    "aggregate votes.csv -s mv -o /dev/full": "make room, or choose another folder",
    "report votes.csv -o report.pdf": "expected .html",
    "report votes.csv -o report.html --truth labels_of_others.csv": "rename them",
    "score labels.csv labels_of_others.csv": "rename them",
    "score unsure.csv labels.csv": "has something else than numbers in column confidence",
    "identify votes.csv -s nothing": "there are workers",
    "identify votes.csv -s gold": "give --gold",
    "agreement votes.csv --measure kappa": "there are percent_agreement",
    "train votes.csv": "--x must say what the tasks hold",
    "predict model.safetensors votes.csv": "saved by crowdpilot train --save",
    "convert votes.csv out.xyz": "expected .json",
    "convert votes.csv out.csv --to zooniverse": "there are peerannot",
    "simulate": "give --folder, or --output",
    "simulate -s nobody -o out.csv": "expected one of hammer-spammer",
    "forecast": "give VOTES, or --skill and --items",
    "replay votes.csv -p nothing": "there are value",
    "replay votes.csv --truth labels_of_others.csv": "rename them",
    "replay votes.csv --machine labels.csv": "expected a column p_CLASS for each class: p_bird and so on",
    "audit labels.csv": "draw tasks first with --sample 50 -o check.csv",
    "keys list -d none/keys.db": "make it first",
    "keys list -d votes.csv": "see to it, or name another",
    "keys list -d mysql://here/it": "give a file, or postgresql://user@host/name",
    "backup a.backup -d none.db": "name another with --database",
    "restore votes.csv -d keys.db": "take another copy",
    "secrets rotate -d keys.db": "the service makes one when it starts",
    "keys revoke nobody -d keys.db": "see crowdpilot keys list",
    "serve --host 0.0.0.0 --port 0 -d keys.db": "run crowdpilot keys create NAME first",
}


@pytest.fixture
def mistaken(here: Path) -> Path:
    """A folder in which much is wrong."""
    for name, text in {
        "other.csv": "a,b,c\n1,2,3\n",
        "empty.csv": "",
        "head.csv": "task,worker,label\n",
        "labels.csv": "task,label\nowl,bird\neel,fish\nemu,bird\n",
        "labels_of_others.csv": "task,label\ncat,bird\n",
        "unsure.csv": "task,label,confidence\nowl,bird,rather\n",
        "nobody.csv": "worker\nzoe\n",
    }.items():
        Path(name).write_text(text)
    Path("binary.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\xff\xfe")
    Path("folder").mkdir()
    return here


@pytest.mark.parametrize("typed", MISTAKES)
def test_the_sentence_says_what_to_do(typed: str, mistaken: Path, cli: Run) -> None:
    result = cli(*typed.split())
    assert (result.exit_code, result.stdout) == (2, "")
    *_, sentence = result.stderr.splitlines()
    assert sentence.startswith("crowdpilot: ")
    assert MISTAKES[typed] in sentence
    assert "Errno" not in sentence


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("agregate votes.csv", "aggregate"),
        ("strategy", "strategies"),
        ("aggregate votes.csv --sed 1", "--seed"),
    ],
)
def test_a_word_that_is_nearly_right_is_completed(typed: str, meant: str, here: Path, cli: Run) -> None:
    result = cli(*typed.split())
    assert result.exit_code == 2
    assert meant in result.stderr
    assert "-h' for help" in result.stderr


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield int(taken.getsockname()[1])


def test_a_port_that_is_taken_is_named(busy: int, here: Path, cli: Run) -> None:
    result = cli("serve", "--port", str(busy))
    assert result.exit_code == 2
    assert f"port {busy} of 127.0.0.1 is in use; stop what listens there or choose another" in result.stderr


NEED = {  # a command, and a package that it cannot do without
    "report votes.csv -o report.html": "matplotlib",
    "replay votes.csv --plot a.svg": "matplotlib",
    "train votes.csv --x votes.csv": "torch",
    "aggregate votes.csv --device cpu -s ds": "torch",
    "predict model.safetensors votes.csv": "safetensors",
    "strategies --deep": "torch",
    "aggregate votes.csv --local-cluster 1 -s ds": "distributed",
    "serve": "uvicorn",
    "keys list": "sqlalchemy",
    "aggregate votes.csv -o labels.parquet": "pyarrow",
    "convert votes.csv out.parquet": "pyarrow",
}


WITHOUT = """
import sys
PACKAGE = sys.argv.pop(1)
class Missing:
    def find_spec(self, name, *_):
        if name == PACKAGE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from crowdpilot.cli import main
main()
"""


def first_of_its_package(typed: str) -> Any:
    """A command as a parameter; each takes a process, so `make test` has one for each package."""
    first = next(other for other in NEED if NEED[other] == NEED[typed])
    return pytest.param(typed, marks=() if typed == first else pytest.mark.thorough)


@pytest.mark.parametrize("typed", [first_of_its_package(typed) for typed in NEED])
def test_a_package_that_is_not_there_comes_with_an_extra(typed: str, mistaken: Path) -> None:
    Path("model.safetensors").touch()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, NEED[typed], *typed.split()],
        env={**os.environ, "PYTHONPATH": str(Path(crowdpilot.__file__).parents[1])},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert f'needs {NEED[typed]}: pip install "crowdpilot[{EXTRAS[NEED[typed]]}]"\n' in done.stderr


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.EACCES, "ask its owner"), (errno.ENOSPC, "make room"), (errno.EIO, "choose another folder")],
)
def test_what_the_system_refuses_is_said_with_the_file(
    number: int, advice: str, here: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "Refused", "votes.csv")

    monkeypatch.setattr("crowdpilot.io.explain", refuse)
    result = cli("aggregate", "votes.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith("crowdpilot: votes.csv: refused; ")
    assert advice in result.stderr
