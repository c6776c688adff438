"""Colours and moving things are for terminals only, and for those that want them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

Start = Callable[..., subprocess.Popen[str]]

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")
CALLS = ("--help", "strategies", "aggregate votes.csv --verbose", "aggregat")
PLAIN = {"FORCE_COLOR": "", "GITHUB_ACTIONS": "", "PY_COLORS": "", "TTY_COMPATIBLE": ""}


@pytest.mark.parametrize("typed", CALLS)
def test_a_pipe_gets_no_colours(typed: str, here: Path, start: Start) -> None:
    out, err = start(*typed.split(), **PLAIN, TERM="xterm-256color").communicate()
    assert out + err != ""
    assert ESCAPE not in out + err


@pytest.mark.parametrize("typed", CALLS[:2])
def test_a_terminal_gets_colours_unless_it_does_not_want_them(typed: str, here: Path) -> None:
    shown = {}
    for name, env in {"usual": {}, "plain": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}}.items():
        with Terminal(*typed.split(), **env) as terminal:
            terminal.finish()
        shown[name] = terminal.raw
    assert ESCAPE in shown["usual"]
    assert not COLOUR.search(shown["plain"])
    assert ESCAPE not in shown["dumb"]


def test_help_is_coloured_at_a_terminal(here: Path) -> None:
    with Terminal("--help") as terminal:
        assert terminal.finish() == 0
    assert COLOUR.search(terminal.raw)


def test_colours_that_are_forced_do_not_make_a_picture_of_a_table(here: Path, start: Start) -> None:
    out, _ = start("agreement", "votes.csv", "--samples", "20", FORCE_COLOR="1").communicate()
    assert out.startswith("measure,")
    assert ESCAPE not in out


def test_a_person_and_a_pipe_are_told_the_same_numbers(here: Path, start: Start) -> None:
    asked = ("agreement", "votes.csv", "--measure", "fleiss_kappa", "--samples", "20")
    out, _ = start(*asked, **PLAIN).communicate()
    value = float(out.splitlines()[1].split(",")[1])
    with Terminal(*asked) as terminal:
        assert terminal.finish() == 0
    assert f" {value:.4f} " in terminal.text
