"""The accuracy benchmark on a set small enough to count by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import accuracy, sets

ANSWERS = "task,worker,label\na,x,0\na,y,0\na,z,1\nb,x,1\nb,y,1\nb,z,1\nc,x,0\nc,y,0\nc,z,0\nc,z,0\n"
TRUTH = "task,label\na,1\nb,1\nc,0\nunvoted,0\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one whole set and one without truth."""
    for name in ("tiny", "no_truth"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answers.csv").write_text(ANSWERS)
    (tmp_path / "tiny" / "truth.csv").write_text(TRUTH)
    return tmp_path


def test_every_model_gets_its_share_of_gold_tasks_with_a_vote(data: Path) -> None:
    accuracy.main(data, models="majority_voting,dawid_skene", peers="no", output=data / "out")
    record = json.loads((data / "out" / "accuracy.json").read_text())
    assert list(record["results"]) == ["tiny"]
    assert record["results"]["tiny"]["majority_voting"]["accuracy"] == pytest.approx(2 / 3)
    assert record["means"]["all sets"]["majority_voting"] == pytest.approx(2 / 3)
    assert record["means"]["19 sets"]["majority_voting"] is None
    assert "| tiny | **0.667** | **0.667** |" in (data / "out" / "accuracy.md").read_text()


def test_a_repeated_vote_counts_every_time(data: Path) -> None:
    assert sets.read(data / "tiny").describe() | {"fingerprint": ""} == {
        "tasks": 3, "workers": 3, "classes": 2, "votes": 10, "gold": 3, "fingerprint": "",
    }  # fmt: skip


def test_models_that_need_more_than_votes_are_left_out_with_a_reason(data: Path) -> None:
    accuracy.main(data, models="majority_voting,gold_majority", peers="no", output=data / "out")
    record = json.loads((data / "out" / "accuracy.json").read_text())
    assert list(record["results"]["tiny"]) == ["majority_voting"]
    assert "gold_majority (needs the class of some tasks)" in (data / "out" / "accuracy.md").read_text()


def test_what_a_peer_scored_on_the_same_votes_is_not_measured_again(data: Path) -> None:
    cache = data / "peers.json"
    key = f"tiny {sets.read(data / 'tiny').describe()['fingerprint']} GLAD"
    cache.write_text(
        json.dumps({key: {"accuracy": 1.0, "seconds": 2.0}, "tiny other GLAD": {"accuracy": 0.0}})
    )
    accuracy.main(data, models="majority_voting", peers="cached", output=data / "out", cache=cache)
    record = json.loads((data / "out" / "accuracy.json").read_text())
    assert record["results"]["tiny"]["crowd-kit GLAD"]["accuracy"] == 1
    assert record["results"]["tiny"]["crowd-kit KOS"] == {"reason": "not run"}
    assert record["means"]["all sets"]["crowd-kit KOS"] is None
    assert record["means"]["all sets"][accuracy.HINDSIGHT] == 1
    assert "- crowd-kit KOS on tiny: not run" in (data / "out" / "accuracy.md").read_text()


def test_a_set_that_is_not_there_is_an_error(data: Path) -> None:
    with pytest.raises(ValueError, match="no set called 'no_truth'"):
        sets.find(data, "tiny,no_truth")
