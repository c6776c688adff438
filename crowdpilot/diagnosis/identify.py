"""One score of workers or tasks at a time, by the names that people know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdpilot.aggregation import Aggregator
from crowdpilot.arrays import to_probs
from crowdpilot.diagnosis.agreement import agreement
from crowdpilot.diagnosis.worker_behaviour import label_use, pace
from crowdpilot.diagnosis.collusion import collusion
from crowdpilot.diagnosis.diagnosis import diagnose, fit_glad
from crowdpilot.diagnosis.drift import drift
from crowdpilot.diagnosis.leave_one_out import Evidence, weigh
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.spam import spam_distance, spam_probability, spam_score
from crowdpilot.diagnosis.tasks import entropy
from crowdpilot.diagnosis.workers import Columns, Rules, on_gold
from crowdpilot.option_strings import did_you_mean
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class Identification:
    """A score by name: what it says, its column, and how it is made."""

    summary: str
    score: str  # the column that ranks
    worst_low: bool  # whether low values are the ones to look at
    run: Callable[[Votes, Aggregator], Columns]  # of votes and the model that gives the labels
    brief: tuple[str, ...] = ()  # the columns for a narrow place, if there are many

    def worst_first(self, columns: Columns) -> Columns:
        """The rows in the order in which people should look at them; those without a score last."""
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
    if plain not in IDENTIFICATIONS:
        raise ValueError(f"no identification is called {name!r}{did_you_mean(name, IDENTIFICATIONS)}")
    return IDENTIFICATIONS[plain]


def _head(votes: Votes) -> Columns:
    return {"worker": votes.workers, "votes": np.bincount(votes.worker, minlength=len(votes.workers))}


def _weighed(votes: Votes, model: Aggregator) -> tuple[Columns, Evidence]:
    return _head(votes), weigh(model.fit(votes))


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


def _trace(votes: Votes, model: Aggregator) -> Columns:
    head, evidence = _weighed(votes, model)
    trace = np.trace(evidence.confusion, axis1=1, axis2=2)
    return head | {"trace": trace, "share_of_most": trace / len(votes.classes)}


def _spam(votes: Votes, model: Aggregator) -> Columns:
    head, evidence = _weighed(votes, model)
    scores = {
        "spam_score": spam_score(evidence.confusion),
        "spam_distance": spam_distance(evidence.confusion),
    }
    return head | scores | {"spam_probability": spam_probability(evidence)}


def _skill(votes: Votes, model: Aggregator) -> Columns:
    result = model.fit(votes)
    skill, low, high = skill_interval(weigh(result), Rules().level)
    return _head(votes) | {"skill": skill, "skill_low": low, "skill_high": high, "own_skill": result.skill}


def _drift(votes: Votes, model: Aggregator) -> Columns:
    head, evidence = _weighed(votes, model)
    found = drift(evidence)
    return head | {"drift": found.change, "drift_p": found.p}


def _collusion(votes: Votes, model: Aggregator) -> Columns:
    """A row for each pair that shares surprising labels."""
    found = collusion(weigh(model.fit(votes)))
    pairs = found.pairs
    return {
        "worker": votes.workers[pairs.first],
        "with": votes.workers[pairs.second],
        "met": pairs.met,
        "same": pairs.same,
        "evidence": pairs.ratio,
        "flagged": found.flags[pairs.first] & found.flags[pairs.second],
    }


def _seconds(votes: Votes, model: Aggregator) -> Columns:
    found = pace(votes, Rules().hurry)
    bounds = {"seconds_low": found.low, "median_seconds": found.median, "seconds_high": found.high}
    return _head(votes) | bounds | {"fast_share": found.hasty}


def _gold(votes: Votes, model: Aggregator) -> Columns:
    if votes.gold is None:
        raise ValueError("no true label is known, without which nobody can be tried; give them with --gold")
    columns, flags = on_gold(votes, Rules())
    return _head(votes) | columns | {"fails": flags["fails gold"]}


def _labels(votes: Votes, model: Aggregator) -> Columns:
    head, evidence = _weighed(votes, model)
    use = label_use(evidence)
    names = {"top_label": votes.classes[use.label]}
    return head | names | {"top_share": use.share, "excess": use.excess, "p": use.p}


def _alpha(votes: Votes, model: Aggregator) -> Columns:
    rows = [row for row in agreement(replace(votes, weight=None)) if row.measure.startswith("kripp")]
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
    "spam_score": Identification("How much workers' labels say of the class.", "spam_score", True, _spam),
    "glad": Identification("Ability of the workers by GLAD.", "ability", True, _ability),
    "gold": Identification("Accuracy of the workers on gold tasks.", "gold_accuracy", True, _gold),
    "seconds": Identification("How fast the workers are.", "median_seconds", True, _seconds),
    "labels": Identification("Labels that workers use too often.", "excess", False, _labels),
    "drift": Identification("Workers whose skill changes over time.", "drift_p", True, _drift),
    "collusion": Identification("Pairs who agree more than skill explains.", "evidence", False, _collusion),
    "entropy": Identification("Entropy of the votes on each task.", "entropy", False, _entropy),
    "difficulty": Identification("Difficulty of the tasks by GLAD.", "difficulty", False, _difficulty),
    "krippendorff_alpha": Identification("Krippendorff's alpha of all votes.", "value", True, _alpha),
}
# fmt: on
