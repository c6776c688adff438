"""The command line as a shell sees it: streams, exit codes and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import crowdpilot

Start = Callable[..., subprocess.Popen[str]]


def test_results_and_messages_go_to_different_streams(here: Path, start: Start) -> None:
    process = start("aggregate", "votes.csv", "--abstain", "unsure")
    out, err = process.communicate()
    assert process.returncode == 0
    assert [line.split(",")[:2] for line in out.splitlines()] == [
        ["task", "label"], ["owl", "bird"], ["eel", "fish"], ["emu", "bird"],
    ]  # fmt: skip
    reading, accuracy, auto = err.splitlines()
    assert reading == (
        "crowdpilot: votes.csv: csv, task from 'task', worker from 'worker', label from 'label'; "
        "9 votes on 3 tasks by 3 workers, 2 classes (bird, fish)"
    )
    assert accuracy.startswith("crowdpilot: about ")
    assert auto.startswith("crowdpilot: auto ")


def test_results_are_utf_8_where_the_system_has_another_encoding(here: Path) -> None:
    (here / "birds.csv").write_text("task,worker,label\n鳥,ann,owl\n鳥,bob,owl\n", "utf-8")
    command = [sys.executable, "-m", "crowdpilot", "aggregate", "birds.csv", "-s", "mv"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, check=True)
    assert done.stdout.decode("utf-8").splitlines()[1].startswith("鳥,owl,")


def test_a_broken_file_ends_in_one_line_and_exit_code_2(here: Path, start: Start) -> None:
    process = start("aggregate", "bad.csv", "-o", "out.csv")
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err == "crowdpilot: bad.csv, line 11: found 2 fields, expected 3 ('task', 'worker', 'label')\n"
    assert not (here / "out.csv").exists()


def test_a_reader_that_leaves_early_is_no_reason_to_complain(here: Path, start: Start) -> None:
    process = start("aggregate", "votes.csv", "-s", "mv")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as stream:
        _, accuracy = stream.read().splitlines()
    assert accuracy.startswith("crowdpilot: about ")
    assert process.wait() != 0


def test_an_interrupt_ends_with_exit_code_130(here: Path, start: Start) -> None:
    os.mkfifo("slow.csv")
    process = start("aggregate", "slow.csv", "-s", "mv", "-o", "out.csv")
    with open("slow.csv", "w"):  # opens when the command begins to read
        process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "crowdpilot: interrupted; nothing was written\n"
    assert not (here / "out.csv").exists()


def test_the_version_is_printed(start: Start) -> None:
    assert start("--version").communicate() == (f"crowdpilot {crowdpilot.__version__}\n", "")
