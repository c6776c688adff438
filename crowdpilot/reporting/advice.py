"""What to do next, from what was found."""

from __future__ import annotations

import shlex
from typing import NamedTuple

import numpy as np

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.diagnosis.false_discoveries import Flags
from crowdpilot.diagnosis.tasks import MOST
from crowdpilot.reporting.formatting import count, listed, percent, shorten
from crowdpilot.reporting.sentences import missing
from crowdpilot.reporting.tables import ROWS, to_review
from crowdpilot.reporting.task_cards import AMBIGUITY, ambiguity_of, lowest

NAMED = 12  # workers that are named; the file has them all
ASKED = 100  # labels that an expert should look at, at most


class Action(NamedTuple):
    """Something to do: why, the command if there is one, and the rows of a table to download for it."""

    title: str
    text: str
    command: str = ""
    table: str = ""  # "workers" or "tasks"
    rows: tuple[int, ...] = ()
    file: str = ""


def advise(diagnosis: Diagnosis, source: str = "VOTES", *, checked: bool = False) -> list[Action]:
    """Concrete steps, the most useful first.

    Parameters
    ----------
    diagnosis
        What was found.
    source
        The file of votes, for the commands.
    checked
        Whether labels were compared with the truth already.
    """
    found = [
        _leave_out(diagnosis, source),
        _look(diagnosis),
        _doubt(diagnosis),
        _ask_more(diagnosis),
        None if checked else _check(diagnosis, source),
        _record(diagnosis),
    ]
    return [action for action in found if action is not None]


def _leave_out(diagnosis: Diagnosis, source: str) -> Action | None:
    spammer, echo = diagnosis.who("spammer"), _echoes(diagnosis)
    who = np.flatnonzero(spammer | echo)
    if not len(who) or diagnosis.without is None:
        return None
    names = [shorten(name, 24) for name in diagnosis.votes.workers[who[:NAMED]].tolist()]
    rest = [f"{len(who) - NAMED:,} more"] if len(who) > NAMED else []
    share = percent(float(diagnosis.workers["votes"][who].sum()) / len(diagnosis.votes))
    kept = " Of each group that copies, the one with most votes is kept." if echo.any() else ""
    return Action(
        f"Leave out {count(len(who), 'suspicious worker')} and run again",
        f"{listed([*names, *rest])} gave {share} of the votes.{kept} Read some of their answers first.",
        f"crowdpilot aggregate {shlex.quote(source)} --exclude exclude.csv -o labels.csv",
        "workers", tuple(who.tolist()), "exclude.csv",
    )  # fmt: skip


def _echoes(diagnosis: Diagnosis) -> Flags:
    """All but the one with most votes of every colluding group, (workers,)."""
    colluding, group = diagnosis.who("colluding"), diagnosis.workers["group"]
    order = np.lexsort((-diagnosis.workers["votes"], group))
    order = order[colluding[order]]
    kept = order[np.unique(group[order], return_index=True)[1]]
    echo = colluding.copy()
    echo[kept] = False
    return echo


def _look(diagnosis: Diagnosis) -> Action | None:
    if not to_review(diagnosis).any():
        return None
    changed = int(diagnosis.changed.sum())
    hang = (
        f" {count(changed, 'label')} {'hangs' if changed == 1 else 'hang'} on suspicious workers."
        if changed
        else ""
    )
    text = f"They are the least sure, so that your own answer helps most there: see “Tasks to review”.{hang}"
    return Action("Look at the tasks that are most in doubt", text)


def _doubt(diagnosis: Diagnosis) -> Action | None:
    """Look at what a classifier cannot believe, by the first of its scores."""
    for name, column in ambiguity_of(diagnosis).items():
        score, rows = AMBIGUITY[name], lowest(column)
        text = (
            f"A classifier cannot believe what was said of them: see “Ambiguous tasks, by {score}”. "
            "Correct the labels that are wrong, and learn without the tasks that nobody can tell."
        )
        title = f"Look at the {count(len(rows), 'task')} with the lowest {score}"
        return Action(title, text, "", "tasks", tuple(np.sort(rows).tolist()), "ambiguous.csv")
    return None


def _ask_more(diagnosis: Diagnosis) -> Action | None:
    more = diagnosis.tasks["more_votes"]
    rows = np.flatnonzero((more > 0) & (more < MOST))
    if not len(rows):
        return None
    votes = count(int(more[rows].sum()), "more vote")
    whom = "it" if len(rows) == 1 else "them"
    rows = rows[np.argsort(diagnosis.tasks["review"][rows])]
    cut = f" The file has the first {ROWS:,}." if len(rows) > ROWS else ""
    text = f"That should bring {whom} to {percent(diagnosis.rules.target)} confidence.{cut}"
    title = f"Collect about {votes} on {count(len(rows), 'task')}"
    return Action(title, text, "", "tasks", tuple(np.sort(rows[:ROWS]).tolist()), "more_votes.csv")


def _check(diagnosis: Diagnosis, source: str) -> Action:
    n = min(ASKED, len(diagnosis.votes.tasks))
    text = f"Have an expert label {count(n, 'task')} drawn at random: no model can vouch for itself."
    command = f"crowdpilot report {shlex.quote(source)} --truth truth.csv -o report.html"
    return Action("Check the labels against the truth", text, command)


def _record(diagnosis: Diagnosis) -> Action | None:
    lost = missing(diagnosis)
    why = {
        "seconds": "seconds per vote show who clicks without reading",
        "times": "the time of each vote shows who gets worse or better",
        "gold tasks": "a few gold tasks show who fails where the answer is known",
    }
    text = f"Next time more can be judged: {listed([why[need] for need in lost])}."
    return Action(f"Record {listed(lost)}", text) if lost else None
