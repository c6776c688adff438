"""What people type first, works, or is refused in a sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front_door.newcomers import NEWCOMERS
from tests.front_door.task import Newcomer, Task, run

TYPED = [pytest.param(who, task, id=f"{who.name}: {task.goal}") for who in NEWCOMERS for task in who.tasks]


def test_there_are_51_tasks_of_three_newcomers() -> None:
    assert [len(newcomer.tasks) for newcomer in NEWCOMERS] == [17, 17, 17]


@pytest.mark.parametrize(("newcomer", "task"), TYPED)
def test_what_is_typed_first_works_or_is_refused_with_what_to_do(
    newcomer: Newcomer, task: Task, tmp_path: Path
) -> None:
    outcome = run(newcomer, task, tmp_path)
    assert outcome.expected, f"{task.typed}\n{outcome.seen}"
