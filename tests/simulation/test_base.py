"""Options that make no sense are refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdpilot.simulation import (
    STRATEGIES,
    DiscreteDifficulty,
    HammerSpammer,
    IndependentConfusion,
    StudentTeacher,
    make_crowd,
    one_coin,
)


@pytest.mark.parametrize("name", ["discrete-difficulty", "DISCRETE_difficulty", "Discrete-Difficulty"])
def test_a_strategy_is_found_in_any_spelling(name: str) -> None:
    assert make_crowd(name, {"ratio_diff": 2, "seed": 4}) == DiscreteDifficulty(ratio_diff=2, seed=4)


@pytest.mark.parametrize(("name", "strategy"), STRATEGIES.items())
def test_a_strategy_is_listed_under_its_name(name: str, strategy: type) -> None:
    assert strategy.name == name


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="no strategy 'spam', expected one of hammer-spammer"):
        make_crowd("spam", {})


def test_an_option_of_another_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="hammer-spammer has no option 'ratio_diff'"):
        make_crowd("hammer-spammer", {"ratio_diff": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": 0}, "tasks is 0, expected a number between 1"),
        ({"classes": 0}, "classes is 0"),
        ({"ratio": 1.5}, "ratio is 1.5, expected a number between 0 and 1"),
        ({"abstain": float("nan")}, "abstain is nan"),
        ({"tail": -1.0, "votes_per_task": 3}, "tail is -1.0"),
        ({"seconds": 0.0}, "seconds is 0.0"),
        ({"seed": -1}, "seed is -1"),
        ({"prior": (0.5, 0.5)}, "the class prior is .* expected 5 shares that sum to 1"),
        ({"prior": (0.5, 0.1, 0.1, 0.1, 0.1)}, "the class prior"),
        ({"votes_per_task": 31}, "votes_per_task is 31, expected at most one vote from 30 workers"),
        (
            {"votes_per_task": 10, "max_votes_per_worker": 66},
            "give 1980 votes, expected 2000 for 200 tasks with 10 each",
        ),
        ({"max_votes_per_worker": 6}, "give 180 votes, expected 200 for 200 tasks with 1 each"),
        ({"tail": 1.0}, "tail has no effect"),
    ],
)
def test_a_senseless_option_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HammerSpammer(**options)


def test_students_need_a_teacher() -> None:
    with pytest.raises(ValueError, match="all 30 workers are students"):
        StudentTeacher(ratio=1.0).run()


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        (np.ones((30, 5, 4)) / 4, r"shape \(30, 5, 4\), expected \(30, 5, 5\)"),
        (np.ones((29, 5, 5)) / 5, r"shape \(29, 5, 5\), expected \(30, 5, 5\)"),
        (np.ones((30, 5, 5)), "rows are not probabilities"),
        (np.full((30, 5, 5), np.nan), "rows are not probabilities"),
    ],
)
def test_a_file_without_proper_matrices_is_refused(matrices: np.ndarray, message: str, tmp_path) -> None:
    np.save(tmp_path / "m.npy", matrices)
    with pytest.raises(ValueError, match=message):
        IndependentConfusion(matrix_file=tmp_path / "m.npy").run()


@pytest.mark.parametrize("content", [None, b"", b"0.5,0.5\n"])
def test_a_file_that_is_no_array_is_refused(content: bytes | None, tmp_path) -> None:
    if content is not None:
        (tmp_path / "m.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.npy cannot be read"):
        IndependentConfusion(matrix_file=tmp_path / "m.npy").run()


def test_one_coin_workers_are_as_skilled_as_asked() -> None:
    skill = [0.95, 0.7, 0.25, 0.0]
    votes, truth = one_coin(tasks=4000, skill=skill, classes=4, seed=2)
    np.testing.assert_allclose(votes.worker_mean(votes.label == truth[votes.task]), skill, atol=0.03)
    wrong = (votes.label - truth[votes.task])[votes.worker == 3] % 4
    np.testing.assert_allclose(np.bincount(wrong)[1:] / len(wrong), [1 / 3] * 3, atol=0.03)


def test_one_coin_skills_are_probabilities() -> None:
    with pytest.raises(ValueError, match=r"a skill is 1\.2"):
        one_coin(tasks=3, skill=[0.5, 1.2])


HABITS = {"tail": 0.5, "drifting": 0.3, "colluding": 0.4, "seconds": 5.0, "abstain": 0.1}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_parts_have_the_same_workers_and_tasks_of_their_own(strategy: str) -> None:
    crowd = make_crowd(
        strategy, {"tasks": 50, "workers": 20, "classes": 3, "votes_per_task": 4, "seed": 3, **HABITS}
    )
    parts = [crowd.shard(n, 4) for n in range(4)]
    assert np.concatenate([part.votes.tasks for part in parts]).tolist() == list(range(50))
    for part in parts[1:]:
        for name in ("confusion", "group", "drifting", "teacher"):
            np.testing.assert_array_equal(getattr(part, name), getattr(parts[0], name))
        assert part.truth[:12].tolist() != parts[0].truth[:12].tolist()
    again = crowd.shard(2, 4).votes
    np.testing.assert_array_equal(again.label, parts[2].votes.label)
    np.testing.assert_array_equal(again.seconds, parts[2].votes.seconds)


def test_workers_come_as_often_in_all_parts() -> None:
    crowd = IndependentConfusion(tasks=8000, workers=10, votes_per_task=2, tail=1.0)
    came = np.stack([np.bincount(crowd.shard(n, 2).votes.worker) for n in range(2)])
    np.testing.assert_allclose(came[0], came[1], rtol=0.15)
    assert np.ptp(came[0]) > 500


@pytest.mark.parametrize(
    ("options", "part", "message"),
    [
        ({}, (4, 4), "part 4 of 4"),
        ({}, (0, 201), "there are 200 tasks"),
        ({"max_votes_per_worker": 200}, (0, 2), "max_votes_per_worker"),
    ],
)
def test_parts_that_cannot_be_are_refused(options: dict, part: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IndependentConfusion(**options).shard(*part)
