from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.calibration.experience import CrowdMap
from crowdpilot.hybrid import Plan


def test_a_plan_is_read_as_it_was_written():
    plan = Plan(policy="fixed[counts=3]", skill={"crowd": 0.7, "friend": 0.9}, per_item=4, seed=7)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert Plan.from_dict({}) == Plan()


def test_a_plan_keeps_its_experience():
    experience = CrowdMap(np.array([0.5, 0.1, 0.7]), 0.1 * np.eye(3))
    plan = Plan(experience=experience, experts=["expert", "doctor"], honest=False)
    read = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert read.experience is not None
    np.testing.assert_array_equal(read.experience.mean, experience.mean)
    np.testing.assert_array_equal(read.experience.covariance, experience.covariance)
    assert read.experts == ("expert", "doctor")
    assert not read.honest


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"a plan has no setting 'pilots'; it has .*pilot"):
        Plan.from_dict({"pilots": 3})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"explore": 1.2}, "explore is 1.2, expected a share from 0 to 1"),
        ({"gold": -0.1}, "gold is -0.1"),
        ({"pilot": -1}, "pilot is -1, expected a number of 0 or more"),
        ({"per_item": -2}, "per_item is -2, expected a number of 0 or more"),
        ({"refit_growth": float("nan")}, "refit_growth is nan"),
        ({"floor": 0.5}, "floor is 0.5"),
        ({"skill": {"crowd": 1.0}}, "the skill of 'crowd' is 1.0, expected a share between 0 and 1"),
    ],
)
def test_a_setting_out_of_range_is_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        Plan(**setting)


@pytest.mark.parametrize("K", [2, 3, 10])
def test_pseudo_counts_have_the_skill_and_the_weight_that_are_set(K):
    counts = Plan(skill={"crowd": 0.8}, kind_pseudo_counts=10).pseudo_counts("crowd", K)
    np.testing.assert_allclose(counts.sum(axis=1), 10)
    np.testing.assert_allclose(np.diag(counts), 8)
    off = counts[~np.eye(K, dtype=bool)]
    np.testing.assert_allclose(off, off[0])


def test_a_kind_without_a_skill_is_like_the_crowd():
    plan = Plan(skill={"crowd": 0.6})
    np.testing.assert_array_equal(plan.pseudo_counts("friend", 2), plan.pseudo_counts("crowd", 2))


def test_the_pilot_is_as_large_as_set_and_else_grows_with_the_items_to_train_on():
    assert Plan(pilot=7).pilot_size(10_000, trains_classifier=True) == 7
    found = [Plan().pilot_size(n, trains_classifier=True) for n in (100, 10_000, 1_000_000)]
    assert found == sorted(found)
    assert found[-1] > found[0] > 0
    assert Plan().pilot_size(100, trains_classifier=False) == Plan().pilot_size(
        1_000_000, trains_classifier=False
    )
