"""What the votes of a project cannot tell is said in words."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.service.status.label_caveats import Circumstances, project_caveats
from crowdpilot.service.store.statistics import AnswerTimes
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


@pytest.fixture
def votes() -> Votes:
    return one_coin(tasks=60, skill=[0.9] * 8, seed=0).votes


def test_a_large_crowd_that_takes_its_time_has_no_caveats(votes: Votes) -> None:
    assert project_caveats(votes, None, Circumstances(AnswerTimes(480, 6.0, 3), False, 60, 0)) == []


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (Circumstances(AnswerTimes(480, 6.0, 96)), "20% of the answers took less than 1.2 seconds"),
        (Circumstances(only_guests=True), "All answers come from guests"),
        (Circumstances(items=100, without_votes=80, is_classified=True),
         "The classifier, a program, has decided 80 of 100 items"),
    ],
)  # fmt: skip
def test_circumstances_are_named(votes: Votes, about: Circumstances, words: str) -> None:
    (found,) = project_caveats(votes, None, about)
    assert found.startswith(words)


def test_few_workers_and_one_label_are_named(votes: Votes) -> None:
    few = votes.select(workers=np.arange(3))
    assert "Only 3 people have answered" in project_caveats(few, None, Circumstances())[0]
    same = np.zeros(len(votes.tasks), np.int32)
    found = project_caveats(votes, None, Circumstances(), same)
    assert any(text.startswith("All items get the same label") for text in found)


def test_with_criteria_questions_are_not_called_items(votes: Votes) -> None:
    about = Circumstances(items=100, without_votes=80, is_classified=True, noun="question")
    (found,) = project_caveats(votes, None, about)
    assert "80 of 100 questions alone" in found
    alone = one_coin(tasks=60, skill=[0.9] * 8, votes_per_task=1, seed=0).votes
    found = project_caveats(alone, None, Circumstances(noun="question"))[0]
    assert found.startswith("No question has answers of two workers")
