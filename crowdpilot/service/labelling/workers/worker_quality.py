"""Worker quality: the accuracy of each worker with an interval, and flags, by the posterior of a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats
from crowdpilot.diagnosis.false_discovery_rate import benjamini_hochberg
from crowdpilot.diagnosis.leave_one_out import leave_one_out_posteriors
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.worker_behaviour import gold_accuracy, label_use
from crowdpilot.diagnosis.workers import FlagRules
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import projects, votes, workers
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.votes import Votes

RULES = FlagRules()
MIN_VOTES_TO_FLAG = 5


class VotesAndPosterior(NamedTuple):
    """All votes of a campaign as they are now, and the posterior of their items."""

    votes: Votes  # tasks are questions about items, workers are numbers of the database
    posterior: Floats  # (tasks, classes)


class Skill(NamedTuple):
    """Estimated accuracy of a worker with an interval, and their accuracy on items whose class is known."""

    skill: float | None = None
    low: float | None = None
    high: float | None = None
    gold_votes: int = 0
    gold_right: float | None = None
    flags: tuple[str, ...] = ()


def read_votes(replica: Replica, _: Row) -> VotesAndPosterior:
    """The votes and posteriors of a project; with criteria all questions one after the other."""
    campaign, view = replica.campaign, replica.campaign.view
    by_question = [view.votes(criterion) for criterion in campaign.criteria]
    task = np.concatenate([v.task + q * len(campaign) for q, v in enumerate(by_question)]).astype(np.int32)
    worker = np.concatenate([v.worker for v in by_question])
    label = np.concatenate([v.label for v in by_question])
    gold = view.items().gold.T.ravel()
    workers_ = np.array(view.workers().names, dtype=object)
    posterior = np.concatenate([view.estimates(criterion).posterior for criterion in campaign.criteria])
    names = np.arange(len(gold)), workers_, np.asarray(campaign.classes)
    return VotesAndPosterior(Votes(task, worker, label, *names, gold=gold), posterior)


def worker_skills(campaign: VotesAndPosterior) -> dict[int, Skill]:
    """The skill of every worker who has voted, by their number in the database."""
    voted = np.unique(campaign.votes.task)
    if not len(voted):
        return {}
    with_votes, K = campaign.votes.select(tasks=voted), len(campaign.votes.classes)
    unknown = np.full(len(with_votes.workers), np.nan)
    result = Aggregate(with_votes, campaign.posterior[voted], unknown)
    loo = leave_one_out_posteriors(result)
    skill, low, high = skill_interval(result, RULES.level)
    use = label_use(loo)
    same = benjamini_hochberg(use.p, RULES.false_discovery_rate) & (use.share >= RULES.min_same_share)
    known = np.full(len(voted), -1, np.int32) if with_votes.gold is None else with_votes.gold
    count, right = gold_accuracy(with_votes, known)
    flags = {
        "below chance": high < 1 / K,
        "always the same label": same,
        "wrong on gold": (count >= RULES.min_gold_votes)
        & (np.nan_to_num(right, nan=1.0) < RULES.min_gold_accuracy),
    }
    return {
        int(name): Skill(_plain(skill[w]), _plain(low[w]), _plain(high[w]), int(count[w]), _plain(right[w]),
                         tuple(flag for flag, mine in flags.items() if mine[w]))
        for w, name in enumerate(with_votes.workers.tolist())
        if loo.worker_votes[w]
    }  # fmt: skip


def _plain(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


def list_workers(store: Store, id: str, skills: Mapping[int, Skill]) -> list[dict[str, Any]]:
    """All workers of a project with their votes, speed, skill and flags; without votes they have no skill."""
    with store.reading() as c:
        spec = projects.find(c, id).spec
        rows, tally = workers.list_all(c, id), votes.counts_by_worker(c, id)
        paces = [mine["seconds"] for mine in tally.values() if "seconds" in mine]
        hasty = votes.fast_votes_by_worker(c, id, RULES.fast_ratio * median(paces)) if len(paces) > 1 else {}
        records = trust.read_records(c, spec, [row.id for row in rows if not row.trusted])
    known = {worker: _skill_on_gold(record) for worker, record in records.items()} | dict(skills)
    return [_worker(row, tally.get(row.id, {}), known.get(row.id, Skill()), hasty) for row in rows]


def _skill_on_gold(record: trust.GoldRecord) -> Skill:
    """What is known of a guest whose votes do not count: their answers to gold items."""
    right = record.right / record.answers
    is_wrong = record.answers >= RULES.min_gold_votes and right < RULES.min_gold_accuracy
    flags = ("wrong on gold",) if is_wrong else ()
    return Skill(gold_votes=record.answers, gold_right=_plain(right), flags=flags)


def _worker(row: Row, tally: Mapping[str, float], skill: Skill, hasty: Mapping[int, int]) -> dict[str, Any]:
    count = int(tally.get(votes.VOTED, 0))
    fast = count >= MIN_VOTES_TO_FLAG and hasty.get(row.id, 0) > RULES.max_fast_share * count
    return {
        "worker": row.id, "platform": row.platform, "external": row.external, "kind": row.kind,
        "state": row.state, "approved": row.approved, "counted": row.trusted, "votes": count,
        "unsure": int(tally.get(votes.UNSURE, 0)), "seconds": tally.get("seconds"),
        "skill": skill.skill, "low": skill.low, "high": skill.high,
        "gold_votes": skill.gold_votes, "gold_right": skill.gold_right,
        "flags": [*skill.flags, *(["too fast"] if fast else [])],
    }  # fmt: skip
