from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation import DawidSkene, Fusion
from crowdpilot.calibration import find_map, sample_one_vote_per_task
from crowdpilot.io import from_shares
from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.training.folds import assign_folds
from crowdpilot.metrics import ece, log_loss
from crowdpilot.simulation import one_coin


def rows(tasks: int, seed: int):
    """Rows with a little noise about the truth in two of twenty columns, and votes on them."""
    votes, truth = one_coin(tasks=tasks, skill=[0.9, 0.85, 0.8, 0.9, 0.8], seed=seed)
    noise = np.random.default_rng(seed).normal(0, 1, (tasks, 20))
    noise[:, :2] += 1.5 * np.eye(2)[truth]
    return noise, votes, truth


def model(**options):
    settings = {"standardize": False, "epochs": 60, "lr": 0.02, "weight_decay": 0.0}
    return CrowdClassifier("mlp[hidden=64,dropout=0.0]", "two_stage[targets='hard']", **settings, **options)


@pytest.fixture(scope="module")
def calibrated():
    X, votes, _ = rows(300, seed=0)
    return model(calibrate="temperature").fit(X, votes)


def test_votes_alone_make_an_overfitted_network_honest(calibrated):
    X, _, truth = rows(3000, seed=1)
    plain = model().fit(*rows(300, seed=0)[:2])
    before, after = plain.predict_proba(X), calibrated.predict_proba(X)
    assert log_loss(truth, after) < 0.8 * log_loss(truth, before)
    np.testing.assert_array_equal(before.argmax(axis=1), after.argmax(axis=1))


def test_each_task_is_predicted_by_a_network_that_has_not_seen_it(calibrated):
    X, votes, truth = rows(300, seed=0)
    alone = calibrated.held_out_.argmax(axis=1) == truth
    knowing = model().fit(X, votes).predict(X) == truth
    assert alone.mean() < knowing.mean() - 0.05
    assert not np.isnan(calibrated.held_out_).any()


def test_the_map_is_fitted_to_the_posterior_of_votes_and_classifier_together(calibrated):
    _, votes, _ = rows(300, seed=0)
    again = find_map("temperature").fit(calibrated.held_out_, Fusion().fit(votes, calibrated.held_out_).probs)
    np.testing.assert_allclose(calibrated.map_.weights, again.weights)


def test_by_posterior_it_is_fitted_to_that_of_a_worker_model():
    X, votes, _ = rows(150, seed=0)
    found = model(calibrate="temperature", calibrate_by="posterior").fit(X, votes)
    again = find_map("temperature").fit(found.held_out_, DawidSkene().fit(votes).probs)
    np.testing.assert_allclose(found.map_.weights, again.weights)


@pytest.mark.parametrize("by", ["fusion", "one_vote", "votes"])
def test_with_one_vote_a_task_the_votes_are_not_taken_for_the_truth(by):
    """A classifier that agrees with seven of ten votes: they may be wrong, or it may be."""
    X, votes, truth = rows(300, seed=0)
    one = sample_one_vote_per_task(votes)
    found = model(calibrate="temperature", calibrate_by=by).fit(X, one)
    assert found.map_.weights[0, 0] > 0
    if by == "fusion":
        plain = find_map("temperature").fit(found.held_out_, DawidSkene().fit(one).probs)
        assert ece(truth, found.map_(found.held_out_)) <= ece(truth, plain(found.held_out_)) + 0.02


def test_a_saved_classifier_keeps_its_map(calibrated, tmp_path):
    X, _, _ = rows(50, seed=2)
    calibrated.save(tmp_path / "model")
    again = CrowdClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(calibrated.predict_proba(X), again.predict_proba(X))


def test_a_run_that_was_stopped_ends_with_the_same_map(tmp_path):
    X, votes, _ = rows(100, seed=0)
    settings = {"calibrate": "temperature", "self_training": "dasc[rounds=1]"}
    whole = model(**settings).set_params(method="crowdlayer", epochs=3).fit(X, votes)
    for _ in range(2):
        again = model(**settings, checkpoint=tmp_path).set_params(method="crowdlayer", epochs=3).fit(X, votes)
    np.testing.assert_array_equal(whole.map_.weights, again.map_.weights)


def test_the_target_of_label_shares_is_the_majority_label():
    X, _, truth = rows(300, seed=0)
    shares = np.where(np.eye(2)[truth] > 0, 0.8, 0.2)
    found = model(calibrate="temperature").fit(X, from_shares(shares))
    again = find_map("temperature").fit(found.held_out_, truth)
    np.testing.assert_allclose(found.map_.weights, again.weights)


def test_an_unknown_map_is_refused_before_anything_is_trained():
    X, votes, _ = rows(20, seed=0)
    stubborn = model(calibrate="heat").set_params(network="no such network")
    with pytest.raises(ValueError, match="no map is called 'heat'"):
        stubborn.fit(X, votes)


def test_beside_a_crowd_that_knows_less_one_vote_is_better_than_its_posterior():
    votes, truth = one_coin(tasks=600, skill=[0.6] * 20, votes_per_task=2, seed=0)
    X = np.eye(2)[truth] + np.random.default_rng(0).normal(0, 0.3, (600, 2))
    Xt, yt = np.repeat(np.eye(2), 500, axis=0), np.repeat([0, 1], 500)
    Xt = Xt + np.random.default_rng(1).normal(0, 0.3, Xt.shape)
    found = {
        by: CrowdClassifier(
            "linear", "two_stage", epochs=30, lr=0.01, calibrate="temperature", calibrate_by=by
        ).fit(X, votes)
        for by in ("posterior", "one_vote", "best")
    }
    loss = {by: log_loss(yt, model.predict_proba(Xt)) for by, model in found.items()}
    assert loss["one_vote"] < 0.8 * loss["posterior"]
    assert loss["best"] == loss["one_vote"]


def test_another_way_to_calibrate_is_refused():
    X, votes, _ = rows(20, seed=0)
    with pytest.raises(ValueError, match="calibrate_by is 'magic', expected one of best, fusion"):
        model(calibrate="temperature", calibrate_by="magic").set_params(epochs=1).fit(X, votes)


def test_balanced_classes_are_balanced_for_the_map_too():
    X, votes, truth = rows(500, seed=3)
    few = np.flatnonzero((truth == 0) | (np.arange(500) % 10 == 0))
    rare = votes.take(np.isin(votes.task, few))
    plain, balanced = (
        model(calibrate="vector", balance=balance).fit(X, rare).map_ for balance in ("none", "reweight")
    )
    side = [m.intercept[1] - m.intercept[0] for m in (plain, balanced)]
    assert side[0] != pytest.approx(side[1], abs=0.05)


def test_folds_hold_out_every_task_once_with_all_its_votes():
    _, votes, _ = rows(53, seed=0)
    folds = list(assign_folds(votes, 5, seed=0))
    assert sorted(np.concatenate([fold.held_out for fold in folds]).tolist()) == list(range(53))
    for fold in folds:
        assert not np.isin(fold.training.task, fold.held_out).any()
        assert len(fold.training) == 5 * (53 - len(fold.held_out))
