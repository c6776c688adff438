"""`crowdpilot next --loop` at a terminal: single keys, each saved before the next item is shown."""

from __future__ import annotations

import os
import signal
import termios
from pathlib import Path

import pytest

from crowdpilot import io
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is one of Unix")
ARGS = (
    "next", "items.csv", "--votes", "votes.csv", "--classes", "no,yes", "--budget", "9", "--worker", "ann",
    "--loop",
)  # fmt: skip


@pytest.fixture
def items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in with items.csv."""
    monkeypatch.chdir(tmp_path)
    rows = [f'i{n},"the text of item {n}, {"very " * 30}long",https://example.org/{n}.jpg' for n in range(12)]
    Path("items.csv").write_text("\n".join(["id,text,image", *rows]))
    return tmp_path


def press(terminal: Terminal, key: str, then: str) -> None:
    """Press a key and wait until something is shown."""
    terminal.raw = ""
    os.write(terminal.end, key.encode())
    terminal.wait_for(then)


def test_keys_are_saved_one_by_one_taken_back_and_skipped(items: Path) -> None:
    with Terminal(*ARGS, "--labels", "labels.csv") as terminal:
        terminal.wait_for("quit")
        assert "the text of item" in terminal.text
        press(terminal, "1", "ann: 1 answered, spent 1 of 9")
        saved = Path("votes.csv").read_text()
        assert saved.startswith("task,worker,label\ni")
        assert saved.endswith(",ann,no\n")
        press(terminal, "y", "ann: 2 answered")  # the first letter of yes
        assert Path("votes.csv").read_text().endswith(",ann,yes\n")
        press(terminal, "u", "took back")
        assert Path("votes.csv").read_text() == saved
        press(terminal, "\x7f", "ann: 0 answered")  # backspace
        assert Path("votes.csv").read_text() == "task,worker,label\n"
        press(terminal, "u", "nothing to undo")
        press(terminal, "s", "skipped")
        press(terminal, "\x1b[A", "quit")  # an arrow means nothing
        press(terminal, "x", "'x' is no key here")
        press(terminal, "q", "stopped; no new answer in votes.csv")
        assert terminal.finish() == 0
    assert Path("labels.csv").read_text().count("\n") == 13


def test_a_process_that_is_killed_loses_nothing_and_the_next_goes_on(items: Path) -> None:
    with Terminal(*ARGS) as terminal:
        terminal.wait_for("quit")
        for n in range(1, 4):
            press(terminal, "2", f"ann: {n} answered")
        terminal.process.send_signal(signal.SIGKILL)
    assert len(io.read("votes.csv", classes=["no", "yes"])) == 3
    with Terminal(*ARGS) as terminal:
        terminal.wait_for("ann: 0 answered, spent 3 of 9")
        for n in range(1, 6):
            press(terminal, "1", f"ann: {n} answered")
        press(terminal, "1", "6 new answers in votes.csv")
        assert terminal.finish() == 0
    votes = io.read("votes.csv")
    assert (len(votes), len(votes.tasks), votes.workers.tolist()) == (9, 9, ["ann"])


def test_an_interrupt_says_what_is_saved_and_the_terminal_is_as_before(items: Path) -> None:
    with Terminal(*ARGS) as terminal:
        before = termios.tcgetattr(terminal.end)
        terminal.wait_for("quit")
        press(terminal, "1", "ann: 1 answered")
        assert termios.tcgetattr(terminal.end) != before
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("interrupted; 1 new answer in votes.csv")
        assert terminal.finish() == 130
        assert termios.tcgetattr(terminal.end) == before


def test_votes_of_others_are_seen_at_once(items: Path) -> None:
    with Terminal(*ARGS) as terminal:
        terminal.wait_for("quit")
        press(terminal, "1", "ann: 1 answered, spent 1 of 9")
        with Path("votes.csv").open("a") as file:
            file.write("i5,bob,yes\ni6,bob,no\n")
        press(terminal, "s", "ann: 1 answered, spent 3 of 9")
        press(terminal, "u", "ann: 0 answered, spent 2 of 9")
    assert Path("votes.csv").read_text() == "task,worker,label\ni5,bob,yes\ni6,bob,no\n"


@pytest.mark.thorough
@pytest.mark.parametrize("env", [{"COLUMNS": "30"}, {"PYTHONIOENCODING": "ascii", "LANG": "C"}])
def test_narrow_terminals_and_those_without_unicode_show_the_item(items: Path, env: dict[str, str]) -> None:
    with Terminal(*ARGS, **env) as terminal:
        terminal.wait_for("quit")
        assert "the text of item" in terminal.text
        if "COLUMNS" in env:
            lines = terminal.text.splitlines()
            assert (
                max(len(line) for line in lines if line.startswith(("│", "╭", "╰")) and "\x1b" not in line)
                <= 30
            )
        else:
            assert terminal.text.isascii()
