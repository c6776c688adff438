"""The outcome of a task is judged as its newcomer would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front_door.task import Newcomer, Task, run


def nobody() -> None:
    """A newcomer without files."""


def is_expected(task: Task, folder: Path) -> bool:
    return run(Newcomer("newcomer", nobody, "import warnings", [task]), task, folder).expected


AS_EXPECTED = [
    Task("a value", "x = 1\nx + 1", lambda got: got == 2),
    Task("a file", 'open("a", "w").close()', lambda _: Path("a").exists()),
    Task("a sentence", 'raise ValueError("found a, expected b")', refused="expected b"),
    Task("output", "$ echo here", lambda out: out.stdout == "here\n"),
    Task("a message", "$ echo crowdpilot: expected b >&2; exit 2", refused="expected b"),
]
NOT_AS_EXPECTED = [
    Task("another value", "1 + 1", lambda got: got == 3),
    Task("a value that has not what is looked for", "1", lambda got: got.labels),
    Task("a warning", 'warnings.warn("odd")\n2', lambda got: got == 2),
    Task("an error", '{}["a"]', lambda _: True),
    Task("another sentence", 'raise ValueError("found a")', refused="expected b"),
    Task("a page", 'raise ValueError("expected b\\n" * 50)', refused="expected b"),
    Task("a value instead of a sentence", "1", refused="expected b"),
    Task("a command that fails", "$ echo here; exit 1", lambda _: True),
    Task("a traceback", "$ echo Traceback: expected b >&2; exit 2", refused="expected b"),
    Task("half a result", "$ echo task,label; echo expected b >&2; exit 2", refused="expected b"),
]


@pytest.mark.parametrize("task", AS_EXPECTED, ids=lambda task: task.goal)
def test_what_a_newcomer_hopes_for_is_as_expected(task: Task, tmp_path: Path) -> None:
    assert is_expected(task, tmp_path)


@pytest.mark.parametrize("task", NOT_AS_EXPECTED, ids=lambda task: task.goal)
def test_anything_else_is_not(task: Task, tmp_path: Path) -> None:
    assert not is_expected(task, tmp_path)
