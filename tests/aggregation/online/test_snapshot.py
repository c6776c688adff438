"""Snapshots of streams: a file of each version is read, and the stream goes on from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crowdpilot.aggregation import MajorityVoting, Stream

SAVED = Path(__file__).parent / "saved"
FIELDS = {
    "format", "version", "strategy", "half_life", "classes", "tasks", "workers", "gold", "posterior", "votes",
    "clocks", "statistics",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
@pytest.mark.parametrize(
    ("name", "probs", "skill", "totals", "refitted"),
    [
        (
            "dawid_skene", [0.251492, 0.717629, 0.030879], 0.772105,
            [3.175854, 4.159978, 2.664167], [1.509715, 6.204433, 2.285852],
        ),
        (
            "glad", [0.403295, 0.509061, 0.087644], 0.750802,
            [2.922173, 3.748951, 3.328876], [2.467185, 4.981828, 2.550987],
        ),
    ],
)  # fmt: skip
def test_a_stream_goes_on_from_a_file_of_version_1(name, probs, skill, totals, refitted):
    data = json.loads((SAVED / f"stream_v1_{name}.json").read_text())
    stream = Stream.from_dict(data)
    assert str(stream.model) == name
    assert stream.to_dict() == data
    stream.add("t1", "w9", "a")
    votes = stream.votes()
    stream.delete("t3", votes.workers[votes.worker[votes.task == stream.tasks.code["t3"]][0]])
    np.testing.assert_allclose(stream.probs("t1"), probs, atol=1e-6)
    assert stream.skill("w1") == pytest.approx(skill, abs=1e-6)
    np.testing.assert_allclose(stream.result().probs.sum(axis=0), totals, atol=1e-6)
    np.testing.assert_allclose(stream.refit().probs.sum(axis=0), refitted, atol=1e-5)


def test_the_fields_of_a_snapshot_are_those_of_its_schema():
    data = Stream(MajorityVoting(), ["a", "b"]).to_dict()
    assert data.keys() == FIELDS
    assert data["votes"].keys() == {"task", "worker", "label", "weight", "clock"}
    assert data["clocks"].keys() == {"votes", "unit"}
    assert data["statistics"].keys() == {"class_counts", "vote_weight", "right_votes"}


@pytest.mark.parametrize("change", [{"version": 9}, {"format": "something else"}, {"format": None}])
def test_an_unknown_format_or_version_is_refused(change):
    data = Stream(MajorityVoting(), ["a", "b"]).to_dict() | change
    with pytest.raises(ValueError, match=r"no snapshot of a stream .* expected 'crowdpilot-stream' and 1"):
        Stream.from_dict(data)
