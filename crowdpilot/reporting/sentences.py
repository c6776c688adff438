"""The diagnosis in words: sentences that are right for none, for one and for many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from crowdpilot.diagnosis import Agreement, Diagnosis
from crowdpilot.diagnosis.tasks import MOST
from crowdpilot.reporting.formatting import about, count, listed, percent, shorten
from crowdpilot.reporting.truth import Known, Measure

Tone = Literal["plain", "good", "warn"]
HONEST = 0.02  # difference of confidence and accuracy that nobody needs to mind
FLAGS = {  # what workers with a flag do: one of them, several, and nobody
    "drifting": ("changes while working", "change while they work", "changes while working"),
    "too fast": ("votes too fast to have looked", "vote too fast to have looked", "votes too fast"),
    "same answer": (
        "gives nearly always the same answer",
        "give nearly always the same answer",
        "always gives the same answer",
    ),
    "fails gold": ("fails on the gold tasks", "fail on the gold tasks", "fails on the gold tasks"),
    "fails trap": ("falls into the traps", "fall into the traps", "falls into the traps"),
}
NAMES = {
    "percent_agreement": "percentage agreement",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "krippendorff_alpha": "Krippendorff's alpha",
}


class Finding(NamedTuple):
    """One or two sentences, and whether they are good news."""

    tone: Tone
    text: str


def summary(
    diagnosis: Diagnosis, known: Known | None = None, checks: Sequence[Measure] = ()
) -> list[Finding]:
    """All that the requester should know first; with the truth, if it is known of some tasks."""
    found = [
        None if known is None else truth_in_words(known, checks),
        accuracy_in_words(diagnosis),
        agreement_in_words(diagnosis),
        *suspects_in_words(diagnosis),
        *flags_in_words(diagnosis),
        votes_needed_in_words(diagnosis),
        balance_in_words(diagnosis),
        unjudged_in_words(diagnosis),
    ]
    return [finding for finding in found if finding is not None]


def size_in_words(diagnosis: Diagnosis) -> str:
    """How large the crowd and its work are."""
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


def accuracy_in_words(diagnosis: Diagnosis) -> Finding:
    """How many labels should be right, by the model's own belief."""
    sure = diagnosis.result.confidence
    wrong, tasks = round(float((1 - sure).sum())), len(sure)
    text = f"By its own account the model labels {percent(float(sure.mean()))} of the tasks right"
    text += f": {wrong:,} of {tasks:,} may be wrong." if wrong else "."
    return Finding("plain", f"{text} Real crowds tend to fall short of such accounts.")


def truth_in_words(known: Known, checks: Sequence[Measure]) -> Finding:
    """How many labels are right where the truth is known."""
    n, right = len(known.task), float(known.right.mean())
    gap = float(known.confidence.mean()) - right
    row = next((row for row in checks if row.name == "accuracy"), None)
    between = f" (between {percent(row.low)} and {percent(row.high)})" if row and row.low < row.high else ""
    way = "high" if gap > 0 else "low"
    honest = f"but the confidence is {100 * abs(gap):.1f} points too {way} on average"
    honest = "and the confidence can be believed" if abs(gap) < HONEST else honest
    text = f"Measured on {count(n, 'task')} of known class, {percent(right)} of the labels are right{between}"
    return Finding("good" if abs(gap) < HONEST else "warn", f"{text}, {honest}.")


def agreement_in_words(diagnosis: Diagnosis) -> Finding:
    """How much workers agree, by Krippendorff's alpha."""
    row = alpha_of(diagnosis)
    if row is None:
        why = (
            "all votes are the same" if (diagnosis.tasks["votes"] > 1).any() else "no task has several votes"
        )
        return Finding("plain", f"Agreement beyond chance cannot be told: {why}.")
    strength, tone = _strength(row.value)
    between = f", between {row.low:.2f} and {row.high:.2f}" if np.isfinite(row[1:4]).all() else ""
    text = f"{strength}: {name_of(row.measure)} is {row.value:.2f}{between}".replace(" -", " −")
    return Finding(tone, f"{text} (0 is chance, 1 is full agreement).")


def alpha_of(diagnosis: Diagnosis) -> Agreement | None:
    """Krippendorff's alpha for classes without an order, if it could be computed."""
    rows = [row for row in diagnosis.agreement if row.measure == "krippendorff_alpha"]
    return rows[0] if rows and np.isfinite(rows[0].value) else None


def _strength(alpha: float) -> tuple[str, Tone]:
    """Krippendorff's own bounds for what may be relied on."""
    if alpha >= 0.8:
        return "The workers agree well", "good"
    if alpha >= 0.667:
        return "The workers agree well enough for tentative conclusions", "plain"
    if alpha >= 0.2:
        return "The workers often disagree, so that it matters whom to trust", "warn"
    return "The workers hardly agree more than by chance", "warn"


def name_of(measure: str) -> str:
    """A measure of agreement as people call it."""
    known = next((name for name in NAMES if measure.startswith(name)), None)
    if known is None:
        return measure.replace("_", " ")
    kind = measure.removeprefix(known).strip("_")
    return f"{NAMES[known]}, {kind}" if kind else NAMES[known]


def suspects_in_words(diagnosis: Diagnosis) -> list[Finding]:
    """Spammers and workers who collude, and what becomes of the labels without them."""
    spammer, colluding = (int(diagnosis.who(name).sum()) for name in ("spammer", "colluding"))
    found, remedies = [], []
    if spammer:
        what = "looks like a spammer" if spammer == 1 else "look like spammers"
        found.append(f"{_of_workers(diagnosis, spammer)} {what}")
        whom = f"the spammer{'s' * (spammer > 1)}" if colluding else "them" if spammer > 1 else "this one"
        remedies.append(f"removing {whom}")
    if colluding:
        groups = len(np.unique(diagnosis.workers["group"][diagnosis.who("colluding")]))
        what = "seem to copy from each other" if colluding > 1 else "seems to copy from others"
        found.append(f"{_of_workers(diagnosis, colluding)} {what}, in {count(groups, 'group')}")
        remedies.append(f"counting {'the' if groups == 1 else 'each'} group once")
    if not found:
        return [Finding("good", "No worker looks like a spammer or seems to copy from others.")]
    if diagnosis.without is not None:
        labels = count(int(diagnosis.changed.sum()), "label")
        if len(found) == 1:
            found = [f"{found[0]}; {remedies[0]} changes {labels}"]
        else:
            found.append(f"{listed(remedies).capitalize()} changes {labels}")
    return [Finding("warn", f"{text}.") for text in found]


def flags_in_words(diagnosis: Diagnosis) -> list[Finding]:
    """The other flags: a sentence for each that someone has, one for all that nobody has."""
    found, none = [], []
    for flag, (one, many, nobody) in FLAGS.items():
        if n := int(diagnosis.who(flag).sum()):
            how = _direction(diagnosis) if flag == "drifting" else ""
            found.append(Finding("warn", f"{_of_workers(diagnosis, n)} {one if n == 1 else many}{how}."))
        elif flag in diagnosis.flags:
            none.append(nobody)
    if none:
        found.append(Finding("good", f"No worker {listed(none, 'or')}."))
    return found


def _direction(diagnosis: Diagnosis) -> str:
    change = diagnosis.workers["drift"][diagnosis.who("drifting")]
    worse, better = int((change < 0).sum()), int((change > 0).sum())
    if worse and better:
        return f": {worse:,} for the worse, {better:,} for the better"
    return ", for the worse" if worse else ", for the better" if better else ""


def votes_needed_in_words(diagnosis: Diagnosis) -> Finding:
    """How many tasks need more votes, how many in all, and where votes would not help."""
    more, target = diagnosis.tasks["more_votes"], percent(diagnosis.rules.target)
    tasks, needy, hopeless = len(more), int((more > 0).sum()), int((more >= MOST).sum())
    if not needy:
        some = "Both tasks reach" if tasks == 2 else f"All {tasks:,} tasks reach"
        who = "The only task reaches" if tasks == 1 else some
        return Finding("good", f"{who} the target of {target} confidence.")
    who = "The only task" if tasks == 1 else f"{needy:,} of {tasks:,} tasks"
    text = f"{who} {'is' if needy == 1 else 'are'} below the target of {target} confidence"
    if hopeless == needy:
        return Finding("warn", f"{text}, and more votes of such workers would not help.")
    votes = count(int(more[more < MOST].sum()), "more vote")
    whom = f"{needy - hopeless:,} of them" if hopeless else "it" if needy == 1 else "them"
    return Finding("warn", f"{text}; about {votes} would bring {whom} there.")


def balance_in_words(diagnosis: Diagnosis) -> Finding:
    """How unequal the classes are among the labels."""
    names = [f"“{shorten(name, 40)}”" for name in diagnosis.votes.classes.tolist()]
    n = np.bincount(diagnosis.result.codes, minlength=len(names))
    if len(n) < 2:
        return Finding("plain", "There is one class only, so that there is nothing to decide.")
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


def unjudged_in_words(diagnosis: Diagnosis) -> Finding | None:
    """What the votes do not tell."""
    lost = missing(diagnosis)
    what = {"seconds": "haste", "times": "drift", "gold tasks": "accuracy on known tasks"}
    text = f"Without {listed(lost, 'or')}, {listed([what[need] for need in lost])} cannot be judged."
    return Finding("plain", text) if lost else None


def missing(diagnosis: Diagnosis) -> list[str]:
    """What could have been recorded besides the votes, and was not."""
    votes = diagnosis.votes
    given = {"seconds": votes.seconds, "times": votes.time, "gold tasks": votes.gold}
    return [name for name, column in given.items() if column is None]


def _of_workers(diagnosis: Diagnosis, n: int) -> str:
    workers = len(diagnosis.votes.workers)
    return "The only worker" if workers == 1 else f"{n:,} of {workers:,} workers"
