from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from crowdpilot.learning import METHODS, CrowdClassifier
from crowdpilot.votes import Votes

QUICK = {"epochs": 8, "lr": 0.02, "network": "linear"}


def dense(votes):
    matrix = np.full((len(votes.tasks), len(votes.workers)), -1)
    matrix[votes.task, votes.worker] = votes.label
    return matrix


def test_it_learns_more_than_the_crowd_knows(known):
    model = CrowdClassifier(method="mutual", epochs=30, lr=0.01).fit(known.X, known.votes)
    assert (model.predict(known.X) == known.truth).mean() > 0.93
    assert (model.posterior_.argmax(axis=1) == known.truth).mean() > 0.95


def test_probabilities_sum_to_one_and_predict_takes_the_largest(known):
    model = CrowdClassifier(method="crowdlayer", **QUICK).fit(known.X, known.votes)
    probs = model.predict_proba(known.X)
    np.testing.assert_allclose(probs.sum(axis=1), 1)
    assert (model.predict(known.X) == model.classes_[probs.argmax(axis=1)]).all()


def test_a_clone_has_the_same_settings_and_no_state(known):
    model = CrowdClassifier(nn.Linear(6, 3), "conal[scale=0]", epochs=3).fit(known.X, known.votes)
    copied = clone(model)
    assert copied.get_params()["method"] == "conal[scale=0]"
    with pytest.raises(NotFittedError):
        copied.predict(known.X)
    with pytest.raises(NotFittedError):
        copied.score(known.X, known.truth)


def test_grid_search_chooses_among_settings(known):
    grid = {"method": ["two_stage", "crowdlayer"], "lr": [1e-6, 0.05]}
    search = GridSearchCV(CrowdClassifier("linear", epochs=5), grid, cv=3).fit(known.X, dense(known.votes))
    assert search.best_params_["lr"] == 0.05
    assert (search.predict(known.X) == known.truth).mean() > 0.8


def test_a_pipeline_hands_votes_through(known):
    model = make_pipeline(StandardScaler(), CrowdClassifier(method="crowdlayer", **QUICK))
    assert (model.fit(known.X, known.votes).predict(known.X) == known.truth).mean() > 0.8


def test_votes_and_their_matrix_teach_the_same(known):
    by_votes, by_matrix = (
        CrowdClassifier(method="crowdlayer", **QUICK).fit(known.X, y).predict_proba(known.X)
        for y in (known.votes, dense(known.votes))
    )
    np.testing.assert_allclose(by_votes, by_matrix, atol=1e-5)


def test_plain_labels_are_the_votes_of_one_worker(known):
    names = np.array(["ant", "bee", "cat"])[known.truth]
    model = CrowdClassifier(method="two_stage", **QUICK).fit(known.X, names)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert model.score(known.X, names) > 0.9


@pytest.mark.parametrize(
    "made",
    [torch.tensor, csr_array, np.float32, np.asfortranarray],
    ids=["tensor", "sparse", "float32", "fortran"],
)
def test_any_kind_of_rows_teaches_the_same(known, made):
    X = (known.X * 8).round()  # all kinds hold them exactly
    model = CrowdClassifier(method="crowdlayer", standardize=False, **QUICK)
    probs = model.fit(X, known.votes).predict_proba(X)
    other = made(X)
    np.testing.assert_allclose(model.fit(other, known.votes).predict_proba(other), probs, atol=1e-5)


def test_rows_are_found_by_the_names_of_their_tasks(known):
    order = np.random.default_rng(0).permutation(len(known.X))
    names = known.votes.tasks[order].tolist()
    model = CrowdClassifier(method="two_stage", epochs=20, lr=0.02, network="linear")
    model.fit(known.X[order], known.votes, tasks=names)
    assert (model.predict(known.X) == known.truth).mean() > 0.9
    assert model.votes_.tasks.tolist() == names


def test_the_seed_decides_everything_and_the_global_one_nothing(known):
    model = CrowdClassifier("mlp", "mutual", epochs=3, seed=1)
    torch.manual_seed(0)
    first = model.fit(known.X, known.votes).predict_proba(known.X)
    before = torch.get_rng_state()
    second = model.fit(known.X, known.votes).predict_proba(known.X)
    np.testing.assert_array_equal(first, second)
    assert torch.equal(before, torch.get_rng_state())
    assert not np.allclose(first, model.set_params(seed=2).fit(known.X, known.votes).predict_proba(known.X))


def test_the_epoch_that_is_best_on_the_validation_set_is_kept(known):
    rng = np.random.default_rng(0)
    valid = known.X[:60], known.truth[:60]
    model = CrowdClassifier("mlp[dropout=0]", "two_stage", epochs=12, lr=0.3, seed=3)
    model.fit(known.X + rng.normal(0, 3, known.X.shape), known.votes, validation=valid)
    scores = [h["val_accuracy"] for h in model.history_]
    assert len(set(scores)) > 1
    assert model.score(*valid) == pytest.approx(max(scores))


def test_patience_stops_when_nothing_gets_better(known):
    model = CrowdClassifier("linear", "two_stage", epochs=200, lr=0.1, patience=5)
    model.fit(known.X, known.votes, validation=(known.X[:50], known.truth[:50]))
    best = int(np.argmax([h["score"] for h in model.history_]))
    assert len(model.history_) == best + 6 < 200


@pytest.mark.parametrize("method", METHODS)
def test_mixed_precision_learns_too(known, method):
    model = CrowdClassifier(method=method, precision="mixed", **QUICK).fit(known.X, known.votes)
    assert (model.predict(known.X) == known.truth).mean() > 0.8


def test_it_leaves_the_number_of_threads_as_it_was(known):
    was = torch.get_num_threads()
    CrowdClassifier(method="two_stage", threads=was + 1, **QUICK).fit(known.X, known.votes)
    assert torch.get_num_threads() == was


def test_pruning_and_self_training_work_together(known):
    model = CrowdClassifier(
        method="crowdlayer", prune="waum[alpha=.05]", self_training="dasc[add=100,rounds=2]", **QUICK
    ).fit(known.X, known.votes)
    assert len(model.pruned_) == 12
    assert len(model.rounds_) == 3
    assert not np.isin(model.votes_.tasks[np.unique(model.votes_.task)], model.pruned_).any()


def test_what_was_saved_says_the_same(known, tmp_path):
    for method in ("mutual", "conal", "wdn", "raykar", "two_stage[labels='dawid_skene']"):
        model = CrowdClassifier("mlp", method, epochs=3).fit(known.X, known.votes)
        model.save(tmp_path / "model.safetensors")
        again = CrowdClassifier.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(model.predict_proba(known.X), again.predict_proba(known.X))
        assert again.get_params()["method"] == method
        assert json.loads(json.dumps(again.history_)) == model.history_


def test_known_classes_are_learned(known):
    wrong = Votes(  # everyone is wrong about everything, but the truth is known
        known.votes.task, known.votes.worker, (known.truth[known.votes.task] + 1) % 3,
        known.votes.tasks, known.votes.workers, known.votes.classes, gold=known.truth,
    )  # fmt: skip
    for method in ("crowdlayer", "raykar", "two_stage"):
        model = CrowdClassifier("linear", method, epochs=30, lr=0.05).fit(known.X, wrong)
        assert (model.predict(known.X) == known.truth).mean() > 0.9, method


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"X": np.zeros((5, 6))}, "X has 5 rows and y is about 240 tasks"),
        ({"network": nn.Linear(6, 2)}, "gives 2 numbers for a row of X, expected 3"),
        ({"network": nn.Linear(5, 3)}, "cannot be applied to a row of X"),
        ({"network": "mpl"}, "did you mean mlp"),
        ({"method": "crowdlayr"}, "did you mean crowdlayer"),
        ({"method": "crowdlayer[sort='mw']"}, "crowdlayer has no option 'sort'"),
        ({"balance": "some"}, "balance is 'some'"),
        ({"epochs": 0}, "epochs is 0"),
        ({"device": "tpu9"}, "no device 'tpu9'"),
        ({"threads": 0}, "threads is 0"),
        ({"lr": 1e30}, "try a smaller lr"),
        ({"prune": "waumm"}, "did you mean waum"),
        ({"self_training": "dask"}, "did you mean dasc"),
        ({"y": np.full((240, 2), -1)}, "no votes to learn from"),
        ({"tasks": ["a"] * 240}, "named twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_cannot_be_is_said_in_one_sentence(known, changed, message):
    X, y, tasks = changed.pop("X", known.X), changed.pop("y", known.votes), changed.pop("tasks", None)
    settings = {"network": "linear", "method": "crowdlayer", "epochs": 2} | changed
    with pytest.raises(ValueError, match=message) as error:
        CrowdClassifier(**settings).fit(X, y, tasks=tasks)
    assert "\n" not in str(error.value)


def test_rows_of_another_shape_are_refused_when_predicting(known):
    model = CrowdClassifier(method="two_stage", **QUICK).fit(known.X, known.votes)
    with pytest.raises(
        ValueError, match="X has 5 features, but CrowdClassifier is expecting 6 features as input"
    ):
        model.predict(known.X[:, :5])
