"""Replay of one campaign on votes that exist already: curves of votes, cost, loss and error rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.costs_text import as_costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import find_policy
from crowdpilot.hybrid.replay.vote_source import RecordedVotes, Scenario, VoteSource
from crowdpilot.io import as_labels, as_votes
from crowdpilot.notebook_html import curve, number, panel, table
from crowdpilot.votes import Votes

BATCHES_PER_PASS = 50  # a default batch asks about one fiftieth of the items
CURVES = ("votes", "spent", "loss", "error", "expected")


@dataclass(frozen=True, eq=False)
class ReplayResult:
    """What a policy spent and lost after each batch of votes; arrays are (batches + 1,).

    Parameters
    ----------
    policy, seed
        Which policy, with which random order of the votes.
    votes
        Per item.
    spent
        Per item, on votes and classifier.
    loss
        Cost of wrong decisions per item whose truth is known; NaN if none is.
    error
        Share of wrong decisions among these.
    expected
        The loss per item that the campaign itself expected.
    """

    policy: str
    seed: int
    votes: Floats
    spent: Floats
    loss: Floats
    error: Floats
    expected: Floats

    @property
    def total(self) -> float:
        """Spent and lost in the end, per item."""
        return float(self.spent[-1] + self.loss[-1])

    def at(self, votes: float) -> float:
        """The loss with so many votes per item, interpolated."""
        return float(np.interp(votes, self.votes, self.loss))

    def votes_for(self, loss: float) -> float:
        """Votes per item after which the loss is at most this and stays so; infinite if never."""
        above = np.flatnonzero(self.loss > loss + 1e-12)
        after = above[-1] + 1 if len(above) else 0
        return float(self.votes[after]) if after < len(self.votes) else np.inf

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        curves = {name: getattr(self, name).tolist() for name in CURVES}
        return {"policy": self.policy, "seed": self.seed, "total": self.total, "curve": curves}

    def _repr_html_(self) -> str:
        columns = {name: getattr(self, name) for name in CURVES}
        spent, lost = number(float(self.spent[-1])), number(float(self.loss[-1]))
        sparks = [
            curve(self.votes, columns[name], f"{name} by votes") for name in ("loss", "error", "expected")
        ]
        summary = f"of {self.policy}: {spent} spent and {lost} lost per item"
        return panel("ReplayResult", summary, table(columns), sparks=sparks)


def replay(
    votes: Any,
    truth: Any,
    costs: Costs | str | Mapping[str, Any],
    policy: str = "value",
    *,
    classifier_probs: Any = None,
    features: Any = None,
    classifier: Any = None,
    plan: Plan | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    max_votes_per_item: float = np.inf,
) -> ReplayResult:
    """What a policy would have spent and lost on recorded votes, drawn without replacement.

    Parameters
    ----------
    votes
        All recorded votes, as `crowdpilot.read` takes them; their tasks are the items.
    truth
        The true class of tasks by name, in a mapping, a Series, a table or a file; or its code for each task,
        (tasks,), with -1 where it is not known; None for the gold labels of the votes. It is used to measure
        the loss only.
    costs
        Of errors and votes, also as a text or a dict such as `fp=1,fn=5,crowd=0.05`.
    policy
        A name of `POLICIES`, such as `value` or `fixed[votes=3]`.
    classifier_probs
        Fixed probabilities of a classifier, (tasks, classes).
    features, classifier
        Rows for each task, and a classifier that learns from them, as for `Campaign`.
    plan
        Other settings of the campaign; its policy and seed are replaced by those given here.
    seed
        Of the campaign and of the order of the votes.
    batch_size
        Votes that are asked for together; by default a fiftieth of the items, or as many as are
        between two refits if that is more.
    max_votes_per_item
        Votes per item at which to end, if the policy does not end before.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=100, skill=[0.9, 0.8, 0.8, 0.7, 0.7], seed=0)
    >>> costs = Costs.equal(2, crowd=0.02)
    >>> value, majority = (replay(votes, truth, costs, policy) for policy in ("value", "fixed[votes=5]"))
    >>> bool(value.votes[-1] < majority.votes[-1] == 5)
    True
    """
    votes = as_votes(votes)
    if votes.tasks.dtype.kind == "M":  # a campaign holds dates as Python does
        votes = replace(votes, tasks=votes.tasks.astype(object))
    scenario = Scenario(
        votes.tasks, votes.classes, _truth_codes(votes, truth), {"": votes},
        classifier_probs=classifier_probs, features=features, classifier=classifier,
    )  # fmt: skip
    plan = replace(Plan() if plan is None else plan, policy=policy, seed=seed)
    return replay_scenario(
        scenario,
        as_costs(costs, len(votes.classes)),
        plan,
        batch_size=batch_size,
        max_votes_per_item=max_votes_per_item,
    )


def replay_scenario(
    scenario: Scenario,
    costs: Costs,
    plan: Plan,
    *,
    source: VoteSource | None = None,
    batch_size: int | None = None,
    max_votes_per_item: float = np.inf,
    callback: Callable[[Campaign], None] | None = None,
) -> ReplayResult:
    """The same for several criteria, or for another source of votes than the recorded ones.

    Parameters
    ----------
    scenario
        Items, truth and votes.
    costs, plan
        As for `Campaign`; the seed of the plan also shuffles the recorded votes.
    source
        Where votes come from; by default the recorded votes of the scenario.
    batch_size, max_votes_per_item
        As for `replay`.
    callback
        Called with the campaign at the start and after each batch.
    """
    campaign = _campaign(scenario, costs, plan)
    source = RecordedVotes(scenario, plan.seed) if source is None else source
    if batch_size is None:
        batch_size = max(plan.refit_every, len(scenario.items) // BATCHES_PER_PASS)
    campaign.stop(source.exhausted())
    points: list[tuple[float, ...]] = []

    def measure() -> None:
        points.append(_point(campaign, scenario))
        if callback is not None:
            callback(campaign)

    measure()
    while points[-1][0] < max_votes_per_item:
        asks = campaign.ask(None, batch_size)
        if not asks:
            if campaign.view.votes_since_refit == 0:
                break
            campaign.refit()
            continue
        campaign.tell(source.answer(asks))
        campaign.stop(source.exhausted())
        measure()
    return ReplayResult(str(campaign.policy), plan.seed, *np.array(points).T)


def _truth_codes(votes: Votes, truth: Any) -> Codes:
    """The class of each task, (tasks,), -1 where it is not known."""
    if truth is None:
        return np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold
    if not isinstance(truth, np.ndarray | list | tuple):
        return _truth_codes(replace(votes, gold=None).with_gold(as_labels(truth)), None)
    codes = np.asarray(truth)
    K = len(votes.classes)
    if codes.shape != (len(votes.tasks),) or codes.dtype.kind not in "iu":
        raise ValueError(f"the truth has shape {codes.shape}, expected the code of a class for each task")
    if len(codes) and not -1 <= codes.min() <= codes.max() < K:
        raise ValueError(f"a true class is not a code from 0 to {K - 1}, or -1 where it is not known")
    return codes.astype(np.int32)


def _campaign(scenario: Scenario, costs: Costs, plan: Plan) -> Campaign:
    """A new campaign, with what the policy uses of the classifier."""
    seen: dict[str, Any] = {}
    if find_policy(plan.policy).uses_classifier:
        seen = {
            "classifier_probs": scenario.classifier_probs,
            "features": scenario.features,
            "classifier": scenario.classifier,
        }
    return Campaign(scenario.items, scenario.classes, costs, plan=plan, criteria=scenario.criteria, **seen)


def _point(campaign: Campaign, scenario: Scenario) -> tuple[float, float, float, float, float]:
    """Votes, spent, loss, error rate and expected loss, per item."""
    decisions = campaign.decide()
    known = np.flatnonzero(scenario.truth >= 0)
    truth, decided = scenario.truth[known], decisions.codes[known]
    loss = campaign.costs.errors[truth, decided]
    N = len(scenario.items)
    return (
        float(decisions.votes.sum()) / N, campaign.view.spent / N, _mean(loss), _mean(decided != truth),
        float(decisions.expected.mean()),
    )  # fmt: skip


def _mean(values: Any) -> float:
    """NaN if no truth is known."""
    return float(values.mean()) if len(values) else np.nan
