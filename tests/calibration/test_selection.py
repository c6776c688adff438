"""The chooser takes the family that made the data, and the simplest one that will do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from crowdpilot.calibration import MAPS, Best, Dirichlet, NoMap, Temperature, Vector, best_map, compare_maps
from crowdpilot.metrics import log_loss
from tests.calibration.conftest import draw, honest, normalized


def said(n: int, K: int, seed: int = 0) -> np.ndarray:
    return normalized(np.exp(np.random.default_rng(seed).normal(0, 1.5, (n, K))))


def by_beta(p: np.ndarray) -> np.ndarray:
    q = 1 / (1 + p[:, 0] ** 0.3 * np.exp(0.8) / p[:, 1] ** 2)
    return np.column_stack([1 - q, q])


MADE = {
    "none": (3, lambda p: p),
    "temperature": (3, lambda p: normalized(p**0.5)),
    "vector": (4, lambda p: normalized(p ** [0.4, 1, 1.6, 1] * np.exp([0.8, -0.8, 0, 0]))),
    "beta": (2, by_beta),
    "dirichlet": (
        3,
        lambda p: normalized(np.exp(np.log(p) @ [[1, -0.6, 0.2], [0.6, 0.3, -0.5], [0, 0.8, 1.5]])),
    ),
}


@pytest.mark.parametrize("family", MADE)
def test_it_finds_the_family_that_made_the_data(family) -> None:
    K, distort = MADE[family]
    p = said(4000, K)
    chosen = best_map(p, draw(distort(p), 1)).name
    same = {"beta": {"beta", "vector", "dirichlet"}}  # with two classes these are one family
    assert chosen in same.get(family, {family})


@pytest.mark.parametrize("seed", range(5))
def test_few_tasks_choose_a_simple_map(seed) -> None:
    p = said(12, 4, seed)
    assert best_map(p, draw(normalized(p ** [0.4, 1, 1.6, 1]), seed)).name in ("none", "temperature")


def test_two_tasks_choose_none() -> None:
    assert best_map([[0.9, 0.1], [0.8, 0.2]], [1, 1]).name == "none"
    assert Best().fit([[0.9, 0.1], [0.8, 0.2]], [1, 1]).name == "none"


def test_a_map_that_is_no_better_gives_way_to_the_one_before() -> None:
    p, truth = honest(500, 2)
    maps = [Temperature(), Temperature(floor=1e-9)]
    assert best_map(p, truth, maps=maps) is maps[0]
    assert best_map(p, truth, maps=maps[::-1]) is maps[1]


def test_the_map_is_fitted_on_all_tasks() -> None:
    p = said(500, 3)
    truth = draw(normalized(p**0.4), 1)
    fitted = Best().fit(p, truth)
    assert fitted.name == "temperature"
    np.testing.assert_array_equal(fitted(p), Temperature().fit(p, truth)(p))


def test_losses_are_those_of_tasks_left_out() -> None:
    """The folds drawn here, a Dirichlet map without prior, and scikit-learn's logistic regression."""
    p, truth = honest(120, 2)
    part = np.random.default_rng(3).permutation(120) % 4
    free = Dirichlet(strength=0, off_diagonal=0)
    (trial,) = compare_maps(p, truth, maps=[free], folds=4, seed=3)
    theirs = cross_val_predict(
        LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000),
        np.log(p),
        truth,
        cv=PredefinedSplit(part),
        method="predict_proba",
    )
    assert trial.loss == pytest.approx(log_loss(truth, theirs), abs=1e-5)


def test_the_loss_of_none_needs_no_folds() -> None:
    p, truth = honest(50, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 50)
    trials = compare_maps(p, truth, weight=weight, maps=[NoMap(), Vector()])
    assert trials[0].loss == pytest.approx(log_loss(truth, p, weight=weight))
    assert trials[1].loss - trials[0].loss == pytest.approx(trials[1].excess - trials[0].excess)


def test_the_error_is_that_of_a_mean_of_differences() -> None:
    p, truth = honest(400, 2)
    sure = normalized(p**2)
    first, second = compare_maps(sure, truth, maps=[NoMap(), NoMap(floor=0.2)])
    a, b = (-np.log(m.fit(sure, truth)(sure)[np.arange(400), truth]) for m in (NoMap(), NoMap(floor=0.2)))
    worse = max(first, second, key=lambda t: t.loss)
    assert worse.error == pytest.approx((a - b).std() / np.sqrt(400))
    assert min(first.excess, second.excess) == 0


def test_the_same_seed_draws_the_same_folds() -> None:
    p, truth = honest(200, 3)
    assert compare_maps(p, truth, seed=4) == compare_maps(p, truth, seed=4)
    assert compare_maps(p, truth, seed=4) != compare_maps(p, truth, seed=5)


def test_it_tries_all_maps_from_the_simplest() -> None:
    assert (*Best().maps, "best") == tuple(MAPS)
    p, truth = honest(200, 2)
    assert {t.map.name for t in compare_maps(p, truth)} == set(Best().maps)
    sizes = [t.map.n_parameters(2) for t in compare_maps(p, truth)]
    assert sizes == sorted(sizes)


def test_maps_that_learn_too_much_from_too_little_are_not_tried() -> None:
    p, truth = honest(60, 3)
    assert all(t.map.n_parameters(3) <= 12 for t in compare_maps(p, truth))
    assert best_map(p, truth, maps=[Dirichlet(), Dirichlet(floor=1e-3)]) == Dirichlet()


def test_a_map_learns_as_many_numbers_as_it_says() -> None:
    assert [MAPS[name]().n_parameters(3) for name in Best().maps] == [0, 1, 6, 6, 9, 12, 12, 30, 30]


def test_no_maps_are_an_error() -> None:
    with pytest.raises(ValueError, match="no maps to choose from"):
        best_map(*honest(30, 2), maps=[])
