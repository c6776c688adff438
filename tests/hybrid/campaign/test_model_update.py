from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs
from tests.crowds import vote_tuples

ITEMS = [f"i{n}" for n in range(30)]


def campaign() -> Campaign:
    return Campaign(ITEMS, ["no", "yes"], Costs.binary(fp=1, fn=2, crowd=0.02))


@pytest.mark.parametrize("seed", range(4))
def test_a_model_update_brings_another_campaign_to_the_same_posterior(seed):
    votes = vote_tuples(ITEMS, ["no", "yes"], seed)
    source, follower = campaign(), campaign()
    for c in (source, follower):
        c.tell(votes[:60], refit=False)
    source.refit()
    update = json.loads(json.dumps(source.model_update()))
    follower.tell(votes[60:], refit=False)
    follower.apply_model_update(update)
    source.tell(votes[60:], refit=False)
    np.testing.assert_allclose(follower.posterior(), source.posterior(), atol=1e-12)
    np.testing.assert_allclose(follower._parts.values.values, source._parts.values.values, atol=1e-9)
    again = campaign()
    again.tell(votes, refit=False)
    again.apply_model_update(update)
    np.testing.assert_array_equal(again.posterior(), follower.posterior())
    np.testing.assert_array_equal(again._parts.values.values, follower._parts.values.values)


def test_a_model_update_carries_the_classifier_to_a_campaign_without_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))

    class Line:
        def fit(self, rows, targets):
            self.coef = np.linalg.lstsq(rows, targets[:, 1] * 2 - 1, rcond=None)[0]
            return self

        def predict_proba(self, rows):
            p = 1 / (1 + np.exp(-rows @ self.coef))
            return np.stack([1 - p, p], axis=1)

    costs = Costs.binary(crowd=0.02)
    source = Campaign(ITEMS, ["no", "yes"], costs, features=x, classifier=Line())
    follower = Campaign(ITEMS, ["no", "yes"], costs)
    for c in (source, follower):
        c.tell(vote_tuples(ITEMS, ["no", "yes"], seed=1), refit=False)
    source.refit()
    follower.apply_model_update(source.model_update())
    np.testing.assert_allclose(follower.posterior(), source.posterior(), atol=1e-12)
    follower.add(["new"])
    follower.apply_model_update(source.model_update())
    assert follower.decide().probs.shape == (31, 2)
