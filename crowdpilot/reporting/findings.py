"""Findings of a diagnosis as sentences, for the summary of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from crowdpilot.diagnosis import Agreement, Diagnosis
from crowdpilot.diagnosis.votes_needed import MAX_MORE_VOTES
from crowdpilot.reporting.formatting import about, count, listed, percent, shorten
from crowdpilot.reporting.truth import KnownTasks, MetricInterval

Tone = Literal["plain", "good", "warn"]
MAX_CALIBRATION_GAP = 0.02  # between mean confidence and accuracy, that needs no warning
FLAG_SENTENCES = {  # for one worker, for several, and for nobody
    "drifting": ("changes in skill", "change in skill", "changes in skill"),
    "too fast": ("votes too fast", "vote too fast", "votes too fast"),
    "same answer": (
        "nearly always gives the same answer",
        "nearly always give the same answer",
        "nearly always gives the same answer",
    ),
    "fails gold": ("fails on the gold tasks", "fail on the gold tasks", "fails on the gold tasks"),
    "fails trap": ("fails on the trap tasks", "fail on the trap tasks", "fails on the trap tasks"),
}
MEASURE_NAMES = {
    "percent_agreement": "percentage agreement",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "krippendorff_alpha": "Krippendorff's alpha",
}


class Finding(NamedTuple):
    """One or two sentences, and whether they are good, neutral or a warning."""

    tone: Tone
    text: str


def list_findings(
    diagnosis: Diagnosis, known: KnownTasks | None = None, metrics: Sequence[MetricInterval] = ()
) -> list[Finding]:
    """The findings of a diagnosis, the most important first; with the truth, if some is known."""
    findings = [
        None if known is None else truth_finding(known, metrics),
        accuracy_finding(diagnosis),
        agreement_finding(diagnosis),
        *suspect_findings(diagnosis),
        *flag_findings(diagnosis),
        more_votes_finding(diagnosis),
        class_balance_finding(diagnosis),
        missing_columns_finding(diagnosis),
    ]
    return [finding for finding in findings if finding is not None]


def describe_size(diagnosis: Diagnosis) -> str:
    """The numbers of workers, votes, tasks and classes."""
    votes, per_task = diagnosis.votes, np.asarray(diagnosis.tasks["votes"])
    workers, tasks = count(len(votes.workers), "worker"), count(len(votes.tasks), "task")
    classes = count(len(votes.classes), "class", "classes")
    text = f"{workers} gave {count(len(votes), 'vote')} on {tasks} with {classes}."
    if len(per_task) > 1:
        low, high = int(per_task.min()), int(per_task.max())
        each = count(low, "vote") if low == high else f"{low:,} to {count(high, 'vote')}"
        mean = "" if low == high else f", {about(float(per_task.mean()))} on average"
        text += f" Each task has {each}{mean}."
    if votes.dropped:
        what = "row holds no vote and was" if votes.dropped == 1 else "rows hold no vote and were"
        text += f" {votes.dropped:,} {what} left out."
    return text


def accuracy_finding(diagnosis: Diagnosis) -> Finding:
    """How many labels may be wrong, and whether the confidence of the model is above that."""
    estimate, tasks = diagnosis.result.expected_accuracy, len(diagnosis.votes.tasks)
    least, most = (round(tasks * (1 - share)) for share in (estimate.high, estimate.low))
    wrong = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    text = f"Of {count(tasks, 'label')}, about {wrong} may be wrong."
    confidence = float(diagnosis.result.confidence.mean())
    if confidence <= estimate.high + MAX_CALIBRATION_GAP:
        return Finding("plain", text)
    claimed = (
        f"The confidence of {diagnosis.result.model} is {percent(confidence)} on average: it is too sure"
    )
    return Finding("warn", f"{text} {claimed}.")


def truth_finding(known: KnownTasks, metrics: Sequence[MetricInterval]) -> Finding:
    """How many labels are right where the truth is known."""
    n, right = len(known.task), float(known.right.mean())
    gap = float(known.confidence.mean()) - right
    row = next((row for row in metrics if row.name == "accuracy"), None)
    between = f" (between {percent(row.low)} and {percent(row.high)})" if row and row.low < row.high else ""
    way = "high" if gap > 0 else "low"
    calibration = f"but the confidence is {100 * abs(gap):.1f} points too {way} on average"
    calibration = (
        "and the confidence is calibrated on average" if abs(gap) < MAX_CALIBRATION_GAP else calibration
    )
    text = f"Measured on {count(n, 'task')} of known class, {percent(right)} of the labels are right{between}"
    return Finding("good" if abs(gap) < MAX_CALIBRATION_GAP else "warn", f"{text}, {calibration}.")


def agreement_finding(diagnosis: Diagnosis) -> Finding:
    """How much workers agree, by Krippendorff's alpha."""
    row = nominal_alpha(diagnosis)
    if row is None:
        why = (
            "all votes are the same" if (diagnosis.tasks["votes"] > 1).any() else "no task has several votes"
        )
        return Finding("plain", f"Agreement beyond chance is undefined: {why}.")
    strength, tone = _agreement_strength(row.value)
    between = f", between {row.low:.2f} and {row.high:.2f}" if np.isfinite(row[1:4]).all() else ""
    text = f"{strength}: {measure_name(row.measure)} is {row.value:.2f}{between}".replace(" -", " −")
    return Finding(tone, f"{text} (0 is chance, 1 is full agreement).")


def nominal_alpha(diagnosis: Diagnosis) -> Agreement | None:
    """Krippendorff's alpha for nominal classes, if it is defined."""
    rows = [row for row in diagnosis.agreement if row.measure == "krippendorff_alpha"]
    return rows[0] if rows and np.isfinite(rows[0].value) else None


def _agreement_strength(alpha: float) -> tuple[str, Tone]:
    """The agreement in words, by Krippendorff's bounds."""
    if alpha >= 0.8:
        return "The workers agree well", "good"
    if alpha >= 0.667:
        return "The workers agree well enough for tentative conclusions", "plain"
    if alpha >= 0.2:
        return "The workers often disagree, so it matters whom to trust", "warn"
    return "The workers hardly agree more than by chance", "warn"


def measure_name(measure: str) -> str:
    """The name of a measure of agreement for people."""
    known = next((name for name in MEASURE_NAMES if measure.startswith(name)), None)
    if known is None:
        return measure.replace("_", " ")
    kind = measure.removeprefix(known).strip("_")
    return f"{MEASURE_NAMES[known]}, {kind}" if kind else MEASURE_NAMES[known]


def suspect_findings(diagnosis: Diagnosis) -> list[Finding]:
    """Spammers and workers who collude, and how many labels change without them."""
    spammer, colluding = (int(diagnosis.flagged_as(name).sum()) for name in ("spammer", "colluding"))
    found, remedies = [], []
    if spammer:
        what = "looks like a spammer" if spammer == 1 else "look like spammers"
        found.append(f"{_of_workers(diagnosis, spammer)} {what}")
        whom = f"the spammer{'s' * (spammer > 1)}" if colluding else "them" if spammer > 1 else "this one"
        remedies.append(f"removing {whom}")
    if colluding:
        groups = len(np.unique(diagnosis.workers["group"][diagnosis.flagged_as("colluding")]))
        what = "seem to copy from each other" if colluding > 1 else "seems to copy from others"
        found.append(f"{_of_workers(diagnosis, colluding)} {what}, in {count(groups, 'group')}")
        remedies.append(f"counting {'the' if groups == 1 else 'each'} group once")
    if not found:
        return [Finding("good", "No worker looks like a spammer or seems to copy from others.")]
    if diagnosis.without_suspects is not None:
        labels = count(int(diagnosis.changed.sum()), "label")
        if len(found) == 1:
            found = [f"{found[0]}; {remedies[0]} changes {labels}"]
        else:
            found.append(f"{listed(remedies).capitalize()} changes {labels}")
    return [Finding("warn", f"{text}.") for text in found]


def flag_findings(diagnosis: Diagnosis) -> list[Finding]:
    """A sentence for each other flag that someone has, and one for those that nobody has."""
    found, none = [], []
    for flag, (one, many, nobody) in FLAG_SENTENCES.items():
        if n := int(diagnosis.flagged_as(flag).sum()):
            how = _direction(diagnosis) if flag == "drifting" else ""
            found.append(Finding("warn", f"{_of_workers(diagnosis, n)} {one if n == 1 else many}{how}."))
        elif flag in diagnosis.flags:
            none.append(nobody)
    if none:
        found.append(Finding("good", f"No worker {listed(none, 'or')}."))
    return found


def _direction(diagnosis: Diagnosis) -> str:
    change = diagnosis.workers["drift"][diagnosis.flagged_as("drifting")]
    worse, better = int((change < 0).sum()), int((change > 0).sum())
    if worse and better:
        return f": {worse:,} for the worse, {better:,} for the better"
    return ", for the worse" if worse else ", for the better" if better else ""


def more_votes_finding(diagnosis: Diagnosis) -> Finding:
    """How many tasks need more votes, how many in all, and where votes would not help."""
    more, target = diagnosis.tasks["more_votes"], percent(diagnosis.rules.target)
    tasks, below, hopeless = len(more), int((more > 0).sum()), int((more >= MAX_MORE_VOTES).sum())
    if not below:
        some = "Both tasks reach" if tasks == 2 else f"All {tasks:,} tasks reach"
        who = "The only task reaches" if tasks == 1 else some
        return Finding("good", f"{who} the target of {target} confidence.")
    who = "The only task" if tasks == 1 else f"{below:,} of {tasks:,} tasks"
    text = f"{who} {'is' if below == 1 else 'are'} below the target of {target} confidence"
    if hopeless == below:
        return Finding("warn", f"{text}, and more votes of such workers would not help.")
    votes = count(int(more[more < MAX_MORE_VOTES].sum()), "more vote")
    whom = f"{below - hopeless:,} of them" if hopeless else "it" if below == 1 else "them"
    return Finding("warn", f"{text}; about {votes} would bring {whom} there.")


def class_balance_finding(diagnosis: Diagnosis) -> Finding:
    """How unequal the classes are among the labels."""
    names = [f"“{shorten(name, 40)}”" for name in diagnosis.votes.classes.tolist()]
    n = np.bincount(diagnosis.result.codes, minlength=len(names))
    if len(n) < 2:
        return Finding("plain", "There is only one class, so there is nothing to decide.")
    if empty := int((n == 0).sum()):
        rest = "one class is" if empty == 1 else f"{empty:,} classes are"
        return Finding(
            "plain", f"The most frequent label is {names[n.argmax()]}; {rest} the label of no task."
        )
    if n.max() == n.min():
        return Finding("plain", "All classes are equally frequent among the labels.")
    text = (
        f"The most frequent label, {names[n.argmax()]}, occurs {about(n.max() / n.min())} times as often as"
    )
    return Finding("plain", f"{text} the rarest, {names[n.argmin()]}.")


def missing_columns_finding(diagnosis: Diagnosis) -> Finding | None:
    """What cannot be judged, for lack of columns."""
    absent = missing_columns(diagnosis)
    what = {"seconds": "speed", "times": "drift", "gold tasks": "accuracy on gold tasks"}
    text = f"Without {listed(absent, 'or')}, {listed([what[need] for need in absent])} cannot be judged."
    return Finding("plain", text) if absent else None


def missing_columns(diagnosis: Diagnosis) -> list[str]:
    """The optional columns that the votes do not have."""
    votes = diagnosis.votes
    columns = {"seconds": votes.seconds, "times": votes.time, "gold tasks": votes.gold}
    return [name for name, column in columns.items() if column is None]


def _of_workers(diagnosis: Diagnosis, n: int) -> str:
    workers = len(diagnosis.votes.workers)
    return "The only worker" if workers == 1 else f"{n:,} of {workers:,} workers"
