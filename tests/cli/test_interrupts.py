"""Long work says what it does, and can be interrupted without leaving half files."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

pytestmark = pytest.mark.thorough  # starts and interrupts processes

ENDLESS = "ds[max_iter=1000000000,tol=-1]"
TRAINING = "--x x.npz --epochs 1000000 --network linear"
LONG = {  # a command that takes hours, and what it says meanwhile
    f"aggregate crowd.csv -s {ENDLESS} -o out.csv --workers workers.csv": "fitting dawid_skene[",
    f"report crowd.csv -s {ENDLESS} -o out.html": "diagnosing 360 votes",
    "agreement crowd.csv --samples 1000000000 --pairs -o out.csv": "computing intervals",
    f"train crowd.csv {TRAINING} --save out.safetensors -o out.json": "/1000000",
    "replay --simulate items=500 --seeds 99999 -p value -o out.csv": " of 99999",
    "forecast --skill .8 --items 300 --runs 1000000 --plot out.svg": "simulating campaigns",
    "simulate --n-task 20000 --shards 20000 -o out --truth known": "writing",
}
ALIKE = {  # whose work is done by the same lines as that of one above
    f"identify crowd.csv -l {ENDLESS} -o out.csv": "computing workers",
    "score truth.csv truth.csv --samples 1000000000": "computing intervals",
    f"aggregate-deep crowd.csv {TRAINING} -o out.csv": "/1000000",
}


@pytest.mark.parametrize("typed", [*LONG, *(pytest.param(typed, marks=pytest.mark.slow) for typed in ALIKE)])
def test_ctrl_c_ends_in_one_line_and_leaves_nothing(typed: str, crowd_files: Path) -> None:
    interrupt(typed, signal.SIGINT, 130, crowd_files)


def test_so_does_being_asked_to_end(crowd_files: Path) -> None:
    interrupt(next(iter(LONG)), signal.SIGTERM, 143, crowd_files)


def interrupt(typed: str, sign: signal.Signals, code: int, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    with Terminal(*typed.split(" ")) as terminal:
        terminal.wait_for((LONG | ALIKE)[typed])
        terminal.process.send_signal(sign)
        assert terminal.finish() == code
    lines = [line.strip() for line in terminal.text.splitlines() if line.startswith("crowdpilot: ")]
    assert lines[-1] == "crowdpilot: interrupted; nothing was written"
    assert "Traceback" not in terminal.text
    assert sorted(folder.rglob("*")) == before


def test_what_is_kept_on_purpose_is_named(crowd_files: Path) -> None:
    asked = (*TRAINING.split(), "--checkpoint", "kept", "-o", "out.json")
    with Terminal("train", "crowd.csv", *asked) as terminal:
        terminal.wait_for("/1000000")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.finish() == 130
    assert "crowdpilot: interrupted; the same command resumes from kept" in terminal.text
    assert not (crowd_files / "out.json").exists()
