"""CrowdClassifier and Votes with the tools of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle
from sklearn.utils.estimator_checks import check_estimator

import crowdpilot as cp
from crowdpilot.learning import CrowdClassifier, train
from crowdpilot.votes import Votes

QUICK = {"network": "linear", "method": "two_stage", "epochs": 5, "lr": 0.05}

NOT_FOR_VOTES = {
    "check_supervised_y_2d": "y of two dimensions is a matrix of votes (tasks, workers), also of one worker",
}


def quick(**changes):
    return CrowdClassifier(**QUICK | changes)


def as_matrix(votes, missing=-1):
    matrix = np.full((len(votes.tasks), len(votes.workers)), missing, float if missing != -1 else int)
    matrix[votes.task, votes.worker] = votes.label
    return matrix


@pytest.fixture(scope="module")
def sparse_votes(known):
    """A third of the votes; some tasks have none."""
    votes = known.votes.take(np.random.default_rng(0).random(len(known.votes)) < 0.33)
    assert (votes.task_sum() == 0).any()
    return votes


ORDER = {"check_methods_sample_order_invariance": "equal up to the single precision of several networks"}


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("two_stage", {}),
        pytest.param("crowdlayer", {}, marks=pytest.mark.thorough),
        pytest.param("mutual", ORDER, marks=pytest.mark.thorough),
    ],
)
def test_the_checks_of_scikit_learn_pass_but_for_a_named_list(method, more):
    named = NOT_FOR_VOTES | more
    results = check_estimator(quick(method=method, epochs=20), expected_failed_checks=named, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == named.keys()


def test_votes_for_one_class_alone_are_learned(known):
    model = CrowdClassifier("linear", epochs=3).fit(known.X, np.zeros(240, int))
    assert (model.predict_proba(known.X) == 1).all()


@pytest.mark.parametrize(
    "made", [lambda v: v, as_matrix, lambda v: as_matrix(v, np.nan)], ids=["votes", "-1", "NaN"]
)
def test_cross_validation_takes_votes_and_matrices_with_missing_votes(known, sparse_votes, made):
    y, cv = made(sparse_votes), KFold(3)  # with cv=3 scikit-learn refuses a NaN itself
    scores = cross_val_score(quick(), known.X, y, cv=cv)
    assert scores.shape == (3,)
    assert (scores > 0.4).all()
    labels = cross_val_predict(quick(), known.X, y, cv=cv)
    assert (labels == known.truth).mean() > 0.7


def test_votes_and_their_matrix_are_scored_the_same(known, sparse_votes):
    by_votes, by_matrix = (
        cross_val_score(quick(), known.X, y, cv=KFold(4, shuffle=True, random_state=0))
        for y in (sparse_votes, as_matrix(sparse_votes))
    )
    np.testing.assert_allclose(by_votes, by_matrix)


def test_probabilities_have_a_column_for_each_class_whatever_a_fold_has(known):
    order = np.argsort(known.truth, kind="stable")  # so that a fold lacks a class
    votes = known.votes[order]
    probs = cross_val_predict(quick(), known.X[order], params={"y": votes}, cv=3, method="predict_proba")
    assert probs.shape == (len(known.X), 3)
    np.testing.assert_allclose(probs.sum(axis=1), 1)
    one_class = votes[votes.tally().argmax(axis=1) == 0][:5]
    assert quick().fit(known.X[:5], one_class).predict_proba(known.X).shape == (len(known.X), 3)


def test_probabilities_are_refused_where_scikit_learn_would_replace_the_votes(known):
    with pytest.raises(ValueError, match=r"params=\{'y': votes\} instead of y"):
        cross_val_predict(quick(), known.X, known.votes, method="predict_proba")


def test_stratified_folds_need_labels(known):
    with pytest.raises(ValueError, match="unknown"):
        cross_val_score(quick(), known.X, known.votes, cv=StratifiedKFold(3))
    with pytest.raises(ValueError, match="votes are not labels"):
        train_test_split(known.X, known.votes, stratify=known.votes)
    folds = list(StratifiedKFold(3).split(known.X, cp.aggregate(known.votes, "majority").labels))
    assert cross_val_score(quick(), known.X, known.votes, cv=folds).shape == (3,)


def test_a_grid_is_searched_with_votes(known):
    model = make_pipeline(StandardScaler(), quick())
    search = GridSearchCV(model, {"crowdclassifier__lr": [1e-6, 0.05]}, cv=3).fit(known.X, known.votes)
    assert search.best_params_ == {"crowdclassifier__lr": 0.05}
    assert (search.predict(known.X) == known.truth).mean() > 0.8
    assert search.score(known.X, known.votes) == pytest.approx(
        search.best_estimator_.score(known.X, known.votes)
    )


def test_votes_are_split_together_with_their_rows(known):
    X, X_test, votes, test = train_test_split(known.X, known.votes, random_state=0)
    assert votes.shape == (len(X),)
    model = quick(epochs=20).fit(X, votes)
    assert (model.predict(X_test) == known.truth[test.tasks]).mean() > 0.85
    assert model.classes_.tolist() == [0, 1, 2]


def test_a_learning_curve_and_a_permutation_test(known):
    sizes, _, scores = learning_curve(quick(), known.X, known.votes, cv=3, train_sizes=[0.2, 1.0])
    assert sizes.tolist() == [32, 160]
    assert scores.shape == (2, 3)
    score, permuted, _ = permutation_test_score(
        quick(), known.X, as_matrix(known.votes), cv=3, n_permutations=3, random_state=0
    )
    assert score > permuted.max()


def test_shuffled_rows_say_which_tasks_they_are(known):
    X, votes = shuffle(known.X, known.votes, random_state=0)
    with pytest.raises(ValueError, match="numbered 0 to 239, but not in this order"):
        quick().fit(X, votes)
    in_order, by_number = (
        quick().fit(X, votes, tasks=votes.tasks),
        quick().fit(known.X, votes, tasks=range(240)),
    )
    assert (in_order.predict(X) == known.truth[votes.tasks]).mean() > 0.8
    assert (by_number.predict(known.X) == known.truth).mean() > 0.8


def test_labels_of_minus_one_and_one_are_two_classes(known):
    signs = np.where(known.truth == 0, -1, 1)
    model = quick(epochs=20).fit(known.X, signs)
    assert model.classes_.tolist() == [-1, 1]
    assert model.score(known.X, signs) > 0.8
    assert quick().fit(known.X, np.where(known.truth == 0, -1, known.truth)).classes_.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 240), "continuous numbers such as 0.004184, expected labels or votes"),
        (np.full((240, 3), 1 / 3), "crowdpilot.io.from_shares makes votes"),
        (np.full(240, np.inf), "y holds infinity"),
        (None, "requires y to be passed"),
    ],
    ids=["numbers", "shares", "infinity", "none"],
)
def test_what_is_no_label_is_refused(known, y, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(known.X, y)


def test_columns_are_remembered_by_name(known):
    frame = pd.DataFrame(known.X, columns=list("abcdef"))
    model = quick().fit(frame.assign(task=range(240)), known.votes)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.predict(frame), model.predict(known.X))
    with pytest.raises(
        ValueError, match="column 1 of X is 'f', but the classifier was trained with 'a' there"
    ):
        model.predict(frame[list("fedcba")])
    assert not hasattr(model.fit(known.X, known.votes), "feature_names_in_")


def test_a_fitted_classifier_is_pickled(known):
    model = quick().fit(known.X, known.votes)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(known.X), model.predict_proba(known.X))


def test_train_takes_any_votes_and_finds_the_rows_by_their_numbers(known):
    votes = known.votes
    frame = pd.DataFrame({"task": votes.task, "worker": votes.worker, "label": votes.label})
    settings = {"network": "linear", "method": "two_stage", "epochs": 5, "lr": 0.05}
    model = train(frame.sample(frac=1, random_state=0), known.X, **settings)
    assert (model.predict(known.X) == known.truth).mean() > 0.8
    assert (quick().fit(known.X, frame).predict(known.X) == known.truth).mean() > 0.8
    wide = pd.DataFrame(as_matrix(votes), columns=[f"worker {n}" for n in range(5)])
    assert (quick().fit(known.X, wide).predict(known.X) == known.truth).mean() > 0.8
    some = train(frame[frame.task.between(20, 200)], known.X, **settings)  # rows without votes
    assert (some.predict(known.X) == known.truth).mean() > 0.8
    named = Votes.of([f"t{t}" for t in votes.task], votes.worker, votes.label)
    assert (train(named, known.X, **settings).predict(known.X) == known.truth).mean() > 0.8


def test_the_index_of_a_data_frame_names_the_tasks(known):
    votes = known.votes
    named = Votes.of([f"t{t}" for t in votes.task], votes.worker, votes.label)
    order = np.random.default_rng(0).permutation(240)
    frame = pd.DataFrame(known.X[order], index=[f"t{n}" for n in order], columns=list("abcdef"))
    other = pd.DataFrame(known.X[:3], index=["x", "y", "z"], columns=list("abcdef"))  # rows without votes
    for X in (frame, pd.concat([other, frame])):
        for model in (quick().fit(X, named), train(named, X, **QUICK)):
            assert (model.predict(frame) == known.truth[order]).mean() > 0.8
            assert model.score(X, named) > 0.55
    with pytest.raises(ValueError, match="the index of the data frame lacks 1 names, such as 't"):
        quick().fit(frame.iloc[1:], named)
    with pytest.raises(ValueError, match="the index of the data frame has a name twice"):
        quick().fit(pd.concat([frame, frame[:1]]), named)
    plain = frame.loc[named.tasks].set_axis(range(7, 247))  # numbers that are no tasks: rows in their order
    assert (quick().fit(plain, named).predict(plain) == known.truth).mean() > 0.8
