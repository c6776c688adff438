from __future__ import annotations

import json

import numpy as np

from crowdpilot.hybrid import Campaign, Costs
from crowdpilot.service.jobs.forecast import sample_items
from crowdpilot.simulation import one_coin
from tests.service.harness.jobs import JobService

NAMES = [f"i{n}" for n in range(200)]
CHEAP = {"prices": {"crowd": 0.02}}


def test_a_forecast_comes_after_the_pilot_and_when_votes_have_grown(service: JobService) -> None:
    project = service.create(costs=CHEAP)
    service.add(project, 200)
    address = f"/api/projects/{project}/forecast"
    with service.requester() as client:
        early = client.get(address)
        assert early.status_code == 404
        service.do_jobs()
        assert "it needs 50 votes" in client.get(address).json()["detail"]
        service.vote(project, NAMES[:100], each=2)
        items = service.context.replica(project)[0].campaign.view.items()
        rest = [name for row, name in enumerate(items.names) if items.pilot[row] and name not in NAMES[:100]]
        service.vote(project, [name for name in NAMES[100:] if name in rest] or NAMES[100:110], each=1)
        service.refit(project)
        found = client.get(address).json()
        votes = service.context.replica(project)[1].votes
        assert (found["items"], found["votes"]) == (200, votes)
        band = found["curves"]["loss"]
        assert np.all(np.array(band["low"]) <= band["high"])
        assert np.all(np.diff(found["curve_votes"]) > 0)
        assert found["curve_votes"][0] <= found["end"]["votes"]["high"]
        service.vote(project, NAMES[110:140], each=1)
        service.refit(project)
        assert client.get(address).json()["votes"] == votes
        service.vote(project, NAMES[140:200], each=3)
        service.refit(project)
        assert client.get(address).json()["votes"] > votes
        assert client.post(address).json() == {"kind": "forecast", "state": "queued"}


def test_a_sample_of_a_campaign_is_like_the_whole() -> None:
    votes, _ = one_coin(tasks=600, skill=[0.9, 0.8, 0.7], seed=0)
    whole = Campaign(range(2000), votes.classes, Costs.equal(2, crowd=0.02, budget=100.0))
    whole.tell(votes, refit=True)
    before = json.dumps(whole.to_dict())
    small = sample_items(whole, 500, seed=0)
    assert len(small) == 500
    assert small.view.spent == whole.view.spent / 4
    assert small.view.budget_left == whole.view.budget_left / 4
    reached = small.decide().votes.mean() / whole.decide().votes.mean()
    assert 0.8 < reached < 1.2
    np.testing.assert_allclose(small.view.estimates().log_confusion, whole.view.estimates().log_confusion)
    assert json.dumps(whole.to_dict()) == before
