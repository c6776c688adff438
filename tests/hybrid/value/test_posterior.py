from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.arrays import to_probs
from crowdpilot.hybrid.value.posterior import FUSIONS, find_fusion

PRIOR = np.array([0.5, 0.3, 0.2])


def some(seed, n=8):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(3), n), np.log(rng.uniform(0.05, 0.95, (n, 3)))


pytestmark = pytest.mark.parametrize("name", FUSIONS)


@given(seed=st.integers(0, 500))
def test_a_posterior_is_a_distribution(name, seed):
    classifier, log_likelihood = some(seed)
    posterior = find_fusion(name)(classifier, log_likelihood, PRIOR)
    assert posterior.min() >= 0
    np.testing.assert_allclose(posterior.sum(axis=1), 1)


def test_a_vote_for_a_class_makes_it_more_probable(name):
    classifier, log_likelihood = some(0)
    fuse = find_fusion(name)
    vote = np.log([0.8, 0.1, 0.1])
    before, after = fuse(classifier, log_likelihood, PRIOR), fuse(classifier, log_likelihood + vote, PRIOR)
    assert (after[:, 0] > before[:, 0]).all()


def test_renaming_the_classes_renames_the_posterior(name):
    classifier, log_likelihood = some(1)
    o = np.array([2, 0, 1])
    fuse = find_fusion(name)
    np.testing.assert_allclose(
        fuse(classifier[:, o], log_likelihood[:, o], PRIOR[o]),
        fuse(classifier, log_likelihood, PRIOR)[:, o],
        atol=1e-12,
    )


def test_items_do_not_influence_each_other(name):
    classifier, log_likelihood = some(2)
    fuse = find_fusion(name)
    np.testing.assert_allclose(
        fuse(classifier[3:4], log_likelihood[3:4], PRIOR),
        fuse(classifier, log_likelihood, PRIOR)[3:4],
        atol=1e-12,
    )


def test_without_votes_the_posterior_is_that_of_the_classifier_where_it_is_used(name):
    classifier, log_likelihood = some(3)
    posterior = find_fusion(name)(classifier, np.zeros_like(log_likelihood), PRIOR)
    expected = {
        "bayes": classifier,
        "average": classifier,
        "crowd": np.tile(PRIOR, (8, 1)),
    }
    if name in expected:
        np.testing.assert_allclose(posterior, expected[name])
    elif name == "tempered":
        np.testing.assert_allclose(
            find_fusion("tempered[a=1,b=1]")(classifier, 0 * log_likelihood, PRIOR), classifier
        )
        np.testing.assert_allclose(
            find_fusion("tempered[a=0]")(classifier, 0 * log_likelihood, PRIOR), expected["crowd"]
        )
    else:  # as confident as the classifier, in the classifier's label, with the prior beside it
        np.testing.assert_allclose(
            find_fusion(name)(classifier, 0 * log_likelihood, np.ones(3) / 3).max(axis=1),
            classifier.max(axis=1),
        )


def test_equations_of_each_rule(name):
    classifier, log_likelihood = some(4)
    votes = to_probs(PRIOR * np.exp(log_likelihood))
    confidence = classifier.max(axis=1, keepdims=True)
    label = classifier == confidence
    expected = {
        "bayes": to_probs(classifier * np.exp(log_likelihood)),
        "tempered": to_probs(classifier**0.7 * np.exp(0.6 * log_likelihood) * PRIOR**0.3),
        "average": 0.25 * classifier + 0.75 * votes,
        "classifier_as_worker": to_probs(
            PRIOR * np.exp(log_likelihood) * np.where(label, confidence, (1 - confidence) / 2)
        ),
        "crowd": votes,
    }
    options = {"tempered": "[a=.7,b=.6]", "average": "[weight=.25]"}
    posterior = find_fusion(name + options.get(name, ""))
    np.testing.assert_allclose(posterior(classifier, log_likelihood, PRIOR), expected[name])


def test_a_wrong_name_is_refused_with_those_that_exist(name):
    with pytest.raises(ValueError, match=name):
        find_fusion("magic")
