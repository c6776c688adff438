from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.hybrid import FUSIONS, Campaign, Costs, LogisticRegression, Plan
from crowdpilot.hybrid.campaign.estimation.contributions import (
    CLASSIFIER,
    PRIOR,
    VOTE,
    posterior_of,
)

CLASSES = ["a", "b", "c"]


def voted_campaign(seed, *, fusion="tempered", classified=False, online=False, experts=True, n=12):
    """A campaign with random votes, some of them since the last refit."""
    rng = np.random.default_rng(seed)
    costs = Costs.equal(3, crowd=0.02, expert=0.2)
    probs = rng.dirichlet(np.ones(3), n) if classified else None
    plan = Plan(fusion=fusion, online=online, refit_every=10**6)
    campaign = Campaign(range(n), CLASSES, costs, plan=plan, classifier_probs=probs)
    campaign.register_worker("eve", "expert")
    for part in range(2):
        votes = [
            (item, worker, CLASSES[rng.integers(3)])
            for worker in ("ann", "bob", *(["eve"] if experts else []))
            for item in range(part * n // 2, (part + 1) * n // 2)
            if rng.random() < 0.7
        ]
        campaign.tell(votes, refit=part == 0)
    return campaign


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(FUSIONS)), st.booleans(), st.booleans(), st.booleans())
def test_contributions_add_up_to_the_posterior(seed, fusion, classified, online, experts):
    campaign = voted_campaign(seed, fusion=fusion, classified=classified, online=online, experts=experts)
    posterior = campaign.view.estimates().posterior
    for row, item in enumerate(campaign.view.item_names):
        parts = campaign.view.contributions(item)
        np.testing.assert_allclose(posterior_of(parts), posterior[row], atol=1e-9)
        assert [part.source for part in parts].count(VOTE) == int(campaign.view.items().votes[row, 0])
        assert (CLASSIFIER in [part.source for part in parts]) == classified


def test_contributions_of_a_trained_classifier_add_up_too():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=60)
    campaign = Campaign(
        range(60), [0, 1], Costs.binary(), features=rng.normal(size=(60, 2)) + 2 * truth[:, None],
        classifier=LogisticRegression(),
    )  # fmt: skip
    votes = [(n, w, int(truth[n] ^ (rng.random() < 0.2))) for w in range(3) for n in range(40)]
    campaign.tell(votes, refit=True)
    posterior = campaign.view.estimates().posterior
    for item in (0, 39, 40, 59):
        np.testing.assert_allclose(
            posterior_of(campaign.view.contributions(item)), posterior[item], atol=1e-9
        )


def test_with_criteria_each_question_has_contributions_of_its_own():
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary(), criteria=["old", "big"])
    campaign.tell([("a", "ann", "yes", "old"), ("a", "bob", "no", "big")], refit=True)
    for criterion in campaign.criteria:
        parts = campaign.view.contributions("a", criterion)
        expected = campaign.view.estimates(criterion).posterior[0]
        np.testing.assert_allclose(posterior_of(parts), expected, atol=1e-12)
        assert sum(part.source == VOTE for part in parts) == 1


def test_a_better_worker_counts_more_and_gold_changes_no_contribution():
    campaign = Campaign(
        range(40), ["no", "yes"], Costs.binary(), gold={n: "yes" if n % 2 else "no" for n in range(30)}
    )
    good = [(n, "good", "yes" if n % 2 else "no") for n in range(31)]
    bad = [(n, "bad", "yes" if n % 3 else "no") for n in range(31)]
    campaign.tell(good + bad, refit=True)
    names = campaign.view.workers().names
    votes = {names[part.worker]: part for part in campaign.view.contributions(30) if part.source == VOTE}
    weights = {name: abs(np.ptp(part.log_probs)) for name, part in votes.items()}
    assert weights["good"] > 2 * weights["bad"]
    assert votes["good"].accuracy > votes["bad"].accuracy
    before = [part.log_probs for part in campaign.view.contributions(30)]
    campaign.reveal({30: "yes"})
    np.testing.assert_array_equal(before, [part.log_probs for part in campaign.view.contributions(30)])


def test_without_votes_there_is_the_prior_alone():
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary())
    assert [part.source for part in campaign.view.contributions("a")] == [PRIOR]
    with pytest.raises(ValueError, match="there is no item"):
        campaign.view.contributions("x")
