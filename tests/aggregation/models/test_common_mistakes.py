"""Skills and common mistakes, against a computation vote by vote."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation import CommonMistakes, OneCoin
from crowdpilot.votes import Votes
from tests.crowds import next_class_votes


def test_the_posterior_is_that_of_the_model(simulated):
    votes, _ = simulated
    result = CommonMistakes(tol=1e-13, max_iter=3000).fit(votes)
    mistakes = result.params["mistakes"].toarray()
    joint = np.zeros((150, 3))
    for n in range(150):
        mine = votes.task == n
        said, skill = votes.label[mine], result.skill[votes.worker[mine]]
        for k in range(3):
            wrong = mistakes[k, said] if k in said else 0.5  # nobody is right: all mistakes are alike
            joint[n, k] = np.prod(np.where(said == k, skill, (1 - skill) * wrong))
    np.testing.assert_allclose(result.probs, joint / joint.sum(axis=1, keepdims=True), atol=1e-5)


def test_rows_of_mistakes_sum_to_one_where_every_pair_occurs(simulated):
    mistakes = CommonMistakes().fit(simulated[0]).params["mistakes"].toarray()
    np.testing.assert_allclose(mistakes.sum(axis=1), 1)
    np.testing.assert_array_equal(np.diag(mistakes), 0)


def test_common_mistakes_are_found_out():
    votes, truth = next_class_votes(3000, 100, 300, 15_000, common=0.7)
    result = CommonMistakes().fit(votes)
    assert (result.codes == truth).mean() > (OneCoin().fit(votes).codes == truth).mean() + 0.05
    following = result.params["mistakes"].toarray()[np.arange(300), (np.arange(300) + 1) % 300]
    assert 0.5 < np.median(following) < 0.8


def test_without_common_mistakes_it_is_as_good_as_coins_and_as_sure_as_it_is_right():
    votes, truth = next_class_votes(3000, 100, 300, 15_000, common=0.0)
    result = CommonMistakes().fit(votes)
    right = (result.codes == truth).mean()
    assert right > (OneCoin().fit(votes).codes == truth).mean() - 0.005
    assert result.confidence.mean() == pytest.approx(right, abs=0.015)


@pytest.mark.parametrize("prior", ["uniform", "estimated"])
@pytest.mark.parametrize("accelerate", [True, False])
def test_the_objective_never_falls_with_many_classes(prior, accelerate):
    votes, _ = next_class_votes(3000, 100, 300, 15_000, common=0.4)
    model = CommonMistakes(prior=prior, accelerate=accelerate, tol=1e-9, max_iter=2000)
    assert np.diff(model.fit(votes).trace).min() > -1e-8


def test_two_classes_leave_nothing_to_mistake():
    votes, _ = next_class_votes(3000, 100, 2, 15_000, common=0.0)
    np.testing.assert_allclose(CommonMistakes().fit(votes).probs, OneCoin().fit(votes).probs, atol=1e-9)


def test_mistakes_are_remembered():
    """What an earlier crowd mistook for what decides between two votes."""
    old, _ = next_class_votes(3000, 100, 30, 15_000, common=0.9)
    history = CommonMistakes().fit(old)
    new = Votes.of(["new", "new"], ["x", "y"], [4, 5], classes=list(range(30)))
    alone, known = CommonMistakes().fit(new), CommonMistakes().fit(new, history=history)
    np.testing.assert_allclose(alone.probs[0, 4], alone.probs[0, 5])
    assert known.probs[0, 4] > 0.9


def test_no_spread_is_refused():
    with pytest.raises(ValueError, match="spread is 0"):
        CommonMistakes(spread=0)
