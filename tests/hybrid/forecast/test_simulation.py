"""Forecasts of simulated crowds whose truth is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdpilot.hybrid import Ask, Campaign, Costs, Plan, SimulatedVotes
from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.hybrid.forecast.pilot import (
    MISLEADING_SHARES,
    Pilot,
    misleading_share_posterior,
    posterior_draws,
)
from crowdpilot.hybrid.forecast.simulated_crowd import SimulatedCrowd
from crowdpilot.hybrid.forecast.simulation import forecast, forecast_design
from crowdpilot.votes import Votes

COSTS = Costs.equal(2, crowd=0.02)


def simulated_source(items: int, seed: int, skill: float = 0.8) -> SimulatedVotes:
    rng = np.random.default_rng(seed)
    right = np.clip(rng.normal(skill, 0.08, 30), 0.5, 0.99)[:, None, None]
    confusion = np.where(np.eye(2, dtype=bool), right, 1 - right)
    truth = rng.integers(0, 2, items)
    return SimulatedVotes(np.arange(items), np.arange(2), truth, confusion, seed)


def run(campaign: Campaign, source: SimulatedVotes) -> None:
    while True:
        if asks := campaign.ask(None, 50):
            campaign.tell(source.answer(asks))
        elif campaign.view.votes_since_refit:
            campaign.refit()
        else:
            return


def piloted(source: SimulatedVotes, pilot: int, policy: str = "value", costs: Costs = COSTS) -> Campaign:
    """A campaign that is done with its first items."""
    campaign = Campaign(source.items[:pilot], source.classes, costs, plan=Plan(policy=policy))
    run(campaign, source)
    campaign.add(source.items[pilot:])
    return campaign


def make_forecast(loss: Any, best: Any = ((0.0,), (0.0,)), level: float = 0.9) -> Forecast:
    simulations = np.asarray(loss, np.float64)
    cost = np.arange(simulations.shape[1]) / 10
    best = np.broadcast_to(np.asarray(best, np.float64), (2, len(simulations)))
    return Forecast(
        100,
        level,
        cost,
        simulations,
        simulations,
        best,
        np.full(len(simulations), 5.0),
        np.full(len(simulations), cost[-1]),
    )


def test_intervals_hold_what_happens_with_crowds_as_they_are_assumed() -> None:
    held = []
    for seed in range(4):
        source = simulated_source(60, seed)
        campaign = piloted(source, 30, "value" if seed % 2 else "posterior_threshold")
        found = forecast(campaign, gold=dict(enumerate(source.truth[:30].tolist())), runs=20, seed=seed)
        run(campaign, source)
        wrong = float((campaign.decide().codes != source.truth).mean())
        votes = float(campaign.decide().votes.mean())
        held.append(found.end("error").low <= wrong <= found.end("error").high)
        held.append(found.end("votes").low <= votes <= found.end("votes").high)
    assert np.mean(held) >= 0.7


def test_a_forecast_leaves_the_campaign_alone_and_repeats_itself() -> None:
    campaign = piloted(simulated_source(80, 0), 30)
    before = json.dumps(campaign.to_dict())
    one, two, other = (forecast(campaign, runs=3, seed=seed).to_dict() for seed in (0, 0, 1))
    assert json.dumps(campaign.to_dict()) == before
    assert one == two
    assert one != other


def test_curves_begin_where_the_campaign_stands_and_end_where_it_ends() -> None:
    campaign = piloted(simulated_source(80, 0), 30)
    found = forecast(campaign, runs=4, seed=0)
    assert found.cost[0] == pytest.approx(campaign.view.spent / 80)
    assert found.cost[-1] == pytest.approx(found.spent.max())
    np.testing.assert_allclose(found.spent, 0.02 * found.votes)
    assert found.end("loss") == found.at(float(found.cost[-1]))
    assert found.at(1e9) == found.end("loss")
    low, median, high = found.band("error")[1:]
    assert (low <= median).all()
    assert (median <= high).all()


def test_the_truth_of_the_pilot_makes_intervals_narrower() -> None:
    source = simulated_source(80, 3, skill=0.75)
    campaign = piloted(source, 50)
    gold = dict(enumerate(source.truth[:50].tolist()))
    wide, narrow = (forecast(campaign, gold=known, runs=6, seed=0).end("error") for known in (None, gold))
    assert narrow.high - narrow.low < wide.high - wide.low


def test_a_budget_is_kept() -> None:
    campaign = piloted(simulated_source(80, 0), 30, costs=Costs.equal(2, crowd=0.02, budget=3.0))
    found = forecast(campaign, runs=4, seed=0)
    assert found.spent.max() <= 3.0 / 80 + 1e-12


def test_money_that_is_reserved_for_open_leases_may_be_spent_in_a_forecast() -> None:
    campaign = piloted(simulated_source(80, 0), 30, costs=Costs.equal(2, crowd=0.02, budget=3.0))
    before = forecast(campaign, runs=2, seed=0).spent
    campaign.ask("ann", 5)
    campaign.synchronize(reserved_beside=1.0)
    assert forecast(campaign, runs=2, seed=0).spent.max() == pytest.approx(before.max())
    assert campaign.view.budget_left == pytest.approx(3.0 - campaign.view.spent - 5 * 0.02 - 1.0)


def test_no_item_gets_more_votes_than_can_be_had() -> None:
    campaign = piloted(simulated_source(60, 0), 20, "fixed[votes=5]")
    assert forecast(campaign, max_votes_per_item=5, runs=2, seed=0).votes.max() == 5
    few = forecast(campaign, max_votes_per_item=2, runs=2, seed=0)
    assert few.votes.max() == pytest.approx((20 * 5 + 40 * 2) / 60)
    named = forecast(campaign, max_votes_per_item=dict.fromkeys(range(20, 60), 1), runs=2, seed=0)
    assert named.votes.max() == pytest.approx((20 * 5 + 40) / 60)


def test_criteria_experts_and_withdrawn_items_are_simulated_too() -> None:
    costs = Costs.binary(fp=1, fn=2, crowd=0.02, expert=0.1)
    campaign = Campaign(range(40), ["no", "yes"], costs, criteria=["old", "red"])
    campaign.register_worker("eve", "expert")
    rng = np.random.default_rng(0)
    votes = [
        (item, w, rng.choice(["no", "yes"]), c) for item in range(15) for w in "abe" for c in ("old", "red")
    ]
    campaign.tell([(item, "eve" if w == "e" else w, *rest) for item, w, *rest in votes], refit=True)
    campaign.withdraw([0, 39])
    found = forecast(campaign, gold={"old": {1: "yes"}}, runs=3, seed=0)
    assert found.items == 38
    assert found.votes.min() >= 90 / 40
    assert np.isfinite(found.loss).all()


def test_workers_whose_names_are_not_known_do_no_harm() -> None:
    campaign = Campaign(range(30), [0, 1], COSTS)
    campaign.tell([(item, None, item % 2) for item in range(30) for _ in range(2)], refit=True)
    assert forecast(campaign, runs=2, seed=0).end("error").low < 0.3


def test_the_votes_of_workers_count_when_their_items_are_dropped() -> None:
    ends = []
    for good in (True, False):
        campaign = Campaign(range(40), [0, 1], COSTS)
        rng = np.random.default_rng(0)
        campaign.tell(
            [(i, w, i % 2 if good or rng.random() < 0.6 else 1 - i % 2) for i in range(40) for w in range(3)]
        )
        campaign.refit()
        campaign.close(range(40))
        campaign.drop_closed()
        campaign.add(range(100, 160))
        ends.append(forecast(campaign, runs=3, seed=0).end("error").median)
    assert ends[0] < ends[1]


def test_what_costs_how_much() -> None:
    found = make_forecast([[0.4, 0.3, 0.1, 0.02], [0.4, 0.2, 0.05, 0.01], [0.4, 0.1, 0.02, 0.01]])
    assert found.cost_of(loss=0.05).cost == (0.2, 0.2, pytest.approx(0.3))
    assert found.cost_of(error=1.0).cost == (0, 0, 0)
    assert "costs 0.2 for each item (0.2 to 0.3)" in str(found.cost_of(loss=0.05))


def test_a_target_must_be_kept_once_it_is_reached() -> None:
    assert make_forecast([[0.4, 0.1, 0.3, 0.1]]).cost_of(loss=0.2).cost.median == pytest.approx(0.3)


def test_a_target_that_is_not_reached_has_its_reason() -> None:
    ends = make_forecast([[0.4, 0.3], [0.4, 0.2]]).cost_of(loss=0.1)
    assert (ends.reached, ends.possible, ends.cost.median) == (0, 1, np.inf)
    assert "ends before" in str(ends)
    assert json.loads(json.dumps(ends.to_dict()))["cost"]["median"] is None
    never = make_forecast([[0.4, 0.3], [0.4, 0.2]], best=((0.15,), (0.15,))).cost_of(error=0.1)
    assert never.possible == 0
    assert "not reachable with this crowd" in str(never)


def test_intervals_are_never_narrower_than_the_share_of_simulations_at_their_level() -> None:
    values = np.random.default_rng(0).random((37, 1))
    for level in (0.5, 0.8, 0.9):
        low, _, high = make_forecast(values, level=level).end("loss")
        assert ((low <= values) & (values <= high)).mean() >= level


def test_known_classes_show_how_often_the_crowd_errs_together() -> None:
    prior, none = np.full((50, 2), 0.5), np.full(50, -1, np.int32)
    sure = np.tile([0.98, 0.02], (50, 1))
    before = misleading_share_posterior(0.2, sure, prior, none) @ MISLEADING_SHARES
    right = misleading_share_posterior(0.2, sure, prior, np.zeros(50, np.int32)) @ MISLEADING_SHARES
    half = (
        misleading_share_posterior(0.2, sure, prior, (np.arange(50) % 2).astype(np.int32)) @ MISLEADING_SHARES
    )
    assert right < 0.6 * before
    assert half > 0.7


def test_a_worse_crowd_is_expected_to_err_together_more_often() -> None:
    prior, none, posterior = np.zeros((0, 2)), np.zeros(0, np.int32), np.zeros((0, 2))
    shares = [
        float(misleading_share_posterior(e, posterior, prior, none) @ MISLEADING_SHARES)
        for e in (0.01, 0.1, 0.3)
    ]
    assert shares == sorted(shares)


def test_a_forecast_with_a_classifier_promises_what_the_campaign_then_says() -> None:
    rng = np.random.default_rng(10)
    source = simulated_source(150, 0, skill=0.9)
    sure = 0.5 + 0.5 * rng.beta(4, 1, 150)
    said = np.where(rng.random(150) < sure, source.truth, 1 - source.truth)
    probs = np.where(np.eye(2, dtype=bool)[said], sure[:, None], 1 - sure[:, None])
    campaign = Campaign(source.items, source.classes, COSTS, classifier_probs=probs)
    while campaign.view.vote_count < 80:
        campaign.tell(source.answer(campaign.ask(None, 10)))
    campaign.refit()
    promised = forecast(campaign, runs=8, seed=0).end("loss")
    run(campaign, source)
    came = campaign.status().loss_per_item
    assert promised.low <= came <= promised.high
    assert 0.6 < promised.median / came < 1.6


@pytest.mark.parametrize("seed", [0, 3])
def test_a_forecast_takes_the_classifier_as_calibrated_by_the_votes(seed: int) -> None:
    """It says 98 % and is right in 70 %; three votes on each of 50 items have shown that."""
    source = simulated_source(150, seed)
    right = np.random.default_rng(seed).random(150) < 0.7
    said = np.where(right, source.truth, 1 - source.truth)
    probs = np.where(np.eye(2, dtype=bool)[said], 0.98, 0.02)
    campaign = Campaign(source.items, source.classes, COSTS, classifier_probs=probs)
    for _ in range(3):
        campaign.tell(source.answer([Ask(item) for item in range(50)]))
    campaign.refit()
    promised = forecast(campaign, runs=8, seed=0).end("loss")
    run(campaign, source)
    came = campaign.status().loss_per_item
    assert promised.low <= came <= promised.high
    assert 0.6 < promised.median / came < 1.6


def corrected_campaign() -> tuple[Campaign, Campaign]:
    """A campaign, and the same after an expert has overridden 30 of 100 items as the crowd would not."""
    source = simulated_source(100, 0)
    before, after = (Campaign(source.items, source.classes, COSTS) for _ in range(2))
    votes = [vote for _ in range(3) for vote in source.answer([Ask(item) for item in range(100)])]
    for campaign in (before, after):
        campaign.tell(votes, refit=True)
    now = after.decide()
    after.override({item: 1 - int(now.codes[item]) for item in range(30)})
    return before, after


def test_what_an_expert_decided_counts_as_the_truth() -> None:
    before, after = corrected_campaign()
    unchanged, corrected = (forecast(campaign, runs=6, seed=0) for campaign in (before, after))
    assert corrected.end("loss").median < unchanged.end("loss").median
    assert corrected.end("loss").low <= after.status().loss_per_item <= corrected.end("loss").high
    assert corrected.best.mean() < unchanged.best.mean()


def test_what_an_expert_decided_does_not_judge_workers() -> None:
    pilots = [pilot_of(all_agree(40, 5, 40)) for _ in range(2)]
    pilots[1] = replace(pilots[1], override=(1 - np.arange(40) % 2).astype(np.int32))
    one, other = (next(posterior_draws(pilot, 1, np.random.default_rng(0))) for pilot in pilots)
    np.testing.assert_array_equal(one.confusion, other.confusion)
    np.testing.assert_array_equal(one.misleading_share, other.misleading_share)
    np.testing.assert_array_equal(one.consensus, other.consensus)


def test_an_overridden_criterion_counts_as_the_truth_of_the_item() -> None:
    campaign = Campaign(range(30), ["no", "yes"], COSTS, criteria=["old", "red"])
    yes = [(item, w, "yes", c) for item in range(30) for w in "abcd" for c in ("old", "red")]
    campaign.tell(yes, refit=True)
    without = forecast(campaign, runs=3, seed=0).end("loss").median
    campaign.override({"red": dict.fromkeys(range(30), "no")})
    assert forecast(campaign, runs=3, seed=0).end("loss").high == 0 < without


def pilot_of(votes: Votes, item_prior: Any = None, gold: Any = None) -> Pilot:
    kind_pseudo_counts = 10 * np.array([[[0.85, 0.15], [0.15, 0.85]]])
    unknown = np.full(len(votes.tasks), -1, np.int32)
    kind, earlier = np.zeros(len(votes.workers), np.int32), np.zeros((len(votes.workers), 2, 2))
    return Pilot(
        votes,
        kind,
        kind_pseudo_counts,
        8.0,
        item_prior,
        unknown if gold is None else gold,
        unknown,
        np.zeros(2),
        earlier,
        0.15,
    )


def all_agree(items: int, workers: int, of: int) -> Votes:
    task, worker = (a.ravel().astype(np.int32) for a in np.indices((items, workers)))
    return Votes(task, worker, (task % 2).astype(np.int32), np.arange(of), np.arange(workers), np.arange(2))


def test_draws_follow_clear_votes_and_the_classifier_elsewhere() -> None:
    probs = np.tile([0.05, 0.95], (60, 1))
    found = list(posterior_draws(pilot_of(all_agree(30, 5, 60), probs), 10, np.random.default_rng(0)))
    assert np.mean([draw.consensus[:30] == np.arange(30) % 2 for draw in found]) > 0.98
    assert np.mean([draw.consensus[30:] for draw in found]) == pytest.approx(0.95, abs=0.04)
    assert np.mean([np.diag(draw.kind_confusion[0]) for draw in found]) > 0.9


def test_the_truth_that_is_drawn_is_the_one_that_is_known() -> None:
    gold = np.where(np.arange(40) < 20, 1 - np.arange(40) % 2, -1).astype(np.int32)
    rng = np.random.default_rng(0)
    for draw in posterior_draws(pilot_of(all_agree(30, 5, 40), gold=gold), 3, rng):
        true = draw.draw_truth(gold, rng)
        assert (true[:20] == gold[:20]).all()
        assert draw.misleading_share @ MISLEADING_SHARES > 0.5


def test_nobody_answers_twice_and_labels_follow_the_matrices() -> None:
    campaign = Campaign(range(200), [0, 1], COSTS)
    campaign.tell([(item, f"w{w}", item % 2) for item in range(40) for w in range(4)], refit=True)
    rng = np.random.default_rng(0)
    pilot = pilot_of(campaign.view.votes())
    (draw,) = posterior_draws(pilot, 1, rng)
    draw = replace(
        draw, confusion=np.tile(np.eye(2), (4, 1, 1)), kind_confusion=np.eye(2)[None] * 0.98 + 0.01
    )
    crowd = SimulatedCrowd(campaign, [draw], None, rng)
    votes = [vote for _ in range(6) for vote in crowd.answer([Ask(item) for item in range(200)], "crowd")]
    seen = {(item, f"w{w}") for item in range(40) for w in range(4)}
    pairs = [(item, worker) for item, worker, *_ in votes]
    assert len({*pairs, *seen}) == len(pairs) + len(seen)
    assert np.mean([label == draw.consensus[item] for item, _, label, _ in votes]) > 0.95
    campaign.tell(votes)


def test_more_skill_and_a_classifier_cost_less() -> None:
    settings: dict[str, Any] = {"runs": 4, "seed": 0}
    poor, good, helped = (
        forecast_design(150, COSTS, **settings, **more)
        for more in ({"skill": 0.65}, {"skill": 0.9}, {"skill": 0.9, "classifier_accuracy": 0.95})
    )
    total = [f.end("spent").median + f.end("loss").median for f in (poor, good, helped)]
    assert total == sorted(total, reverse=True)
    assert helped.end("votes").median < good.end("votes").median


def test_what_a_designer_expects_of_classes_counts() -> None:
    rare = forecast_design(
        300, COSTS, prevalence=[0.95, 0.05], plan=Plan(policy="fixed[votes=1]"), runs=3, seed=0
    )
    even = forecast_design(300, COSTS, plan=Plan(policy="fixed[votes=1]"), runs=3, seed=0)
    assert rare.best.mean() < even.best.mean()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": 0}, "0 items"),
        ({"skill": 1.0}, "skill is 1.0"),
        ({"spread": 0}, "spread of the skill is 0"),
        ({"prevalence": [0.2, 0.3, 0.5]}, "a share for each of 2 classes"),
        ({"classifier_accuracy": 0.4}, "accuracy of the classifier is 0.4"),
        ({"runs": 0}, "0 runs"),
        ({"level": 1.0}, "level is 1.0"),
    ],
)
def test_a_design_that_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        forecast_design(**{"items": 20, "costs": COSTS, "seed": 0, **options})


def test_questions_that_make_no_sense_are_refused() -> None:
    found = make_forecast([[0.2, 0.1]])
    with pytest.raises(ValueError, match="either a loss or an error rate"):
        found.cost_of()
    with pytest.raises(ValueError, match="no forecast of 'votes'"):
        found.band("votes")
    campaign = Campaign([1, 2], ["a", "b"], COSTS)
    with pytest.raises(ValueError, match="no item 'x'"):
        forecast(campaign, gold={"x": "a"}, seed=0)
    with pytest.raises(ValueError, match="gold label 'c'"):
        forecast(campaign, gold={1: "c"}, seed=0)
    with pytest.raises(ValueError, match="no items"):
        forecast(Campaign([], ["a", "b"], COSTS), seed=0)


def test_nobody_is_simulated_to_vote_where_they_could_not_tell():
    rng = np.random.default_rng(0)
    campaign = Campaign(range(60), ["no", "yes"], Costs.binary(crowd=0.02, expert=0.1))
    campaign.register_worker("eve", "expert")
    for worker in ("ann", "bob", "cem"):
        asks = campaign.ask(worker, 25)
        campaign.tell([(ask.item, worker, rng.choice(["no", "yes"])) for ask in asks[5:]])
        campaign.release(worker, asks[:5], ask_again=False)
    found = forecast(campaign, runs=4, seed=0)
    assert np.isfinite(found.cost).all()
