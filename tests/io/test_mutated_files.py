"""A file that was changed on the way is read right, refused in a sentence, or read with a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from crowdpilot.votes import Votes
from tests.io.mutated.draft import Draft
from tests.io.mutated.trials import CRASHED, MISREAD, READ, Trial, agrees, draft_of, run, tried

FILES, MORE_FILES = 150, 2000


def votes_of(triples: Sequence[tuple[str, str, str]]) -> Votes:
    task, worker, label = zip(*triples, strict=True)
    return Votes.of(task, worker, label)


def shown(trials: Iterable[Trial]) -> str:
    """What went wrong, for somebody who wants to see it again by its seed."""
    wrong = [trial for trial in trials if trial.outcome in (MISREAD, CRASHED)]
    return "\n".join(f"{one.seed} {one.outcome}: {one.layout} {one.mutations} {one.detail}" for one in wrong)


def check(trials: list[Trial]) -> None:
    assert shown(trials) == ""
    counts = Counter(trial.outcome for trial in trials)
    print(dict(counts))
    assert counts[READ] > len(trials) / 2  # to refuse everything is no answer


def test_a_seed_is_a_file() -> None:
    assert [draft_of(seed).content() for seed in range(9)] == [draft_of(seed).content() for seed in range(9)]


def test_another_label_and_a_lost_vote_are_noticed() -> None:
    for draft in filter(Draft.truth, map(draft_of, range(30))):
        true = sorted(draft.truth())
        task, worker, label = true[0]
        wrong = [(task, worker, f"not {label}"), *true[1:]]
        assert agrees(votes_of(true), draft)
        assert not agrees(votes_of(wrong), draft)
        assert not agrees(votes_of(true[1:]), draft)
        assert not agrees(votes_of([*true, (task, "(nobody)", label)]), draft)


def test_a_reading_that_differs_in_silence_is_found(tmp_path: Path) -> None:
    draft = draft_of(0)
    (tmp_path / "votes.csv").write_text("task,worker,label\na,x,cat\na,y,dog\n")
    assert tried(tmp_path / "votes.csv", draft, {})[0] == MISREAD


def test_no_mutated_file_is_misread_in_silence() -> None:
    check(list(run(range(FILES))))


@pytest.mark.thorough
def test_no_file_of_many_is_misread_in_silence() -> None:
    check(list(run(range(FILES, FILES + MORE_FILES))))
