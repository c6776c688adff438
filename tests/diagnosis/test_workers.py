"""The table of workers holds every score, and flags follow the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdpilot.aggregation import Aggregate, DawidSkene, MajorityVoting
from crowdpilot.diagnosis import (
    FlagRules,
    detect_collusion,
    detect_drift,
    leave_one_out_posteriors,
    skill_interval,
)
from crowdpilot.diagnosis.workers import gold_scores, worker_table
from crowdpilot.simulation import Simulation
from crowdpilot.votes import Votes
from tests.crowds import spamming_crowd


def look(result: Aggregate, rules: FlagRules | None = None, traps: Any = ()):
    loo = leave_one_out_posteriors(result)
    ability = np.arange(len(result.votes.workers), dtype=float)
    return worker_table(result, loo, detect_collusion(loo), ability, rules or FlagRules(), traps)


ALWAYS = [
    "worker", "votes", "skill", "skill_low", "skill_high", "own_skill", "consensus", "peers", "trace",
    "spam_distance", "spam_score", "spam_probability", "ability", "group", "group_evidence", "top_label",
    "top_share", "excess",
]  # fmt: skip
KNOWN = ["gold_votes", "gold_accuracy"]
PACED = ["seconds_low", "median_seconds", "seconds_high", "fast_share"]
TIMED = ["drift", "drift_p"]


@pytest.fixture(scope="module")
def spammers() -> Simulation:
    return spamming_crowd(tasks=400)


def test_columns_come_with_what_they_need(spammers: Simulation) -> None:
    columns, flags, change = look(DawidSkene().fit(spammers.votes))
    assert list(columns) == [*ALWAYS, *KNOWN, *PACED, *TIMED, "flags"]
    assert {len(column) for column in columns.values()} == {20}
    assert list(flags) == ["spammer", "colluding", "same answer", "fails gold", "too fast", "drifting"]
    assert change is not None
    bare = replace(spammers.votes, gold=None, seconds=None, time=None)
    columns, flags, change = look(DawidSkene().fit(bare))
    assert list(columns) == [*ALWAYS, "flags"]
    assert list(flags) == ["spammer", "colluding", "same answer"]
    assert change is None


def test_scores_are_those_of_their_functions(spammers: Simulation) -> None:
    result = DawidSkene().fit(spammers.votes)
    columns, _, change = look(result)
    loo = leave_one_out_posteriors(result)
    np.testing.assert_array_equal(
        [columns[name] for name in ("skill", "skill_low", "skill_high")], skill_interval(result)
    )
    np.testing.assert_array_equal(columns["own_skill"], result.skill)
    np.testing.assert_allclose(columns["consensus"], spammers.votes.worker_mean(loo.p_correct))
    np.testing.assert_allclose(columns["trace"], np.einsum("jkk->j", loo.confusion) / 4)
    np.testing.assert_array_equal(columns["drift_p"], detect_drift(loo).p)
    np.testing.assert_array_equal(change.p, detect_drift(loo).p)
    np.testing.assert_array_equal(columns["ability"], np.arange(20))


def test_spammers_stand_out_in_every_score(spammers: Simulation) -> None:
    columns, flags, _ = look(DawidSkene().fit(spammers.votes))
    assert flags["spammer"].tolist() == [False] * 16 + [True] * 4
    honest = ~spammers.drifting[:16]
    for name in ("skill", "own_skill", "consensus", "peers", "trace", "spam_distance", "spam_score"):
        assert columns[name][16:].max() < columns[name][:16][honest].min()
    assert not flags["colluding"].any()


def test_a_lower_level_gives_narrower_intervals(spammers: Simulation) -> None:
    result = DawidSkene().fit(spammers.votes)
    narrow, wide = (look(result, FlagRules(level=level))[0] for level in (0.5, 0.95))
    assert (narrow["skill_high"] - narrow["skill_low"] < wide["skill_high"] - wide["skill_low"]).all()


def test_flags_are_listed_in_words() -> None:
    votes = Votes.of(
        np.tile(np.arange(40), 6),
        np.repeat(list("abcdef"), 40),
        np.r_[np.tile([0, 1], 100), np.zeros(40, int)],
        gold={n: n % 2 for n in range(40)},
        seconds=np.r_[np.full(200, 10.0), np.full(40, 1.0)],
    )
    columns, flags, _ = look(MajorityVoting().fit(votes))
    assert flags["same answer"].tolist() == [False] * 5 + [True]
    assert columns["flags"].tolist()[:5] == [""] * 5
    assert columns["flags"][5].endswith("same answer, fails gold, too fast")
    assert columns["top_label"][5] == 0


def test_gold_judges_those_with_enough_votes_on_it() -> None:
    right = {"good": 9, "bad": 7, "new": 1}
    rows = [(t, w, "a" if t < n else "b") for w, n in right.items() for t in range(10 if w != "new" else 4)]
    votes = Votes.of(*zip(*rows, strict=True), gold=dict.fromkeys(range(10), "a"))
    columns, flags = gold_scores(votes, FlagRules())
    assert columns["gold_votes"].tolist() == [10, 10, 4]
    np.testing.assert_allclose(columns["gold_accuracy"], [0.9, 0.7, 0.25])
    assert flags["fails gold"].tolist() == [False, True, False]
    assert gold_scores(votes, FlagRules(min_gold_accuracy=0.95))[1]["fails gold"].tolist() == [
        True,
        True,
        False,
    ]
    assert gold_scores(votes, FlagRules(min_gold_votes=4))[1]["fails gold"].tolist() == [False, True, True]


@pytest.mark.parametrize(
    "traps", [[0, 1, 2, 3, 4], ["0", "1", "2", "3", "4"], np.arange(5), {0, 1, 2, 3, 4, 99}]
)
def test_traps_alone_decide_where_there_are_any(traps) -> None:
    """Worker x fails the traps, worker y the other gold tasks."""
    rows = [(t, w, "b" if (t < 5) == (w == "x") else "a") for w in "xy" for t in range(10)]
    votes = Votes.of(*zip(*rows, strict=True), gold=dict.fromkeys(range(10), "a"))
    columns, flags = gold_scores(votes, FlagRules(), traps)
    assert flags["fails trap"].tolist() == [True, False]
    assert list(flags) == ["fails trap"]
    assert columns["gold_accuracy"].tolist() == [0.5, 0.5]
    assert columns["trap_accuracy"].tolist() == [0, 1]
    assert columns["trap_votes"].tolist() == [5, 5]


@pytest.mark.parametrize("gold", [None, {1: "a"}])
def test_traps_of_unknown_class_are_refused(gold) -> None:
    votes = Votes.of([1, 2], ["x", "x"], ["a", "b"], gold=gold)
    with pytest.raises(ValueError, match="no trap is a task whose class is known"):
        gold_scores(votes, FlagRules(), [2])


def test_a_worker_with_mostly_fast_votes_is_too_fast(spammers: Simulation) -> None:
    seconds = np.where(spammers.votes.worker == 3, 1.0, 10.0)
    result = DawidSkene().fit(replace(spammers.votes, seconds=seconds))
    assert np.flatnonzero(look(result)[1]["too fast"]).tolist() == [3]
    assert not look(result, FlagRules(fast_ratio=0.05))[1]["too fast"].any()
    assert not look(result, FlagRules(max_fast_share=1.0))[1]["too fast"].any()


def test_workers_without_votes_have_no_score_and_no_flag(spammers: Simulation) -> None:
    votes = replace(spammers.votes, workers=np.arange(22), seconds=None)
    columns, flags, _ = look(DawidSkene().fit(votes))
    for name in ("skill", "skill_low", "skill_high", "consensus", "peers", "spam_probability", "drift_p"):
        assert np.isnan(columns[name][20:]).all()
    assert columns["votes"][20:].tolist() == [0, 0]
    assert columns["group"][20:].tolist() == [-1, -1]
    assert columns["flags"][20:].tolist() == ["", ""]
    assert not any(flag[20:].any() for flag in flags.values())


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("level", 0), ("level", 1.0), ("level", 95), ("false_discovery_rate", 0),
        ("false_discovery_rate", 1), ("fast_ratio", -1), ("target", 1), ("target", float("nan")),
        ("min_gold_accuracy", 1.1), ("max_fast_share", -0.1), ("min_same_share", 2),
        ("min_same_share", float("nan")), ("min_gold_votes", 0), ("min_gold_votes", -3),
    ],
)  # fmt: skip
def test_senseless_rules_are_refused(rule: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{rule} is {value}, expected [^.]*$"):
        FlagRules(**{rule: value})


def test_the_default_rules() -> None:
    assert FlagRules() == FlagRules(level=0.9, false_discovery_rate=0.05, min_gold_accuracy=0.8)
    assert FlagRules(min_gold_accuracy=0, min_same_share=1, max_fast_share=0).min_gold_accuracy == 0
