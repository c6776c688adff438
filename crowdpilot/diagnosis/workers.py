"""Whom to trust: a table of workers and flags on some."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats
from crowdpilot.diagnosis.behaviours import label_use, on_known, pace, peer_agreement
from crowdpilot.diagnosis.collusion import Collusion
from crowdpilot.diagnosis.drift import Drift, drift
from crowdpilot.diagnosis.false_discoveries import Flags, by_p, by_probability
from crowdpilot.diagnosis.leave_one_out import Evidence
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.spam import spam_distance, spam_probability, spam_score
from crowdpilot.votes import Votes

Columns = dict[str, NDArray[Any]]  # by name, with one value for each worker or task


@dataclass(frozen=True)
class Rules:
    """When a worker is flagged, and how sure the rest should be.

    Parameters
    ----------
    level
        How often an interval should hold the true skill.
    false_share
        Share of those flagged as spammers, colluding, drifting or giving the same answer that may
        be flagged in error, on average.
    gold
        Share of the gold (or trap) tasks that a worker should get right.
    gold_votes
        Votes on them below which nobody is judged.
    hurry
        A vote is hasty if it takes less than this share of the crowd's median time.
    hasty
        Share of hasty votes above which a worker is too fast.
    same
        Share of one label above which it is "always the same".
    target
        Confidence that a label should have; decides how many more votes a task needs.
    """

    level: float = 0.9
    false_share: float = 0.05
    gold: float = 0.8
    gold_votes: int = 5
    hurry: float = 1 / 3
    hasty: float = 0.5
    same: float = 0.9
    target: float = 0.95

    def __post_init__(self) -> None:
        for name in ("level", "false_share", "hurry", "target"):
            if not 0 < (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
        for name in ("gold", "hasty", "same"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise ValueError(f"{name} is {value}, expected a number from 0 to 1")
        if self.gold_votes < 1:
            raise ValueError(f"gold_votes is {self.gold_votes}, expected 1 or more")


def table_of_workers(
    result: Aggregate,
    evidence: Evidence,
    together: Collusion,
    ability: Floats,
    rules: Rules,
    traps: Collection[Any] = (),
    seed: int = 0,
) -> tuple[Columns, dict[str, Flags], Drift | None]:
    """Every score of every worker, the flags that could be judged, and how skills change."""
    votes = evidence.votes
    skill, low, high = skill_interval(evidence, rules.level)
    spam = spam_probability(evidence, seed)
    use = label_use(evidence)
    columns: Columns = {
        "worker": votes.workers,
        "votes": evidence.worker_votes,
        "skill": skill,
        "skill_low": low,
        "skill_high": high,
        "own_skill": result.skill,
        "consensus": evidence.by_worker(evidence.right),
        "peers": peer_agreement(votes),
        "trace": np.trace(evidence.confusion, axis1=1, axis2=2) / len(votes.classes),
        "spam_distance": spam_distance(evidence.confusion),
        "spam_score": spam_score(evidence.confusion),
        "spam_probability": spam,
        "ability": ability,
    }
    flags = {
        "spammer": by_probability(spam, rules.false_share),
        "colluding": together.flags,
        "same answer": by_p(use.p, rules.false_share) & (use.share >= rules.same),
    }
    columns |= {"group": together.group, "group_evidence": together.evidence}
    columns |= {"top_label": votes.classes[use.label], "top_share": use.share, "excess": use.excess}
    for more, judged in (on_gold(votes, rules, traps), _paced(votes, rules)):
        columns, flags = columns | more, flags | judged
    change = None if votes.time is None else drift(evidence)
    if change is not None:
        columns |= {"drift": change.change, "drift_p": change.p}
        flags["drifting"] = by_p(change.p, rules.false_share)
    columns["flags"] = _words(flags, len(votes.workers))
    return columns, flags, change


def on_gold(votes: Votes, rules: Rules, traps: Collection[Any] = ()) -> tuple[Columns, dict[str, Flags]]:
    """How workers do on tasks whose class is known; traps alone decide if there are any."""
    if votes.gold is None and not len(traps):
        return {}, {}
    kinds = {"gold": np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold}
    if len(traps):
        set_up = np.isin(votes.tasks.astype(str), [str(task) for task in traps])
        kinds["trap"] = np.where(set_up, kinds["gold"], -1)
        if (kinds["trap"] < 0).all():
            raise ValueError("no trap is a task whose class is known; give the true labels of the traps")
    columns: Columns = {}
    for kind, gold in kinds.items():
        count, accuracy = on_known(votes, gold)
        columns |= {f"{kind}_votes": count, f"{kind}_accuracy": accuracy}
    fails = (count >= rules.gold_votes) & (np.nan_to_num(accuracy, nan=1.0) < rules.gold)
    return columns, {f"fails {kind}": fails}


def _paced(votes: Votes, rules: Rules) -> tuple[Columns, dict[str, Flags]]:
    if votes.seconds is None:
        return {}, {}
    found = pace(votes, rules.hurry)
    columns: Columns = {
        "seconds_low": found.low,
        "median_seconds": found.median,
        "seconds_high": found.high,
        "fast_share": found.hasty,
    }
    return columns, {"too fast": np.nan_to_num(found.hasty) > rules.hasty}


def _words(flags: dict[str, Flags], workers: int) -> NDArray[Any]:
    """The flags of each worker in words."""
    words = np.full(workers, "", object)
    for name, flagged in flags.items():
        words[flagged] = [f"{word}, {name}" if word else name for word in words[flagged]]
    return words
