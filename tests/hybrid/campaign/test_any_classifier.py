"""Campaigns train any classifier with fit and predict_proba, and lose no vote if it fails."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from crowdpilot.hybrid import Campaign, ClassifierWarning, Costs, Plan
from crowdpilot.hybrid.replay import replay
from crowdpilot.simulation import one_coin

K, ITEMS, LABELLED = 3, 200, 100
TRUTH = np.random.default_rng(0).integers(0, K, ITEMS)
X = 3 * np.eye(K)[TRUTH] + np.random.default_rng(1).normal(size=(ITEMS, K))
WORDS = np.array(["good fine", "bad poor", "so so"])
TEXTS = [f"{WORDS[k]} {n % 7}" for n, k in enumerate(TRUTH)]


class NearestMean:
    """No classifier of scikit-learn: no clone, no classes_, and fit returns nothing."""

    def fit(self, rows, labels):
        self.means = np.stack([rows[labels == k].mean(axis=0) for k in range(labels.max() + 1)])

    def predict_proba(self, rows):
        weight = np.exp(-((rows[:, None] - self.means) ** 2).sum(axis=2) / 2)
        return weight / weight.sum(axis=1, keepdims=True)


class Boosted(NearestMean):
    """As strict as xgboost's XGBClassifier: labels are 0, 1, ... without gaps; single precision."""

    def fit(self, rows, labels, sample_weight=None):
        assert sample_weight.shape == labels.shape
        if (found := np.unique(labels)).tolist() != list(range(len(found))):
            raise ValueError(f"Invalid classes inferred from unique values of `y`, got {found}")
        self.classes_ = found
        super().fit(rows, labels)
        return self

    def predict_proba(self, rows):
        return super().predict_proba(rows).astype(np.float32)


class Network:
    """As a wrapped network: soft labels by gradient descent, and fit returns its history."""

    def fit(self, rows, targets):
        if np.ndim(targets) != 2:
            raise ValueError("expected soft labels")
        self.weights = np.zeros((rows.shape[1], targets.shape[1]))
        for _ in range(50):
            self.weights += 0.01 * rows.T @ (targets - self.predict_proba(rows))
        return {"loss": [1.0]}

    def predict_proba(self, rows):
        odds = np.exp(rows @ self.weights)
        return odds / odds.sum(axis=1, keepdims=True)


SCALED = make_pipeline(StandardScaler(), LogisticRegression())
SOUND = {
    "pipeline": SCALED,
    "neighbours": KNeighborsClassifier(),
    "neighbours in a pipeline": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "forest": RandomForestClassifier(10, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
    "naive Bayes": GaussianNB(),
    "calibrated": CalibratedClassifierCV(SVC(), ensemble=False, cv=3),
    "network of scikit-learn": MLPClassifier(5, solver="lbfgs", max_iter=200, random_state=0),
    "search": GridSearchCV(SCALED, {"logisticregression__C": [0.1, 1]}, cv=2),
    "stacked": StackingClassifier([("nb", GaussianNB()), ("nn", KNeighborsClassifier())], cv=2),
    "plain": NearestMean(),
    "as xgboost": Boosted(),
    "network": Network(),
    "several": [DummyClassifier(), LogisticRegression()],
}


def campaign(classifier, features=X, classes=K, items=ITEMS):
    plan = Plan(refit_every=0)
    return Campaign(
        range(items), list(range(classes)), Costs.equal(classes, crowd=0.01), plan=plan,
        features=features, classifier=classifier,
    )  # fmt: skip


def votes(items=LABELLED, workers=3, skill=0.8):
    rng = np.random.default_rng(2)
    said = np.where(
        rng.random((items, workers)) < skill, TRUTH[:items, None], rng.integers(K, size=(items, workers))
    )
    return [(n, f"w{w}", int(said[n, w])) for n in range(items) for w in range(workers)]


def accuracy(c):
    """Of the classifier on items without votes."""
    return (c.view.estimates().classifier_probs[LABELLED:].argmax(axis=1) == TRUTH[LABELLED:]).mean()


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_any_classifier_is_trained_on_votes(name):
    c = campaign(SOUND[name])
    c.tell(votes(), refit=True)
    assert accuracy(c) > 0.75


@pytest.mark.parametrize(
    "features",
    [
        csr_array(X),
        pd.DataFrame(X, columns=list("abc"), index=[f"row {n}" for n in range(ITEMS)]),
        X.tolist(),
    ],
    ids=["sparse", "frame", "list"],
)
def test_features_may_be_of_any_kind(features):
    c = campaign(make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), features)
    c.tell(votes(), refit=True)
    assert accuracy(c) > 0.85
    c.tell([(n, "late", 0) for n in range(5)], refit=True)
    assert c.ask("new", 3)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_texts_are_read_by_a_pipeline(kind):
    c = campaign(make_pipeline(TfidfVectorizer(), LogisticRegression()), kind(TEXTS))
    c.tell(votes(), refit=True)
    assert accuracy(c) > 0.95


def test_missing_numbers_are_for_the_classifier_to_handle():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    c = campaign(SOUND["boosting"], holes)
    c.tell(votes(), refit=True)
    assert accuracy(c) > 0.7
    assert len(c.ask("new", 20)) == 20
    with pytest.raises(ValueError, match=r"LogisticRegression cannot be trained: .* Input X contains NaN"):
        campaign(LogisticRegression(), holes)


@pytest.mark.parametrize("name", ["neighbours", "as xgboost", "pipeline", "plain"])
def test_classes_that_nobody_voted_for_have_a_small_probability(name):
    c = campaign(SOUND[name], classes=5)
    c.tell([(n, worker, 4 if label == 1 else label) for n, worker, label in votes()], refit=True)
    probs = c.view.estimates().classifier_probs
    assert probs.shape == (ITEMS, 5)
    assert (probs[:, [1, 3]] > 0).all()
    assert probs[:, [1, 3]].max() < 0.1
    assert (probs[LABELLED:].argmax(axis=1) == np.where(TRUTH == 1, 4, TRUTH)[LABELLED:]).mean() > 0.75


def test_votes_for_one_class_alone_are_no_error():
    c = campaign(SCALED)
    c.tell([(n, worker, 2) for n, worker, _ in votes()], refit=True)
    assert (c.view.estimates().classifier_probs.argmax(axis=1) == 2).all()


def test_the_classifier_that_was_given_is_never_fitted():
    model = LogisticRegression()
    c = campaign(model)
    c.tell(votes(), refit=True)
    assert not hasattr(model, "coef_")


class Broken(NearestMean):
    """Sound at first; from one fit on it is not."""

    fits = 0

    def __init__(self, failure, first=2):
        self.failure, self.first = failure, first
        type(self).fits = 0

    def fit(self, rows, labels):
        if np.ndim(labels) != 1:
            raise ValueError("expected labels")
        type(self).fits += 1
        self.breaks = type(self).fits >= self.first
        if self.breaks and self.failure == "raises":
            raise RuntimeError("out of luck\nand out of lines")
        super().fit(rows, labels)

    def predict_proba(self, rows):
        probs = super().predict_proba(rows)
        if self.breaks:
            match self.failure:
                case "NaN":
                    probs[0, 0] = np.nan
                case "sums":
                    probs *= 0.7
                case "negative":
                    probs -= 0.5
                case "shape":
                    return probs[:, 0]
                case "rows":
                    return probs[:-1]
        return probs


FAILURES = {
    "raises": "RuntimeError: out of luck",
    "NaN": "predict_proba returns a NaN",
    "sums": "a row of predict_proba sums to 0.7, expected 1",
    "negative": "one below 0",
    "shape": r"shape \(\d+,\), expected \(\d+, 3\)",
    "rows": r"shape \(\d+, 3\), expected \(\d+, 3\)",
}


@pytest.mark.parametrize(("failure", "message"), FAILURES.items(), ids=list(FAILURES))
def test_what_cannot_be_trained_is_refused_at_construction_in_one_sentence(failure, message):
    with pytest.raises(ValueError, match=message) as error:
        campaign(Broken(failure, first=1))
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("the classifier Broken cannot be trained")


@pytest.mark.parametrize(("failure", "message"), FAILURES.items(), ids=list(FAILURES))
def test_no_vote_is_lost_when_a_fit_fails_and_earlier_predictions_stay(failure, message):
    c = campaign(Broken(failure, first=2 + 5 + 2))  # one fit to toy labels, five folds, one fold
    c.tell(votes(), refit=True)
    before = c.view.estimates().classifier_probs.copy()
    more = [(n, "late", int(TRUTH[n])) for n in range(LABELLED)]
    with pytest.warns(ClassifierWarning, match=message):
        c.tell(more, refit=True)
    assert c.view.vote_count == len(votes()) + len(more)
    np.testing.assert_array_equal(c.view.estimates().classifier_probs, before)
    assert not c.refit_due
    assert (c.decide().codes[:LABELLED] == TRUTH[:LABELLED]).mean() > 0.9


def test_a_campaign_whose_classifier_never_fits_goes_on_without_it():
    c = campaign(Broken("raises"))
    with pytest.warns(ClassifierWarning, match="could not be fitted to the votes so far"):
        c.tell(votes(), refit=True)
    assert c.view.estimates().classifier_probs is None
    assert (c.decide().codes[:LABELLED] == TRUTH[:LABELLED]).mean() > 0.8
    assert c.ask("new", 3)


def test_votes_are_there_even_where_warnings_are_errors():
    c = campaign(Broken("raises"))
    with warnings.catch_warnings(action="error"), pytest.raises(ClassifierWarning):
        c.tell(votes(), refit=True)
    assert c.view.vote_count == len(votes())
    assert c.view.votes_since_refit == 0


def test_fewer_items_than_neighbours_are_a_warning_until_there_are_enough():
    c = campaign(KNeighborsClassifier(20))
    with pytest.warns(ClassifierWarning, match="n_neighbors"):
        c.tell(votes(items=10), refit=True)
    c.tell(votes()[30:], refit=True)
    assert accuracy(c) > 0.75


def test_of_several_classifiers_those_that_fail_are_left_out():
    c = campaign([Broken("raises"), NearestMean()])
    c.tell(votes(), refit=True)
    assert accuracy(c) > 0.8


class Locked(NearestMean):
    def __init__(self):
        self.lock = threading.Lock()


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (LogisticRegression, r"the classifier is a class; make one of it with LogisticRegression\(\)"),
        (object(), "has no method 'fit'"),
        ([], "the list of classifiers is empty"),
        (SVC(), "has no method 'predict_proba'; .* CalibratedClassifierCV"),
        (make_pipeline(StandardScaler(), SVC()), "has no method 'predict_proba'; .* CalibratedClassifierCV"),
        (Locked(), "cannot pickle"),
        (KNeighborsClassifier(500), "Expected n_neighbors <= n_samples_fit"),
        (make_pipeline(TfidfVectorizer(), LogisticRegression()), "Pipeline cannot be trained"),
    ],
    ids=["class", "nothing", "none", "SVC", "SVC in a pipeline", "not copied", "neighbours", "reads texts"],
)
def test_what_is_no_classifier_for_these_features_is_refused(classifier, message):
    with pytest.raises(ValueError, match=message) as error:
        campaign(classifier)
    assert "\n" not in str(error.value)


def test_a_campaign_without_items_checks_its_classifier_with_the_first():
    c = Campaign([], [0, 1], Costs.equal(2, crowd=0.01), classifier=SCALED)
    with pytest.raises(ValueError, match="Pipeline cannot be trained"):
        c.add(["a", "b"], features=["some", "texts"])
    assert len(c) == 0
    c.add(["a", "b"], features=np.eye(2))
    assert len(c) == 2


def test_features_without_a_classifier_are_refused():
    with pytest.raises(ValueError, match="no classifier that is trained on them"):
        campaign(None)


def test_a_replay_trains_any_classifier():
    recorded, truth = one_coin(tasks=60, skill=[0.9, 0.8, 0.8, 0.7], seed=0)
    rows = np.eye(2)[truth] + np.random.default_rng(0).normal(0, 0.5, (60, 2))
    result = replay(
        recorded,
        truth,
        Costs.equal(2, crowd=0.05),
        features=rows,
        classifier=KNeighborsClassifier(3),
        batch_size=20,
    )
    assert result.error[-1] < 0.2


def test_the_loop_of_asking_and_telling_uses_a_pipeline():
    c = campaign(SCALED)
    rng = np.random.default_rng(0)
    while asks := c.ask(None, 40):
        c.tell([(a.item, None, int(TRUTH[a.item]) if rng.random() < 0.85 else 0) for a in asks], refit=True)
    assert (c.decide().codes == TRUTH).mean() > 0.9


def test_the_index_of_a_data_frame_names_the_items():
    names = [f"item {n}" for n in range(ITEMS)]
    order = np.random.default_rng(0).permutation(ITEMS)
    frame = pd.DataFrame(X[order], index=[names[n] for n in order])
    c = Campaign(names, [0, 1, 2], Costs.equal(K, crowd=0.01), features=frame, classifier=SCALED)
    c.tell([(names[n], worker, label) for n, worker, label in votes()], refit=True)
    assert accuracy(c) > 0.85
    again = Campaign.from_dict(c.to_dict(), features=frame, classifier=SCALED)
    again.refit()
    assert accuracy(again) > 0.85
    with pytest.raises(ValueError, match="the index of the data frame lacks 1 names, such as 'new'"):
        c.add([names[0] + "b", "new"], features=frame[:2].set_axis([names[0] + "b", "old"]))
