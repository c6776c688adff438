"""A task of a newcomer: what is typed, and what has to come of it."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROMPT = "$ "
LONGEST_SENTENCE = 400  # characters of a message that is still read


@dataclass(frozen=True)
class Task:
    """`typed` in Python, or in a shell if it begins with a prompt.

    `works` judges the last value, or the output; `refused` is a pattern of the sentence that refuses it.
    """

    goal: str
    typed: str
    works: Callable[[Any], object] | None = None
    refused: str | None = None


@dataclass(frozen=True)
class Newcomer:
    """Somebody with files in a folder, lines typed at the start of each task, and tasks."""

    name: str
    prepare: Callable[[], None]
    start: str
    tasks: list[Task]


@dataclass(frozen=True)
class Outcome:
    """Whether it is the outcome that was expected, and what the newcomer sees of it."""

    expected: bool
    seen: str


@dataclass(frozen=True)
class Output:
    """What a shell command printed."""

    code: int
    stdout: str
    stderr: str


def run(newcomer: Newcomer, task: Task, folder: Path) -> Outcome:
    """Type the task in `folder`, which has the files of the newcomer and nothing else."""
    with chdir(folder):
        newcomer.prepare()
        if task.typed.startswith(PROMPT):
            return judge_output(task, type_in_shell(task.typed))
        return judge_value(task, newcomer.start)


def type_in_shell(typed: str) -> Output:
    """All lines of the shell in one go; the first that fails ends it."""
    lines = "\n".join(line.removeprefix(PROMPT) for line in typed.splitlines())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-ec", lines], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return Output(done.returncode, done.stdout, done.stderr)


def judge_output(task: Task, output: Output) -> Outcome:
    """A command that works ends with 0; one that is refused ends with 2, says why and prints no result."""
    if "Traceback" in output.stderr:
        return Outcome(False, output.stderr[-1000:])
    if task.refused:
        message = last_message(output.stderr)
        fine = output.code == 2 and not output.stdout and is_sentence(message, task.refused)
        return Outcome(fine, f"refused: {message}")
    fine = output.code == 0 and holds(task, output)
    return Outcome(
        fine, "works" if fine else f"exit code {output.code}: {output.stdout}{output.stderr}"[-1000:]
    )


def last_message(stderr: str) -> str:
    """The last message on standard error, without the frame that some have."""
    return " ".join(re.sub(r"[│╭╮╰╯─]+", " ", stderr).split("crowdpilot: ")[-1].split())


def judge_value(task: Task, start: str) -> Outcome:
    """Python that works gives a value and no warning; what is refused raises one sentence."""
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ResourceWarning)  # newcomers leave files open
            value = value_of_last_line(f"{start}\n{task.typed}")
    except Exception as error:
        message = str(error.args[0]) if error.args else ""
        fine = task.refused is not None and is_sentence(message, task.refused)
        return Outcome(fine, f"refused: {message}" if fine else f"{type(error).__name__}: {message}"[:1000])
    if task.refused:
        return Outcome(False, f"not refused: {value!r}"[:1000])
    fine = holds(task, value)
    return Outcome(fine, "works" if fine else f"gives {value!r}"[:1000])


def holds(task: Task, shown: object) -> bool:
    """Whether what was shown, and the files there are now, are what was wanted."""
    try:
        return task.works is not None and bool(task.works(shown))
    except (AttributeError, LookupError, OSError, TypeError, ValueError):
        return False


def value_of_last_line(typed: str) -> object:
    """Run `typed` as a notebook does: the value is that of the last line, if it is an expression."""
    names: dict[str, object] = {"__name__": "__main__"}
    *lines, last = ast.parse(typed).body
    exec(compile(ast.Module(lines, []), "<typed>", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "<typed>", "eval"), names)
    exec(compile(ast.Module([last], []), "<typed>", "exec"), names)
    return None


def is_sentence(message: str, pattern: str) -> bool:
    """Whether a message is short, on one line, and says what `pattern` asks for."""
    return len(message) < LONGEST_SENTENCE and "\n" not in message and re.search(pattern, message) is not None
