"""The table of workers: every score of each worker, and flags on suspicious ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation import Aggregate
from crowdpilot.aggregation.honest import without_honesty
from crowdpilot.arrays import Floats
from crowdpilot.diagnosis.collusion import Collusion
from crowdpilot.diagnosis.drift import Drift, detect_drift
from crowdpilot.diagnosis.false_discovery_rate import Flags, benjamini_hochberg, flag_by_posterior
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.spam import spam_distance, spam_probability, spam_score
from crowdpilot.diagnosis.worker_behaviour import gold_accuracy, label_use, peer_agreement, response_times
from crowdpilot.votes import Votes

Columns = dict[str, NDArray[Any]]  # by name, with one value for each worker or task


@dataclass(frozen=True)
class FlagRules:
    """Thresholds of the flags, the level of intervals, and the confidence that labels should have.

    Parameters
    ----------
    level
        Probability that an interval holds the true skill.
    false_discovery_rate
        Expected share of false flags among all flags for spam, collusion, drift or the same answer.
    min_gold_accuracy
        Accuracy on gold (or trap) tasks below which a worker fails.
    min_gold_votes
        Votes on such tasks below which nobody fails.
    fast_ratio
        A vote is fast if it takes less than this share of the median time of all votes.
    max_fast_share
        Share of fast votes above which a worker is too fast.
    min_same_share
        Share of one label from which a worker gives the same answer.
    target
        Confidence that a label should have; decides how many more votes a task needs.
    """

    level: float = 0.9
    false_discovery_rate: float = 0.05
    min_gold_accuracy: float = 0.8
    min_gold_votes: int = 5
    fast_ratio: float = 1 / 3
    max_fast_share: float = 0.5
    min_same_share: float = 0.9
    target: float = 0.9

    def __post_init__(self) -> None:
        for name in ("level", "false_discovery_rate", "fast_ratio", "target"):
            if not 0 < (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
        for name in ("min_gold_accuracy", "max_fast_share", "min_same_share"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise ValueError(f"{name} is {value}, expected a number from 0 to 1")
        if self.min_gold_votes < 1:
            raise ValueError(f"min_gold_votes is {self.min_gold_votes}, expected 1 or more")


def worker_table(
    result: Aggregate,
    loo: LeaveOneOut,
    collusion: Collusion,
    ability: Floats,
    rules: FlagRules,
    traps: Collection[Any] = (),
    seed: int = 0,
) -> tuple[Columns, dict[str, Flags], Drift | None]:
    """Every score of every worker, the flags that could be judged, and the drift of skills.

    Parameters
    ----------
    result, loo
        Labels, and the leave-one-out posteriors of the votes.
    collusion
        Groups of workers who collude.
    ability
        (workers,); by GLAD.
    rules
        Thresholds of the flags.
    traps
        Names of the tasks of known class that were set as traps.
    seed
        Of the spam probability.
    """
    votes, rate = loo.votes, rules.false_discovery_rate
    skill, low, high = skill_interval(result, rules.level)
    spam = spam_probability(loo, seed)
    use = label_use(loo)
    columns: Columns = {
        "worker": votes.workers,
        "votes": loo.worker_votes,
        "skill": skill,
        "skill_low": low,
        "skill_high": high,
        "own_skill": without_honesty(result).skill,
        "consensus": loo.worker_mean(loo.p_correct),
        "peers": peer_agreement(votes),
        "trace": np.trace(loo.confusion, axis1=1, axis2=2) / len(votes.classes),
        "spam_distance": spam_distance(loo.confusion),
        "spam_score": spam_score(loo.confusion),
        "spam_probability": spam,
        "ability": ability,
    }
    flags = {
        "spammer": flag_by_posterior(spam, rate),
        "colluding": collusion.flags,
        "same answer": benjamini_hochberg(use.p, rate) & (use.share >= rules.min_same_share),
    }
    columns |= {"group": collusion.group, "group_evidence": collusion.log10_ratio}
    columns |= {"top_label": votes.classes[use.label], "top_share": use.share, "excess": use.excess}
    for more_columns, more_flags in (gold_scores(votes, rules, traps), _time_scores(votes, rules)):
        columns, flags = columns | more_columns, flags | more_flags
    drift = None if votes.time is None else detect_drift(loo)
    if drift is not None:
        columns |= {"drift": drift.change, "drift_p": drift.p}
        flags["drifting"] = benjamini_hochberg(drift.p, rate)
    columns["flags"] = _join_flags(flags, len(votes.workers))
    return columns, flags, drift


def gold_scores(
    votes: Votes, rules: FlagRules, traps: Collection[Any] = ()
) -> tuple[Columns, dict[str, Flags]]:
    """Accuracy on tasks whose class is known, and who fails there; traps alone decide if there are any."""
    if votes.gold is None and not len(traps):
        return {}, {}
    kinds = {"gold": np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold}
    if len(traps):
        is_trap = np.isin(votes.tasks.astype(str), [str(task) for task in traps])
        kinds["trap"] = np.where(is_trap, kinds["gold"], -1)
        if (kinds["trap"] < 0).all():
            raise ValueError("no trap is a task whose class is known; give the true labels of the traps")
    columns: Columns = {}
    for kind, gold in kinds.items():
        count, accuracy = gold_accuracy(votes, gold)
        columns |= {f"{kind}_votes": count, f"{kind}_accuracy": accuracy}
    fails = (count >= rules.min_gold_votes) & (np.nan_to_num(accuracy, nan=1.0) < rules.min_gold_accuracy)
    return columns, {f"fails {kind}": fails}


def time_columns(votes: Votes, rules: FlagRules) -> Columns:
    """Quantiles of the seconds per vote of each worker, and the share of fast votes."""
    times = response_times(votes, rules.fast_ratio)
    return {
        "seconds_low": times.p10,
        "median_seconds": times.median,
        "seconds_high": times.p90,
        "fast_share": times.fast_share,
    }


def _time_scores(votes: Votes, rules: FlagRules) -> tuple[Columns, dict[str, Flags]]:
    if votes.seconds is None:
        return {}, {}
    columns = time_columns(votes, rules)
    return columns, {"too fast": np.nan_to_num(columns["fast_share"]) > rules.max_fast_share}


def _join_flags(flags: dict[str, Flags], workers: int) -> NDArray[Any]:
    """The names of the flags of each worker, separated by commas, (workers,)."""
    text = np.full(workers, "", object)
    for name, flagged in flags.items():
        text[flagged] = [f"{names}, {name}" if names else name for names in text[flagged]]
    return text
