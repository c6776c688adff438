"""Recall and false discovery rate of the flags: `python -m benchmarks.flags --data DIR`.

Simulated crowds with 10 % spammers, 5 % colluding workers in groups of three and 5 % whose skill
drifts: how many of each are found, and how many are flagged in error. Skill intervals are checked
for all workers who do not collude. Seeds are summed up; time is not measured.

With `--data`, real crowds too: the skill of workers beside their accuracy on tasks of known class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.stats import spearmanr

from benchmarks import sets
from benchmarks.experience import experience_without
from benchmarks.honesty_crowds import read_crowd
from benchmarks.process import launch
from benchmarks.tables import NONE, RESULTS, markdown, write
from crowdpilot.aggregation import Auto
from crowdpilot.arrays import Codes, to_probs
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.diagnosis import diagnose, spam_score
from crowdpilot.diagnosis.worker_behaviour import gold_accuracy
from crowdpilot.simulation import Simulation
from crowdpilot.simulation.crowds.one_coin import OneCoin
from crowdpilot.votes import Votes

SPAMMING, COLLUDING, DRIFTING = 0.1, 0.05, 0.05
KINDS = ("spammer", "colluding", "drifting")
MIN_GOLD_VOTES = 10  # votes of a worker on tasks of known class
MIN_INFORMATIVE_SCORE = 0.1  # of a worker by known tasks, from which a flag as a spammer is wrong


@dataclass(frozen=True)
class Setting:
    """A crowd of one size."""

    tasks: int
    votes_per_task: int
    workers: int = 180
    classes: int = 4
    skill: tuple[float, float] = (0.65, 0.95)

    def run(self, seed: int) -> tuple[Simulation, NDArray[np.bool_], NDArray[np.float64]]:
        """The crowd, who spams, and how often each worker who colludes with nobody is right."""
        rng = np.random.default_rng(1000 + seed)
        skill = rng.uniform(*self.skill, self.workers)
        spams = rng.permutation(self.workers) < round(SPAMMING * self.workers)
        skill[spams] = 1 / self.classes
        crowd = OneCoin(
            tasks=self.tasks, workers=self.workers, classes=self.classes, votes_per_task=self.votes_per_task,
            skill=tuple(skill), colluding=COLLUDING, group_size=3, drifting=DRIFTING, seconds=20.0, seed=seed,
        ).run()  # fmt: skip
        return crowd, spams, np.where(crowd.drifting, (skill + 1 / self.classes) / 2, skill)

    def __str__(self) -> str:
        load = self.tasks * self.votes_per_task / self.workers
        shared = load * (self.votes_per_task - 1) / (self.workers - 1)
        low, high = self.skill
        return (
            f"{self.workers} workers, {self.classes} classes, skill {low} to {high}, "
            f"{self.votes_per_task} votes a task, {load:.0f} a worker, pairs meet {shared:.1f} times"
        )


HEADLINE = Setting(tasks=3000, votes_per_task=24)
SETTINGS = (
    HEADLINE,
    Setting(tasks=1500, votes_per_task=24),
    Setting(tasks=1000, votes_per_task=24, workers=60),
    Setting(tasks=3000, votes_per_task=24, classes=2),
    Setting(tasks=3000, votes_per_task=24, classes=10, skill=(0.5, 0.95)),
    Setting(tasks=3000, votes_per_task=5),
)


@dataclass
class FlagCounts:
    """Over seeds: workers of a kind, true positives, flags, and false positives."""

    there: int = 0
    found: int = 0
    flagged: int = 0
    wrong: int = 0
    shares: list[float] = field(default_factory=list)  # of false flags, for each seed

    def add(self, flags: NDArray[np.bool_], true: NDArray[np.bool_], skipped: NDArray[np.bool_]) -> None:
        flags, true = flags[~skipped], true[~skipped]
        wrong = int((flags & ~true).sum())
        self.there += int(true.sum())
        self.found += int((flags & true).sum())
        self.flagged += int(flags.sum())
        self.wrong += wrong
        self.shares.append(wrong / max(int(flags.sum()), 1))

    @property
    def recall(self) -> float:
        return self.found / max(self.there, 1)

    @property
    def false_share(self) -> float:
        return float(np.mean(self.shares))


def measure(setting: Setting, seeds: int) -> dict[str, Any]:
    """Recall and false flags of each kind of worker, and the coverage of intervals."""
    counts = {kind: FlagCounts() for kind in KINDS}
    covered, judged = 0, 0
    for seed in range(seeds):
        crowd, spams, skill = setting.run(seed)
        diagnosis = diagnose(crowd.votes, samples=1)
        colludes = crowd.group >= 0
        nobody = np.zeros(setting.workers, bool)
        counts["colluding"].add(diagnosis.flags["colluding"], colludes, nobody)
        counts["spammer"].add(diagnosis.flags["spammer"], spams, colludes)
        counts["drifting"].add(
            diagnosis.flags["drifting"], crowd.drifting & ~spams, colludes | spams & crowd.drifting
        )
        inside = (diagnosis.workers["skill_low"] <= skill) & (skill <= diagnosis.workers["skill_high"])
        covered += int(inside[~colludes].sum())
        judged += int((~colludes).sum())
    kinds = {
        k: {"there": c.there, "found": c.found, "flagged": c.flagged, "wrong": c.wrong,
            "recall": c.recall, "false_share": c.false_share}
        for k, c in counts.items()
    }  # fmt: skip
    return {"crowd": str(setting), "seeds": seeds, "kinds": kinds, "coverage": covered / judged}


def measure_real(folder: Path) -> dict[str, Any] | None:
    """Skills beside accuracies of a real crowd; None if no worker has enough votes on known tasks.

    The experience is that of all groups of sets but the one that this set belongs to.
    """
    crowd = read_crowd(folder)
    votes = crowd.votes
    model = Auto(experience=experience_without(crowd.group, folder.parent))
    diagnosis = diagnose(votes, model, samples=1)
    count, accuracy = gold_accuracy(votes, crowd.truth)
    judged = count >= MIN_GOLD_VOTES
    if not judged.any():
        return None
    share, smoothed = accuracy[judged], ((count * np.nan_to_num(accuracy) + 0.5) / (count + 1))[judged]
    skill, low, high, own = (
        diagnosis.workers[name][judged] for name in ("skill", "skill_low", "skill_high", "own_skill")
    )
    spams = diagnosis.flags["spammer"] & judged
    wrong = spams & (_known_spam_score(votes, crowd.truth) > MIN_INFORMATIVE_SCORE)
    return {
        "set": crowd.name,
        "workers": int(judged.sum()),
        "accuracy": float(share.mean()),
        "skill": float(skill.mean()),
        "model_skill": float(own.mean()),
        "order": float(spearmanr(skill, share).statistic) if judged.sum() > 2 else None,
        "covered": float(((low <= share) & (share <= high)).mean()),
        "covered_smoothed": float(((low <= smoothed) & (smoothed <= high)).mean()),
        "width": float((high - low).mean()),
        "spammers": int(spams.sum()),
        "spammers_accuracy": float(accuracy[spams].mean()) if spams.any() else None,
        "spammers_wrong": int(wrong.sum()),
        "colluding": int(diagnosis.flags["colluding"].sum()),
    }


def _known_spam_score(votes: Votes, truth: Codes) -> NDArray[np.float64]:
    """How far the labels of each worker depend on the true class, by known tasks, (workers,)."""
    K = len(votes.classes)
    known = np.flatnonzero(truth >= 0)
    probs = np.zeros((len(truth), K))
    probs[known, truth[known]] = 1
    counts = count_labels(votes.merged, probs)
    crowd = to_probs(counts.sum(axis=0) + 0.5)
    return spam_score(to_probs(counts + 2 * crowd))


def summarize_real(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Means over the sets, and over all workers."""
    error = np.array([row["skill"] - row["accuracy"] for row in rows])
    model_error = np.array([row["model_skill"] - row["accuracy"] for row in rows])
    workers = np.array([row["workers"] for row in rows])
    mean = {
        f"mean_{k}": float(np.mean([row[k] for row in rows]))
        for k in ("covered", "covered_smoothed", "width")
    }
    flagged = sum(row["spammers"] for row in rows)
    return mean | {
        "pooled_covered": float(np.average([row["covered"] for row in rows], weights=workers)),
        "pooled_covered_smoothed": float(np.average([r["covered_smoothed"] for r in rows], weights=workers)),
        "sets": float(len(rows)),
        "signed_error": float(error.mean()),
        "absolute_error": float(np.abs(error).mean()),
        "model_signed_error": float(model_error.mean()),
        "model_absolute_error": float(np.abs(model_error).mean()),
        "false_spammers": sum(row["spammers_wrong"] for row in rows) / max(flagged, 1),
    }


def render_real(rows: list[dict[str, Any]]) -> str:
    """The table of real crowds as Markdown."""
    shares = ("accuracy", "skill", "model_skill", "order", "covered", "covered_smoothed", "width")
    header = (
        "set", "workers", "accuracy", "skill", "by the model", "order", "covered", "smoothed",
        "width",         "spammers", "their accuracy", "wrongly", "colluding",
    )  # fmt: skip
    cells = [
        (
            row["set"], str(row["workers"]), *(_share(row[name]) for name in shares), str(row["spammers"]),
            _share(row["spammers_accuracy"]), str(row["spammers_wrong"]), str(row["colluding"]),
        )
        for row in rows
    ]  # fmt: skip
    total = summarize_real(rows)
    return (
        f"\n## Real crowds\n\nWorkers with {MIN_GOLD_VOTES} or more votes on tasks of known class: their "
        "mean accuracy there; their mean skill by the votes alone, with the experience of all other groups "
        "of sets; the skill that the model itself says; the rank correlation of skill and accuracy "
        "(order); how often the 90 % interval of the skill holds the measured accuracy, with the noise of "
        "its few votes, and how often it holds the same with half a vote added on either side (a worker who "
        "is always right on ten tasks need not have the skill 1); the mean width; how many are flagged as "
        "spammers, how accurate these are, and how many of them give labels that do depend on the true "
        f"class; and all who are flagged as colluding.\n\n{markdown(header, cells)}\n\n"
        f"Over {total['sets']:.0f} sets: intervals cover {total['mean_covered']:.3f} "
        f"({total['mean_covered_smoothed']:.3f} smoothed; over all workers {total['pooled_covered']:.3f} and "
        f"{total['pooled_covered_smoothed']:.3f}), mean width {total['mean_width']:.3f}. Mean skill minus "
        f"mean accuracy is {total['signed_error']:+.3f} ({total['model_signed_error']:+.3f} by the model), "
        f"in absolute terms {total['absolute_error']:.3f} ({total['model_absolute_error']:.3f}). Of the "
        f"workers flagged as spammers, {total['false_spammers']:.3f} are flagged in error.\n"
    )


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def render(rows: list[dict[str, Any]]) -> str:
    """The table as Markdown."""
    cells = [
        (
            row["crowd"],
            *(f"{row['kinds'][k]['recall']:.3f} / {row['kinds'][k]['false_share']:.3f}" for k in KINDS),
            f"{row['coverage']:.3f}",
        )
        for row in rows
    ]
    header = ("crowd", *(f"{kind}: found / false" for kind in KINDS), "90 % intervals cover")
    return (
        f"# Flags on simulated crowds\n\n10 % spammers, 5 % colluding in groups of three, 5 % drifting; "
        f"{rows[0]['seeds']} seeds. Found: share of the workers of that kind that are flagged. False: share "
        "of the flags that are wrong, mean over seeds. Colluding workers copy whoever votes first, spammers "
        f"and drifters among them, so what else they are is not judged.\n\n{markdown(header, cells)}"
    )


def main(
    seeds: Annotated[int, typer.Option(help="How many crowds of each size.")] = 20,
    data: Annotated[Path | None, typer.Option(help="Folder of real data sets.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for flags.md and flags.json.")] = RESULTS,
) -> None:
    """Measure recall, false flags and coverage on all settings, and skills on real crowds."""
    rows = [measure(setting, seeds) for setting in SETTINGS]
    real = [] if data is None else [row for row in map(measure_real, sets.find(data)) if row]
    text = render(rows) + (render_real(real) if real else "")
    write(
        output,
        "flags",
        text,
        {"settings": rows, "real": real, "summary": summarize_real(real) if real else None},
    )
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
