"""Consensus of a table of labels and a classifier, in every form in which they come."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdpilot as cp
from crowdpilot.arrays import softmax
from crowdpilot.votes import Votes

NAMES = np.array(["bird", "cat", "dog"], object)


def crowd(examples=60, annotators=5, K=3, seed=0):
    """Labels (examples, annotators) with NaN, probabilities of a classifier, and the truth."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.5, (examples, K))
    truth = (softmax(logits).cumsum(axis=1) < rng.random((examples, 1))).sum(axis=1)
    right = rng.random((examples, annotators)) < np.linspace(0.5, 0.9, annotators)
    said = np.where(right, truth[:, None], rng.integers(0, K, right.shape)).astype(float)
    said[rng.random(said.shape) < 0.4] = np.nan
    said[:K, 0] = range(K)
    return said, softmax(logits), truth


SAID, PROBS, TRUTH = crowd()
TASKS = [f"t{n:02}" for n in range(60)]
WORKERS = list("vwxyz")
NAMED = pd.DataFrame([[None if np.isnan(v) else NAMES[int(v)] for v in row] for row in SAID], TASKS, WORKERS)


COLUMNS = {name: [None if pd.isna(v) else v for v in NAMED[name]] for name in WORKERS}


def same(found, expected=None):
    expected = cp.consensus(SAID, PROBS) if expected is None else expected
    np.testing.assert_allclose(found.quality, expected.quality)
    np.testing.assert_array_equal(found.codes, expected.codes)
    np.testing.assert_allclose(found.annotator_quality, expected.annotator_quality)
    np.testing.assert_allclose(found.active_learning_scores, expected.active_learning_scores)


def test_by_default_labels_and_quality_are_those_of_fusion():
    found = cp.consensus(NAMED, PROBS)
    votes = Votes.of(*zip(*NAMED.stack().reset_index().to_numpy(), strict=True), tasks=TASKS)
    expected = cp.Fusion().fit(votes, pd.DataFrame(PROBS, TASKS, NAMES))
    order = expected.votes.index("tasks", TASKS)
    np.testing.assert_array_equal(found.labels, expected.labels[order])
    np.testing.assert_allclose(found.quality, expected.confidence[order])
    assert found.label_quality.index.tolist() == TASKS
    assert set(found.annotator_stats.index) == set(WORKERS)
    assert found.annotator_stats.annotator_quality.is_monotonic_increasing


def test_both_together_are_better_than_the_majority_and_the_classifier():
    said, probs, truth = crowd(1000)
    right = (cp.consensus(said, probs).labels == truth).mean()
    assert right > (probs.argmax(axis=1) == truth).mean() + 0.05
    assert right > (cp.consensus(said, method="majority_voting").labels == truth).mean() + 0.01


WITH_CLASSES = pd.DataFrame(PROBS, columns=NAMES)
FORMS = {
    "an array": (SAID, PROBS),
    "whole numbers below zero": (np.where(np.isnan(SAID), -1, SAID).astype(int), PROBS),
    "a frame of floats": (pd.DataFrame(SAID), PROBS),
    "a frame of Int64": (pd.DataFrame(SAID).astype("Int64"), PROBS.astype(np.float32)),
    "a frame of names": (NAMED, PROBS),
    "categories": (NAMED.astype("category"), PROBS),
    "numbers of columns": (NAMED, pd.DataFrame(PROBS)),
    "columns named by class": (NAMED, WITH_CLASSES),
    "columns in another order": (NAMED, WITH_CLASSES[["dog", "bird", "cat"]]),
    "rows by index in another order": (NAMED, WITH_CLASSES.set_axis(TASKS)[::-1]),
    "a prefix": (NAMED, WITH_CLASSES.add_prefix("p_")),
    "lists": (SAID.tolist(), PROBS.tolist()),
    "lists of names": (NAMED.to_numpy().tolist(), PROBS),
    "an array of names": (NAMED.to_numpy(), PROBS),
    "a task column": (NAMED.rename_axis("task").reset_index(), PROBS),
    "polars": (pl.DataFrame(COLUMNS), pl.DataFrame(WITH_CLASSES.to_dict("list"))),
    "polars with a task column": (pl.DataFrame({"task": TASKS} | COLUMNS), PROBS),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form):
    labels, probs = FORMS[form]
    same(cp.consensus(labels, probs))


def test_long_votes_are_read_as_everywhere():
    long = (
        NAMED.rename_axis("task").reset_index().melt("task", var_name="worker", value_name="label").dropna()
    )
    found = cp.consensus(long, pd.DataFrame(PROBS, TASKS, NAMES))
    order = found.result.votes.index("tasks", TASKS)
    np.testing.assert_array_equal(found.labels[order], cp.consensus(NAMED, PROBS).labels)


def test_a_series_is_one_annotator():
    found = cp.consensus(NAMED["x"], PROBS)
    assert found.label_quality.index.tolist() == TASKS
    assert found.annotator_stats.index.tolist() == ["x"]


def test_rows_of_long_votes_in_the_order_of_numbers_are_not_misread():
    said, probs, _ = crowd(300)
    said[np.isnan(said).all(axis=1), 0] = 0
    long = pd.DataFrame(said).rename_axis("task").reset_index()
    long = long.melt("task", var_name="worker", value_name="label").dropna().sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="pred_probs seem to be in the order of the numbers of tasks"):
        cp.consensus(long, probs)


def test_a_polars_frame_gives_polars_frames():
    found = cp.consensus(pl.DataFrame({"task": TASKS} | COLUMNS), PROBS)
    assert isinstance(found.label_quality, pl.DataFrame)
    assert found.label_quality["task"].to_list() == TASKS
    assert found.annotator_stats.columns[0] == "annotator"
    assert found["detailed_label_quality"].columns[1:] == [f"quality_annotator_{name}" for name in WORKERS]


def test_an_index_with_repeats_is_kept():
    index = ["a", "b"] * 30
    found = cp.consensus(NAMED.set_axis(index), PROBS)
    assert found.label_quality.index.tolist() == index
    same(found)


def test_without_a_classifier_it_is_auto():
    found = cp.consensus(NAMED)
    np.testing.assert_array_equal(found.labels, cp.Auto().fit(found.result.votes).labels)
    assert found.active_learning_scores_unlabeled.size == 0


def test_examples_and_annotators_without_labels_are_fine():
    said = np.column_stack([SAID, np.full(60, np.nan)])
    said[7] = np.nan
    for method in ("fusion", "crowdlab"):
        found = cp.consensus(said, PROBS, method=method)
        assert found.label_quality.num_annotations[7] == 0
        assert np.isnan(found.label_quality.annotator_agreement[7])
        assert found.codes[7] == PROBS[7].argmax()
        assert np.isnan(found.annotator_stats.annotator_quality[5])
        assert np.isfinite(found.active_learning_scores).all()


def test_unlabelled_examples_are_scored_with_the_others():
    found = cp.consensus(SAID[:40], PROBS[:40], pred_probs_unlabeled=PROBS[40:])
    said = SAID.copy()
    said[40:] = np.nan
    together = cp.consensus(said, PROBS)
    scores = [found.active_learning_scores, found.active_learning_scores_unlabeled]
    np.testing.assert_allclose(np.concatenate(scores), together.active_learning_scores)
    np.testing.assert_allclose(found.active_learning_scores, found.quality)


def test_a_class_that_nobody_gives_is_one_of_the_classifier():
    wider = np.column_stack([0.9 * PROBS, np.full(60, 0.1)])
    assert cp.consensus(SAID, wider).result.votes.classes.tolist() == [0, 1, 2, 3]
    frame = pd.DataFrame(wider, columns=[*NAMES, "cow"])
    found = cp.consensus(NAMED, frame)
    assert found.result.votes.classes.tolist() == ["bird", "cat", "cow", "dog"]
    assert cp.consensus(NAMED, wider, classes=[*NAMES, "cow"]).labels.tolist() == found.labels.tolist()


@pytest.mark.parametrize(
    ("labels", "probs", "options", "message"),
    [
        (
            NAMED,
            PROBS[:, :2],
            {},
            r"pred_probs have 2 columns, but the labels have 3 classes \(bird, cat, dog\)",
        ),
        (SAID, PROBS[:, :2], {}, r"pred_probs have 2 columns, but the labels have 3 classes \(0, 1, 2\)"),
        (SAID, PROBS[:9], {}, r"pred_probs have shape \(9, 3\), expected \(tasks, classes\) \(60, 3\)"),
        (SAID, np.log(PROBS / PROBS.max()), {}, "look like logits"),
        (SAID, np.log(PROBS), {}, "apply np.exp"),
        (NAMED, WITH_CLASSES.drop(columns="cat"), {}, "have no column p_cat or cat"),
        (NAMED, PROBS, {"classes": ["bird", "cat"]}, "'dog' .*is not one of the classes bird, cat"),
        (SAID, None, {"method": "crowdlab"}, "so give pred_probs"),
        (SAID, PROBS, {"method": "dawid_skene"}, "takes no classifier"),
        (SAID, None, {"pred_probs_unlabeled": PROBS}, "given without pred_probs"),
        (SAID, PROBS, {"pred_probs_unlabeled": PROBS[:, :2]}, r"pred_probs_unlabeled have shape \(60, 2\)"),
        (SAID + 0.5, PROBS, {}, "found the label"),
        (SAID, PROBS[:, :1], {}, "pred_probs have one column, expected one for each class"),
        (SAID * np.nan, PROBS, {}, "there is no label in the table"),
        (SAID[:, :0], PROBS, {}, "the table of labels is empty"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(labels, probs, options, message):
    with pytest.raises(ValueError, match=message):
        cp.consensus(labels, probs, **options)


def test_the_worst_class_is_the_label_that_least_often_is_the_consensus():
    labels = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0]])
    found = cp.consensus(labels, method="majority_voting")
    assert found.annotator_stats.worst_class[2] == 0
    assert found.annotator_stats.agreement_with_consensus[2] == pytest.approx(0.6)
    assert found.annotator_stats.index[0] == 2


def test_tables_have_the_names_of_cleanlab():
    found = cp.consensus(SAID, PROBS)
    assert found["label_quality"] is found.label_quality
    with pytest.raises(KeyError, match="only label_quality, annotator_stats"):
        found["quality"]
    assert repr(found).startswith("Consensus(60 examples, 5 annotators, 3 classes by fusion, mean quality")
    assert "consensus_label" in found._repr_html_()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(2, 4), st.integers(0, 10**6))
def test_any_table_of_labels_gives_tables(examples, annotators, K, seed):
    rng = np.random.default_rng(seed)
    said = rng.integers(-1, K, (examples, annotators)).astype(float)
    said[said < 0] = np.nan
    said[0, 0] = 0
    probs = rng.dirichlet(np.full(K, 0.3), examples)
    for method in ("fusion", "crowdlab"):
        found = cp.consensus(said, probs, method=method, pred_probs_unlabeled=rng.dirichlet(np.ones(K), 2))
        assert ((found.quality >= 0) & (found.quality <= 1 + 1e-9)).all()
        scores = [*found.active_learning_scores, *found.active_learning_scores_unlabeled]
        assert ((np.asarray(scores) >= 0) & (np.asarray(scores) <= 1 + 1e-9)).all()
        assert found.label_quality.num_annotations.tolist() == (~np.isnan(said)).sum(axis=1).tolist()
        assert found.detailed_label_quality.isna().to_numpy().tolist() == np.isnan(said).tolist()
        assert set(found.annotator_stats.index) == set(range(annotators))
