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
def test_a_belief_is_a_distribution(name, seed):
    machine, heard = some(seed)
    found = find_fusion(name)(machine, heard, PRIOR)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_vote_for_a_class_makes_it_more_probable(name):
    machine, heard = some(0)
    join = find_fusion(name)
    vote = np.log([0.8, 0.1, 0.1])
    before, after = join(machine, heard, PRIOR), join(machine, heard + vote, PRIOR)
    assert (after[:, 0] > before[:, 0]).all()


def test_renaming_the_classes_renames_the_belief(name):
    machine, heard = some(1)
    o = np.array([2, 0, 1])
    join = find_fusion(name)
    np.testing.assert_allclose(
        join(machine[:, o], heard[:, o], PRIOR[o]), join(machine, heard, PRIOR)[:, o], atol=1e-12
    )


def test_items_are_judged_one_by_one(name):
    machine, heard = some(2)
    join = find_fusion(name)
    np.testing.assert_allclose(
        join(machine[3:4], heard[3:4], PRIOR), join(machine, heard, PRIOR)[3:4], atol=1e-12
    )


def test_without_votes_the_machine_has_the_word_where_it_has_one(name):
    machine, heard = some(3)
    found = find_fusion(name)(machine, np.zeros_like(heard), PRIOR)
    said = {
        "bayes": machine,
        "average": machine,
        "crowd": np.tile(PRIOR, (8, 1)),
    }
    if name in said:
        np.testing.assert_allclose(found, said[name])
    elif name == "tempered":
        np.testing.assert_allclose(find_fusion("tempered[a=1,b=1]")(machine, 0 * heard, PRIOR), machine)
        np.testing.assert_allclose(find_fusion("tempered[a=0]")(machine, 0 * heard, PRIOR), said["crowd"])
    else:  # as sure as the machine, in the machine's label, with the prior beside it
        np.testing.assert_allclose(
            find_fusion(name)(machine, 0 * heard, np.ones(3) / 3).max(axis=1), machine.max(axis=1)
        )


def test_equations_of_each_rule(name):
    machine, heard = some(4)
    votes = to_probs(PRIOR * np.exp(heard))
    sure = machine.max(axis=1, keepdims=True)
    label = machine == sure
    expected = {
        "bayes": to_probs(machine * np.exp(heard)),
        "tempered": to_probs(machine**0.7 * np.exp(0.6 * heard) * PRIOR**0.3),
        "average": 0.25 * machine + 0.75 * votes,
        "voter": to_probs(PRIOR * np.exp(heard) * np.where(label, sure, (1 - sure) / 2)),
        "crowd": votes,
    }
    options = {"tempered": "[a=.7,b=.6]", "average": "[weight=.25]"}
    found = find_fusion(name + options.get(name, ""))
    np.testing.assert_allclose(found(machine, heard, PRIOR), expected[name])


def test_a_wrong_name_is_refused_with_those_that_exist(name):
    with pytest.raises(ValueError, match=name):
        find_fusion("magic")
