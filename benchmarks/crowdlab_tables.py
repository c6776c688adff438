"""The page beside cleanlab in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

from benchmarks.tables import NONE, markdown

Measured = dict[str, Any]
Show = Callable[[Measured], str]

LISTED = {
    "majority": "majority vote",
    "classifier": "the classifier alone",
    "auto": "`auto`, votes alone",
    "crowdlab": "`crowdlab`",
    "crowdlab, 2 passes": "`crowdlab[passes=2]`",
    "Bayes": "Bayes' rule",
    "fusion": "`Fusion`",
    "cleanlab": "cleanlab",
    "cleanlab, calibrated": "cleanlab, `calibrate_probs=True`",
    "cleanlab, labels alone": "cleanlab, labels and scores alone",
}


def render(record: Measured) -> str:
    """The report, of the parts that have been measured."""
    text = TEXT
    if part := record.get("sets"):
        text += SETS.format(**part) + _sizes(part["crowds"])
        text += f"\n### Accuracy %\n\n{_by_set(part['crowds'], 'accuracy')}"
        text += f"\n### Accuracy beside cleanlab\n\n{BESIDE}{_beside(part['crowds'])}"
        text += f"\n### ECE % of the confidence\n\n{_by_set(part['crowds'], 'ece')}"
        text += f"\n### Whether what is wrong is unsure\n\n{AUROC}{_by_set(part['crowds'], 'auroc')}"
    if part := record.get("large"):
        text += LARGE.format(**part["limits"], **part)
        text += "".join(_large(title, crowd) for title, crowd in part["crowds"].items())
    return text


def _sizes(crowds: Measured) -> str:
    columns = ("tasks", "workers", "classes", "votes", "gold")
    rows = [[name, *(f"{crowd[c]:,}" for c in columns)] for name, crowd in crowds.items()]
    return markdown(["set", *columns[:-1], "of known class"], rows)


def _table(crowds: Measured, show: Show, mean: Callable[[list[Measured]], str] | None = None) -> str:
    """A row for each method and a column for each set; a mean only where all sets have a value."""
    methods = [m for m in LISTED if any(m in crowd["methods"] for crowd in crowds.values())]
    rows = []
    for method in methods:
        found = [crowd["methods"][method] for crowd in crowds.values()]
        row = [LISTED[method], *(NONE if "reason" in own else show(own) for own in found)]
        if mean:
            row.append(NONE if any("reason" in own for own in found) else mean(found))
        rows.append(row)
    return markdown(["", *crowds, *(["mean"] if mean else [])], rows)


def _by_set(crowds: Measured, measure: str) -> str:
    def show(own: Measured) -> str:
        return f"{100 * fmean(own[measure]):.1f}" if own[measure] else NONE

    def mean(found: list[Measured]) -> str:
        if not all(own[measure] for own in found):
            return NONE
        return f"{100 * fmean(fmean(own[measure]) for own in found):.1f}"

    return _table(crowds, show, mean)


def _beside(crowds: Measured) -> str:
    def show(own: Measured) -> str:
        if "more_accurate" not in own:
            return NONE
        more, error = own["more_accurate"]
        return f"{100 * more:+.1f} ± {100 * error:.1f}"

    return _table(crowds, show)


def _large(title: str, crowd: Measured) -> str:
    header = ["", "seconds", "loading s", "MB before", "MB at peak", "accuracy %", "ECE %"]
    rows, reasons = [], ""
    for method, own in crowd["methods"].items():
        if "reason" in own:
            rows.append([LISTED[method], *[NONE] * (len(header) - 1)])
            reasons += f"\n{LISTED[method]}: {own['reason']}\n"
            continue
        times = [f"{seconds:.2f}" for seconds in (own["seconds"][0], own["load_seconds"])]
        memory = [f"{own[c]:,.0f}" for c in ("memory_before_mb", "memory_peak_mb")]
        scores = [f"{100 * own[c][0]:.1f}" for c in ("accuracy", "ece")]
        rows.append([LISTED[method], *times, *memory, *scores])
    return f"\n### {title}, {crowd['votes']:,} votes\n\n{markdown(header, rows)}{reasons}"


TEXT = """# A classifier and a crowd, beside cleanlab

Written by `python -m benchmarks.crowdlab --data DIR`. cleanlab 2.9.0 in an environment of its own.

All methods get the same votes and the same probabilities of one classifier: logistic regression of
scikit-learn with its default settings, trained on majority votes, which predicts each fifth of the
tasks after training on the others. It sees TF-IDF of words and pairs of words, or standardised
features. No method sees the truth. cleanlab is `get_label_quality_multiannotator` with its defaults, and
its confidence the `consensus_quality_score`: what its documentation calls the confidence that the label is
correct, a number between 0 and 1. Its `calibrate_probs`, which is off by default, first fits a
temperature of the classifier to the votes.

Ours: `auto` sees votes alone. `crowdlab` is the same algorithm as cleanlab's. After one pass its labels are
those of cleanlab, after two its probabilities are cleanlab's scores; by default it takes both from the
first pass, cleanlab the scores from the second. Bayes' rule has the classifier as the prior and Dawid and
Skene's matrices of the workers. `Fusion` is the model of the library; the five sets here are among those that
its experience was learned from, and `fusion.md` has figures of groups that were left out. The settings of
`auto` were chosen on sets by their truth, too, and the five sets here are among them.
"""
SETS = """
## Real crowds

Means of {runs} runs with other folds. Measured on {machine}.

"""
BESIDE = """Percentage points more than cleanlab with its defaults, on the same tasks; ± the standard error
over tasks.

"""
AUROC = """How often a right label has more confidence than a wrong one, in % of such pairs (AUROC); 50 is
chance. A score that ranks well finds the labels to look at again, even if its value is no probability.

"""
LARGE = """
## Large crowds

Simulated: workers are right in 50 to 95 of 100 cases, 5 votes for each task in random order, 10 classes, and
a classifier whose log-odds are noisy. One run in a process of its own, with one thread, at most {seconds:g}
seconds and {gigabytes:g} GB of address space. "Loading" turns columns of codes into what is taken (ours:
`Votes`; cleanlab: an array of tasks x workers); "seconds" is from there to labels and confidence, compilation
included. "MB before" is the most memory that the process held until then, imports and data included.
Measured on {machine}, under a load average of {load} when it began.
"""
