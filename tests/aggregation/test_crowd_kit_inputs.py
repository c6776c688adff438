"""Inputs of crowd-kit's own tests and random ones: `fit_predict` gives crowd-kit's labels, apart from ties.

Labels were recorded with crowd-kit 1.4.2 by `crowd_kit/record.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdpilot import aggregation
from crowdpilot.io import read
from tests.aggregation.crowd_kit.inputs import GOLD, INPUTS

RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("crowd_kit").joinpath("labels.json").read_text()
)
COMPARED = sorted(key for key, labels in RECORDED.items() if isinstance(labels, dict))
REFUSED = sorted(key for key, labels in RECORDED.items() if isinstance(labels, str) and key != "crowd-kit")

# Labels that differ though one class has more votes than any other, and why.
OTHER_LABELS = {
    "toy KOS": (["t5"], "crowd-kit's first messages are random, and it loses 4 of 5 votes; ours are not"),
    "ternary_1 GLAD": (["45"], "4 votes of less able workers against 3: 56 % here, by priors of ability"),
    "ternary_1 MMSR": (["45"], "4 votes of less able workers against 3: 62 % here, by smoothed skills"),
}


def frame(name: str) -> pd.DataFrame:
    return pd.DataFrame(INPUTS[name], columns=["worker", "task", "label"])


def tied_tasks(name: str) -> set[str]:
    """Tasks on which no class has more votes than all others."""
    votes = read(frame(name))
    tally = votes.tally()
    return {*map(str, votes.tasks[(tally == tally.max(axis=1, keepdims=True)).sum(axis=1) > 1])}


@pytest.mark.parametrize("key", COMPARED)
def test_labels_are_those_of_crowd_kit_apart_from_ties(key: str) -> None:
    name, model = key.split()
    gold = [GOLD[name]] if model == "GoldMajorityVote" else []
    labels = getattr(aggregation, model)().fit_predict(frame(name), *gold)
    theirs = pd.Series(RECORDED[key])
    ours = labels.set_axis(labels.index.astype(str))[theirs.index]
    differ = {*theirs.index[ours.to_numpy() != theirs.to_numpy()]}
    assert differ - tied_tasks(name) == {*OTHER_LABELS.get(key, [[]])[0]}


@pytest.mark.parametrize("name", INPUTS)
def test_series_and_frames_are_built_as_those_of_crowd_kit(name: str) -> None:
    votes = frame(name)
    labels = aggregation.MajorityVote().fit_predict(votes)
    probs = aggregation.MajorityVote().fit_predict_proba(votes)
    assert (labels.name, labels.index.name, labels.dtype) == ("agg_label", "task", votes["label"].dtype)
    assert (probs.index.name, probs.columns.name) == ("task", "label")
    assert labels.index.dtype == probs.index.dtype == votes["task"].dtype
    shares = votes.groupby(["task", "label"]).size().unstack(fill_value=0)
    expected = shares.div(shares.sum(axis=1), axis=0)
    pd.testing.assert_frame_equal(probs.sort_index(), expected, check_names=False)


@pytest.mark.parametrize("key", REFUSED)
def test_what_crowd_kit_cannot_do_is_done_here(key: str) -> None:
    name, model = key.split()
    labels = getattr(aggregation, model)().fit_predict(frame(name))
    assert labels.isin(frame(name)["label"].unique()).all()
    clear = ~labels.index.isin(list(tied_tasks(name)))
    majority = frame(name).groupby("task")["label"].agg(lambda given: given.value_counts().index[0])
    assert np.mean(labels[clear] == majority[labels.index][clear]) > 0.6


@pytest.mark.parametrize("missing", ["task", "worker", "label"])
def test_a_frame_without_a_column_is_refused_by_its_name(missing: str) -> None:
    """tests/aggregation/test_classification_aggregation_edge_cases.py of crowd-kit, which raises KeyError."""
    with pytest.raises(ValueError, match=f"found no {missing} column.*crowdpilot.read\\(source, columns="):
        aggregation.MajorityVote().fit_predict(frame("toy").drop(columns=missing))


def test_two_true_labels_of_one_task_are_refused() -> None:
    """`multiple_gt_gt` in tests/aggregation/data_gold_mv.py of crowd-kit, which counts both as right."""
    gold = pd.Series(["l1", "l2", "l2"], index=["t1", "t1", "t3"])
    with pytest.raises(ValueError, match="task 't1' has the true labels 'l1' and 'l2', expected one"):
        aggregation.GoldMajorityVote().fit_predict(frame("three_labels"), gold)


def test_old_frames_of_crowd_kit_call_workers_performers() -> None:
    old = frame("toy").rename(columns={"worker": "performer"})
    new = aggregation.DawidSkene().fit_predict(frame("toy"))
    pd.testing.assert_series_equal(aggregation.DawidSkene().fit_predict(old), new)


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(ValueError, match="no classes: give at least one vote"):
        aggregation.KOS().fit_predict(frame("toy").iloc[:0])
