"""Identifications: one score of workers or tasks at a time, by the name that `crowdpilot identify` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdpilot.aggregation import Aggregator
from crowdpilot.aggregation.honest import without_honesty
from crowdpilot.arrays import Floats, to_probs
from crowdpilot.diagnosis.agreement import measure_agreement
from crowdpilot.diagnosis.collusion import detect_collusion
from crowdpilot.diagnosis.diagnosis import diagnose, fit_glad
from crowdpilot.diagnosis.drift import detect_drift
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut, leave_one_out_posteriors
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.spam import spam_distance, spam_probability, spam_score
from crowdpilot.diagnosis.tasks import entropy
from crowdpilot.diagnosis.worker_behaviour import label_use
from crowdpilot.diagnosis.workers import Columns, FlagRules, gold_scores, time_columns
from crowdpilot.option_strings import did_you_mean
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class Identification:
    """A score by name: its summary, its column, and the function that computes it."""

    summary: str
    score: str  # the column that ranks
    worst_low: bool  # whether low values should be reviewed first
    run: Callable[[Votes, Aggregator], Columns]  # of votes and the model that gives the labels
    brief: tuple[str, ...] = ()  # the columns for a terminal, if there are many

    def worst_first(self, columns: Columns) -> Columns:
        """The rows sorted by the score, the worst first; those without a score last."""
        score = np.asarray(columns[self.score], np.float64)
        key = np.where(np.isnan(score), np.inf, score if self.worst_low else -score)
        order = np.argsort(key, kind="stable")
        return {name: column[order] for name, column in columns.items()}


def find_identification(name: str) -> Identification:
    """The identification of this name, in any case, with hyphens or underscores."""
    plain = name.strip().lower().replace("-", "_")
    if plain in ("aum", "waum", "waum_perworker"):
        raise ValueError(
            f"{name} trains a classifier on the content of the tasks, which votes do not hold; "
            "see score_tasks in crowdpilot.learning.pruning.scoring"
        )
    joined = {known.replace("_", ""): known for known in IDENTIFICATIONS}  # as in krippendorffalpha
    plain = joined.get(plain.replace("_", ""), plain)
    if plain not in IDENTIFICATIONS:
        raise ValueError(f"no identification is called {name!r}{did_you_mean(name, IDENTIFICATIONS)}")
    return IDENTIFICATIONS[plain]


def _head(votes: Votes) -> Columns:
    return {"worker": votes.workers, "votes": np.bincount(votes.worker, minlength=len(votes.workers))}


def _head_and_loo(votes: Votes, model: Aggregator) -> tuple[Columns, LeaveOneOut]:
    return _head(votes), leave_one_out_posteriors(model.fit(votes))


def _entropy(votes: Votes, model: Aggregator) -> Columns:
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    share = np.where(count > 0, entropy(to_probs(votes.tally())), np.nan)
    nats = share * np.log(max(len(votes.classes), 2))
    return {"task": votes.tasks, "votes": count, "entropy": nats, "share_of_most": share}


def _difficulty(votes: Votes, model: Aggregator) -> Columns:
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    return {"task": votes.tasks, "votes": count, "difficulty": fit_glad(votes).difficulty}


def _ability(votes: Votes, model: Aggregator) -> Columns:
    return _head(votes) | {"ability": fit_glad(votes).ability}


def trace_columns(confusion: Floats) -> Columns:
    """Trace of each confusion matrix (workers, true, said), and its share of the largest there can be."""
    trace = np.trace(confusion, axis1=1, axis2=2)
    return {"trace": trace, "share_of_most": trace / confusion.shape[-1]}


def spam_columns(confusion: Floats) -> Columns:
    """Scores that are low for spammers, from confusion matrices (workers, true, said)."""
    return {"spam_score": spam_score(confusion), "spam_distance": spam_distance(confusion)}


def _trace(votes: Votes, model: Aggregator) -> Columns:
    head, loo = _head_and_loo(votes, model)
    return head | trace_columns(loo.confusion)


def _spam(votes: Votes, model: Aggregator) -> Columns:
    head, loo = _head_and_loo(votes, model)
    return head | spam_columns(loo.confusion) | {"spam_probability": spam_probability(loo)}


def _skill(votes: Votes, model: Aggregator) -> Columns:
    result = model.fit(votes)
    skill, low, high = skill_interval(result, FlagRules().level)
    own = without_honesty(result).skill
    return _head(votes) | {"skill": skill, "skill_low": low, "skill_high": high, "own_skill": own}


def _drift(votes: Votes, model: Aggregator) -> Columns:
    head, loo = _head_and_loo(votes, model)
    drift = detect_drift(loo)
    return head | {"drift": drift.change, "drift_p": drift.p}


def _collusion(votes: Votes, model: Aggregator) -> Columns:
    """A row for each pair that shares surprising labels."""
    collusion = detect_collusion(leave_one_out_posteriors(model.fit(votes)))
    pairs = collusion.pairs
    return {
        "worker": votes.workers[pairs.first],
        "with": votes.workers[pairs.second],
        "met": pairs.shared_tasks,
        "same": pairs.same_labels,
        "evidence": pairs.log10_ratio,
        "flagged": collusion.flags[pairs.first] & collusion.flags[pairs.second],
    }


def _seconds(votes: Votes, model: Aggregator) -> Columns:
    return _head(votes) | time_columns(votes, FlagRules())


def _gold(votes: Votes, model: Aggregator) -> Columns:
    if votes.gold is None:
        raise ValueError("no true label is known, so accuracy on gold tasks is not either; give --gold")
    columns, flags = gold_scores(votes, FlagRules())
    return _head(votes) | columns | {"fails": flags["fails gold"]}


def _labels(votes: Votes, model: Aggregator) -> Columns:
    head, loo = _head_and_loo(votes, model)
    use = label_use(loo)
    names = {"top_label": votes.classes[use.label]}
    return head | names | {"top_share": use.share, "excess": use.excess, "p": use.p}


def _alpha(votes: Votes, model: Aggregator) -> Columns:
    rows = [row for row in measure_agreement(replace(votes, weight=None)) if row.measure.startswith("kripp")]
    return {
        name: np.asarray(column)
        for name, column in zip(rows[0]._fields, zip(*rows, strict=True), strict=True)
    }


def _workers(votes: Votes, model: Aggregator) -> Columns:
    return diagnose(votes, model).workers


def _tasks(votes: Votes, model: Aggregator) -> Columns:
    return diagnose(votes, model).tasks


# fmt: off
IDENTIFICATIONS: dict[str, Identification] = {
    "workers": Identification(
        "Every score and flag of the workers.", "skill", True, _workers,
        brief=("worker", "votes", "skill", "skill_low", "skill_high", "spam_score", "flags"),
    ),
    "tasks": Identification(
        "Every score of the tasks.", "review", True, _tasks,
        brief=("task", "label", "confidence", "votes", "difficulty", "more_votes", "why"),
    ),
    "skill": Identification("How often workers are right, with an interval.", "skill", True, _skill),
    "trace_confusion": Identification("Trace of the workers' confusion matrices.", "trace", True, _trace),
    "spam_score": Identification("How far labels of workers depend on the class.", "spam_score", True, _spam),
    "glad": Identification("Ability of the workers by GLAD.", "ability", True, _ability),
    "gold": Identification("Accuracy of the workers on gold tasks.", "gold_accuracy", True, _gold),
    "seconds": Identification("Seconds per vote of the workers.", "median_seconds", True, _seconds),
    "labels": Identification("Labels that workers use too often.", "excess", False, _labels),
    "drift": Identification("Workers whose skill changes over time.", "drift_p", True, _drift),
    "collusion": Identification("Pairs who agree more than skill explains.", "evidence", False, _collusion),
    "entropy": Identification("Entropy of the votes on each task.", "entropy", False, _entropy),
    "difficulty": Identification("Difficulty of the tasks by GLAD.", "difficulty", False, _difficulty),
    "krippendorff_alpha": Identification("Krippendorff's alpha of all votes.", "value", True, _alpha),
}
# fmt: on
