"""A file that was changed on the way is read right, refused in a sentence, or read with a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from tests.io.mutated.trials import CRASHED, MISREAD, READ, Trial, run

FILES, MORE_FILES = 150, 2000


def shown(trials: Iterable[Trial]) -> str:
    """What went wrong, for somebody who wants to see it again by its seed."""
    wrong = [trial for trial in trials if trial.outcome in (MISREAD, CRASHED)]
    return "\n".join(f"{one.seed} {one.outcome}: {one.layout} {one.mutations} {one.detail}" for one in wrong)


def check(trials: list[Trial]) -> None:
    assert shown(trials) == ""
    counts = Counter(trial.outcome for trial in trials)
    print(dict(counts))
    assert counts[READ] > len(trials) / 2  # to refuse everything is no answer


def test_no_mutated_file_is_misread_in_silence() -> None:
    check(list(run(range(FILES))))


@pytest.mark.thorough
def test_no_file_of_many_is_misread_in_silence() -> None:
    check(list(run(range(FILES, FILES + MORE_FILES))))
