"""People: how well workers do, by what the campaign believes of their items."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats
from crowdpilot.diagnosis.behaviours import label_use, on_known
from crowdpilot.diagnosis.false_discoveries import by_p
from crowdpilot.diagnosis.leave_one_out import weigh
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.workers import Rules
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import projects, votes, worker_votes, workers
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record
from crowdpilot.votes import Votes

RULES = Rules()
ENOUGH = 5  # votes below which nobody is flagged


class Seen(NamedTuple):
    """All votes of a campaign as they are now, and what is believed of their items."""

    votes: Votes  # tasks are questions about items, workers are numbers of the database
    probs: Floats


class Skill(NamedTuple):
    """How often a worker is right, with an interval, and how they do on items whose class is known."""

    skill: float | None = None
    low: float | None = None
    high: float | None = None
    gold_votes: int = 0
    gold_right: float | None = None
    flags: tuple[str, ...] = ()


def look(replica: Replica, _: Record) -> Seen:
    """The votes and beliefs of a project; with criteria all questions one after the other."""
    campaign = replica.campaign
    N = len(campaign.pool)
    heard = [question.votes() for question in campaign.questions]
    codes = np.concatenate([one.task + q * N for q, one in enumerate(heard)]).astype(np.int32)
    gold = np.concatenate([question.gold for question in campaign.questions])
    names = np.arange(len(gold)), np.array(campaign.staff.names, dtype=object), np.asarray(campaign.classes)
    who, said = (np.concatenate([getattr(one, role) for one in heard]) for role in ("worker", "label"))
    probs = np.concatenate([question.probs for question in campaign.questions])
    return Seen(Votes(codes, who, said, *names, gold=gold), probs)


def judge(seen: Seen) -> dict[int, Skill]:
    """The skill of every worker who has voted, by number."""
    asked = np.unique(seen.votes.task)
    if not len(asked):
        return {}
    given, K = _only(seen.votes, asked), len(seen.votes.classes)
    unknown = np.full(len(given.workers), np.nan)
    evidence = weigh(Aggregate(given, seen.probs[asked], unknown))
    skill, low, high = skill_interval(evidence, RULES.level)
    use = label_use(evidence)
    same = by_p(use.p, RULES.false_share) & (use.share >= RULES.same)
    known = np.full(len(asked), -1, np.int32) if given.gold is None else given.gold
    count, right = on_known(given, known)
    flags = {
        "below chance": high < 1 / K,
        "always the same label": same,
        "wrong on gold": (count >= RULES.gold_votes) & (np.nan_to_num(right, nan=1.0) < RULES.gold),
    }
    return {
        int(name): Skill(_plain(skill[w]), _plain(low[w]), _plain(high[w]), int(count[w]), _plain(right[w]),
                         tuple(flag for flag, mine in flags.items() if mine[w]))
        for w, name in enumerate(given.workers.tolist())
        if evidence.worker_votes[w]
    }  # fmt: skip


def _only(votes_: Votes, asked: Any) -> Votes:
    """The same votes, where items without votes do not exist."""
    gold = None if votes_.gold is None else votes_.gold[asked]
    place = np.searchsorted(asked, votes_.task).astype(np.int32)
    return Votes(place, votes_.worker, votes_.label, asked, votes_.workers, votes_.classes, gold=gold)


def _plain(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


def listed(store: Store, id: str, skills: Mapping[int, Skill]) -> list[dict[str, Any]]:
    """All workers of a project with what they did and how well; who has not voted has no skill."""
    with store.reading() as c:
        projects.find(c, id)
        rows, tally = workers.listed(c, id), votes.tally(c, id)
        paces = [mine["seconds"] for mine in tally.values() if "seconds" in mine]
        hasty = worker_votes.quickest(c, id, RULES.hurry * median(paces)) if len(paces) > 1 else {}
    return [_worker(row, tally.get(row.id, {}), skills.get(row.id, Skill()), hasty) for row in rows]


def _worker(
    row: Record, tally: Mapping[str, float], skill: Skill, hasty: Mapping[int, int]
) -> dict[str, Any]:
    given = int(tally.get(votes.VOTED, 0))
    fast = given >= ENOUGH and hasty.get(row.id, 0) > RULES.hasty * given
    return {
        "worker": row.id, "platform": row.platform, "external": row.external, "kind": row.kind,
        "state": row.state, "approved": row.approved, "votes": given,
        "unsure": int(tally.get(votes.UNSURE, 0)), "seconds": tally.get("seconds"),
        "skill": skill.skill, "low": skill.low, "high": skill.high,
        "gold_votes": skill.gold_votes, "gold_right": skill.gold_right,
        "flags": [*skill.flags, *(["too fast"] if fast else [])],
    }  # fmt: skip
