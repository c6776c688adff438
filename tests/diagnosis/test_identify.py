from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import entropy as nats

from crowdpilot.aggregation import MajorityVoting
from crowdpilot.diagnosis import IDENTIFICATIONS, Identification, find_identification
from crowdpilot.simulation import Simulation
from crowdpilot.votes import Votes
from tests.crowds import spamming_crowd

PEERANNOT = ("entropy", "trace_confusion", "spam_score", "krippendorff_alpha", "glad")


@pytest.fixture(scope="module")
def spammers() -> Simulation:
    return spamming_crowd(tasks=200)


@pytest.mark.parametrize("name", IDENTIFICATIONS)
def test_each_has_its_score_in_columns_of_one_length(name: str, spammers: Simulation) -> None:
    kind = IDENTIFICATIONS[name]
    columns = kind.run(spammers.votes, MajorityVoting())
    assert len({len(column) for column in columns.values()}) == 1
    assert np.asarray(columns[kind.score]).dtype.kind in "if"
    assert set(kind.brief) <= set(columns)
    assert kind.summary.endswith(".")


@pytest.mark.parametrize("name", ["skill", "trace_confusion", "spam_score", "glad", "gold", "seconds"])
def test_spammers_come_first(name: str, spammers: Simulation) -> None:
    kind = IDENTIFICATIONS[name]
    table = kind.worst_first(kind.run(spammers.votes, MajorityVoting()))
    drifter = int(np.flatnonzero(spammers.drifting)[0])
    first = [worker for worker in table["worker"].tolist() if worker != drifter][
        : 3 if name == "seconds" else 4
    ]
    assert len(set(first) & {16, 17, 18, 19}) >= (2 if name == "seconds" else len(first))


def test_entropy_is_that_of_the_shares_of_votes(spammers: Simulation) -> None:
    found = IDENTIFICATIONS["entropy"].run(spammers.votes, MajorityVoting())
    np.testing.assert_allclose(found["entropy"], nats(spammers.votes.tally(), axis=1), atol=1e-12)


def test_trace_is_between_zero_and_the_number_of_classes(spammers: Simulation) -> None:
    found = IDENTIFICATIONS["trace_confusion"].run(spammers.votes, MajorityVoting())
    assert ((found["trace"] >= 0) & (found["trace"] <= 4)).all()
    np.testing.assert_allclose(found["trace"], 4 * found["share_of_most"])


def test_rows_without_a_score_come_last() -> None:
    kind = Identification("x.", "score", worst_low=True, run=lambda votes, model: {})
    columns = {"name": np.array(["a", "b", "c"]), "score": np.array([np.nan, 2.0, 1.0])}
    assert kind.worst_first(columns)["name"].tolist() == ["c", "b", "a"]
    assert replace(kind, worst_low=False).worst_first(columns)["name"].tolist() == ["b", "c", "a"]


@pytest.mark.parametrize("name", PEERANNOT)
def test_names_of_peerannot_are_known_in_any_case(name: str) -> None:
    assert find_identification(name.upper().replace("_", "-")) is IDENTIFICATIONS[name]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("WAUM", "content of the tasks"),
        ("aum", "content of the tasks"),
        ("entropi", "did you mean entropy"),
        ("qqq", "there are workers, tasks"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        find_identification(name)


@pytest.mark.parametrize("name", ["seconds", "drift", "gold"])
def test_what_the_votes_do_not_hold_is_said(name: str) -> None:
    votes = Votes.of(["a", "a"], ["x", "y"], ["cat", "dog"])
    with pytest.raises(ValueError, match=", so "):
        IDENTIFICATIONS[name].run(votes, MajorityVoting())
