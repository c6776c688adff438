from __future__ import annotations

import pytest

from crowdpilot.cli.shared import output
from crowdpilot.cli.shared.output import print_message, print_table, show_status

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")


def test_a_long_job_says_what_it_does(
    terminal: None, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(output, "STATUS_DELAY_SECONDS", 0.0)
    with show_status("fitting glad[seed=1]"):
        pass
    shown = capsys.readouterr()
    assert "fitting glad[seed=1] (0 s)" in shown.err
    assert shown.out == ""


def test_a_short_job_says_nothing(terminal: None, capsys: Captured) -> None:
    with show_status("fitting"):
        pass
    assert "fitting" not in capsys.readouterr().err


def test_nothing_moves_when_piped(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(output, "STATUS_DELAY_SECONDS", 0.0)
    with show_status("fitting"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_note_is_one_line(capsys: Captured) -> None:
    print_message("first\nsecond")
    assert capsys.readouterr() == ("", "crowdpilot: first second\n")


def test_a_program_gets_all_digits(capsys: Captured) -> None:
    print_table(("name", "value"), [("a, b", 1 / 3), ("c", None)])
    assert capsys.readouterr().out == 'name,value\n"a, b",0.3333333333333333\nc,\n'


def test_a_person_gets_four(terminal: None, capsys: Captured) -> None:
    print_table(("name", "value"), [("[b]", 1 / 3), ("c", None)])
    shown = capsys.readouterr().out
    assert "[b]" in shown
    assert " 0.3333 " in shown
