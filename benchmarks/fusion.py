"""Votes and a classifier together, one to three votes a task: `python -m benchmarks.fusion --data DIR`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer

from benchmarks import fusion_calibration
from benchmarks.crowdlab_runner import bayes
from benchmarks.fusion_experience import Teacher
from benchmarks.fusion_sets import NAMES, AssistedCrowd, read_sources
from benchmarks.honesty_measures import Prediction, measure
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.aggregation import Auto, Crowdlab, Fusion, NaiveSoft
from crowdpilot.aggregation.fusion import FusionExperience
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

VOTES_A_TASK = (1, 2, 3)
SEEDS = 3
MEASURES = {"accuracy": "accuracy %", "ece": "ECE %", "log_loss": "log-loss"}
OURS = "`Fusion`"
OTHERS: dict[str, Callable[[Votes, Floats], Floats]] = {
    "shares of votes": lambda votes, _: NaiveSoft().fit(votes).probs,
    "`auto`, votes alone": lambda votes, _: Auto().fit(votes).probs,
    "the classifier alone": lambda _, probs: probs,
    "Bayes' rule": bayes,
    "CROWDLAB": lambda votes, probs: Crowdlab(probs).fit(votes).probs,
}
TEXT = """# Votes and a classifier together

Written by `python -m benchmarks.fusion --data DIR` on {machine}.

{sets} real sets in {groups} groups, thinned to 1, 2 and 3 votes a task ({seeds} random choices of votes). The
classifier is logistic regression on TF-IDF or features, trained on the majority of the thinned votes; it
predicts each fifth of the tasks after training on the others. For CIFAR-10H it is one of three networks,
with votes of people who are not known. Nothing sees the truth: the experience of `Fusion` (weights,
pseudo-votes, how far held-out votes move the weights) is learned for each group from all other groups. Bayes'
rule has the classifier as the prior and Dawid and Skene's confusion matrices. Means over groups, a group of
several sets counts once; ECE with 15 bins of equal width.

## All groups

{overall}
"Behind the best" is how far the accuracy is below the best of the other methods, chosen by the truth for each
set and number of votes after the fact, mean over groups; more than zero is above.

{behind}
## Accuracy and ECE of each set in %

{each}
## Calibration of the classifier alone

The same classifiers, without those of CIFAR-10H, which were not trained on votes. Their probabilities on
held-out tasks after temperature scaling that is fitted without truth, by each `calibrate_by` of
`CrowdClassifier`. "posterior" takes the posterior of Dawid and Skene's model for honest. Means over groups,
one choice of votes; the experience of `Fusion` is that of other groups.

{calibrated}
## Experience

The numbers below are learned, each group's without that group. The rest is not held out: the form of the
rule (vector scaling, the root of the number of votes, a skill and a matrix for each worker), the pseudo-votes
of the crowd, the number of iterations, the bounds of held-out weights, the values that are tried here, and
the rule of `"best"` in calibration were chosen while some sixty variants were compared on these same groups.
Their figures differed little, but those above may be a little too good for a crowd of another kind. `auto`
has its own experience, which includes these sets. Learned from all groups: {experience}. Without a group:

{learned}
"""

Found = dict[tuple[str, int], dict[str, dict[str, float]]]  # by set and votes a task, then by method


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    names: Annotated[str, typer.Option("--sets", help="Sets, with commas.")] = ",".join(NAMES),
    seeds: Annotated[int, typer.Option(help="How many random choices of votes.")] = SEEDS,
    output: Annotated[Path, typer.Option(help="Folder for fusion.md and fusion.json.")] = RESULTS,
) -> None:
    """Learn the experience of each group from all others, and measure it beside other rules."""
    warnings.simplefilter("ignore")
    crowds = []
    for source in read_sources(data, tuple(names.split(","))):
        typer.echo(f"{source.crowd.name}: {source.crowd.votes}", err=True)
        crowds += [source.thinned(n, seed) for n in VOTES_A_TASK for seed in range(seeds)]
    teacher = Teacher([assisted for assisted in crowds if assisted.seed == 0])
    groups = {assisted.crowd.name: assisted.group for assisted in crowds}
    learned = {group: teacher.learn(group) for group in dict.fromkeys(groups.values())}
    found = compare(crowds, learned)
    texts = [c for c in crowds if c.seed == 0 and not c.crowd.name.startswith("cifar10h")]
    record = {
        "machine": machine(),
        "seeds": seeds,
        "groups": groups,
        "experience": _plain(teacher.learn()),
        "learned": {group: _plain(experience) for group, experience in learned.items()},
        "found": [{"set": name, "votes": n, "methods": each} for (name, n), each in found.items()],
        "calibrated": fusion_calibration.calibrations(texts, learned),
    }
    write(output, "fusion", render(record), record)
    typer.echo(render(record))


def compare(crowds: list[AssistedCrowd], learned: dict[str, FusionExperience]) -> Found:
    """The measures of every method, means over seeds."""
    runs: dict[tuple[str, int], dict[str, list[dict[str, float]]]] = {}
    for assisted in crowds:
        crowd, probs = assisted.crowd, assisted.probs
        ours = Fusion(experience=learned[assisted.group]).fit(crowd.votes, probs).probs
        posteriors = {OURS: ours} | {name: method(crowd.votes, probs) for name, method in OTHERS.items()}
        case = runs.setdefault((crowd.name, crowd.votes_a_task or 0), {})
        for name, posterior in posteriors.items():
            measures = asdict(measure(crowd, Prediction(posterior)))
            case.setdefault(name, []).append({key: measures[key] for key in MEASURES})
    return {
        case: {
            name: {key: round(fmean(run[key] for run in each), 5) for key in MEASURES}
            for name, each in methods.items()
        }
        for case, methods in runs.items()
    }


def render(record: dict[str, Any]) -> str:
    """The tables of a record."""
    groups: dict[str, str] = record["groups"]
    found: Found = {(row["set"], row["votes"]): row["methods"] for row in record["found"]}
    methods = [OURS, *OTHERS]

    def mean(values: dict[str, float]) -> float:
        """Over groups, of the values of sets."""
        of_group = [
            [values[name] for name, g in groups.items() if g == group] for group in set(groups.values())
        ]
        return fmean(map(fmean, of_group))

    def mean_of(method: str, key: str, n: int) -> float:
        return mean({name: found[name, n][method][key] for name in groups})

    def mean_gap(n: int) -> float:
        """Of our accuracy to that of the best other method of each set."""
        best = {name: max(found[name, n][other]["accuracy"] for other in OTHERS) for name in groups}
        return mean({name: found[name, n][OURS]["accuracy"] - best[name] for name in groups})

    head = [f"{title}, {n}" for title in MEASURES.values() for n in VOTES_A_TASK]
    overall = [
        [method, *(_show(key, mean_of(method, key, n)) for key in MEASURES for n in VOTES_A_TASK)]
        for method in methods
    ]
    gaps = [mean_gap(n) for n in VOTES_A_TASK]
    each = [
        [f"{name}, {n}", *(f"{100 * m['accuracy']:.1f} / {100 * m['ece']:.1f}" for m in case.values())]
        for (name, n), case in found.items()
    ]
    return TEXT.format(
        machine=record["machine"], sets=len(groups), groups=len(set(groups.values())), seeds=record["seeds"],
        overall=markdown(["votes a task", *head], overall),
        behind=markdown(
            ["votes a task", *map(str, VOTES_A_TASK), "mean"],
            [["accuracy, points", *(f"{100 * gap:+.2f}" for gap in [*gaps, fmean(gaps)])]],
        ),
        each=markdown(["set, votes a task", *next(iter(found.values()))], each),
        calibrated=fusion_calibration.render(record["calibrated"]),
        experience=", ".join(f"{key} {value}" for key, value in record["experience"].items()),
        learned=markdown(
            ["group", *record["experience"]],
            [[group, *map(str, values.values())] for group, values in record["learned"].items()],
        ),
    )  # fmt: skip


def _show(key: str, value: float) -> str:
    return f"{value:.3f}" if key == "log_loss" else f"{100 * value:.1f}"


def _plain(experience: FusionExperience) -> dict[str, float]:
    """The numbers of an experience by name."""
    weights, usual = experience.weights, experience.held_out
    return {
        "classifier": weights.classifier,
        "crowd": weights.crowd,
        "held-out classifier": usual.classifier,
        "held-out crowd": usual.crowd,
        "power": experience.power,
        "crowd accuracy": experience.crowd_accuracy,
        "skill votes": experience.skill_votes,
        "matrix votes": experience.matrix_votes,
    }


if __name__ == "__main__":
    launch(main)
