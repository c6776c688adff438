"""A forecast waits until the votes tell how good the crowd is."""

from __future__ import annotations

import pytest

from crowdpilot.hybrid import Ask, Campaign, Costs
from crowdpilot.hybrid.forecast.readiness import why_too_early
from crowdpilot.simulation import one_coin


def campaign_of(**crowd: int) -> Campaign:
    votes, _ = one_coin(tasks=60, skill=[0.85] * 6, seed=0, **crowd)
    campaign = Campaign(range(200), votes.classes, Costs.equal(2, crowd=0.02))
    campaign.tell(votes, refit=True)
    waiting = [n for n, (first, count) in enumerate(zip(campaign.view.items().pilot,
               campaign.view.items().votes[:, 0], strict=True)) if first and not count]  # fmt: skip
    campaign.tell([(n, "extra", votes.classes[n % 2]) for n in waiting], refit=True)
    return campaign


def test_it_waits_for_votes_workers_and_overlap() -> None:
    campaign = Campaign(range(100), ["a", "b"], Costs.equal(2, crowd=0.02))
    assert "it needs 50 votes" in why_too_early(campaign)
    campaign.tell([(n, "ann", "ab"[n % 2]) for n in range(100)])
    assert "one worker" in why_too_early(campaign)
    campaign.tell([(n, "cem", "b") for n in range(10, 20)])
    assert "more items need votes of two workers" in why_too_early(campaign)


def test_it_comes_when_half_of_the_items_with_votes_have_two() -> None:
    assert why_too_early(campaign_of(votes_per_task=4)) == ""
    done = Campaign(range(2), ["a", "b"], Costs.equal(2, crowd=5.0))
    assert why_too_early(done) != ""


@pytest.mark.parametrize("end", ["override", "stop", "close", "reveal"])
def test_it_does_not_wait_for_a_first_item_that_will_get_no_vote(end: str) -> None:
    votes, _ = one_coin(tasks=60, skill=[0.85] * 6, votes_per_task=4, seed=0)
    campaign = Campaign(range(60), votes.classes, Costs.equal(2, crowd=0.001))
    first = int(campaign.view.items().pilot.argmax())
    campaign.tell(votes.take(votes.task != first), refit=True)
    assert "1 of the first items" in why_too_early(campaign)
    if end == "stop":
        campaign.stop([Ask(first)])
    elif end == "close":
        campaign.close([first])
    else:
        getattr(campaign, end)({first: votes.classes[0]})
    assert why_too_early(campaign) == ""
