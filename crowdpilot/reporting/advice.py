"""Recommended actions after a diagnosis, with commands and tables to download."""

from __future__ import annotations

import shlex
from typing import NamedTuple

import numpy as np

from crowdpilot.aggregation import GoldSuggestion, suggest_gold
from crowdpilot.aggregation.accuracy.statements import state_gain
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.diagnosis.false_discovery_rate import Flags
from crowdpilot.diagnosis.votes_needed import MAX_MORE_VOTES
from crowdpilot.reporting.findings import missing_columns
from crowdpilot.reporting.formatting import count, listed, percent, shorten
from crowdpilot.reporting.tables import MAX_TABLE_ROWS, to_review
from crowdpilot.reporting.task_cards import AMBIGUITY, ambiguity_scores, lowest_rows

MAX_NAMED_WORKERS = 12  # the file has them all
MAX_EXPERT_LABELS = 100  # that are recommended


class Action(NamedTuple):
    """A recommended action: why, the command if there is one, and the rows of a table to download for it."""

    title: str
    text: str
    command: str = ""
    table: str = ""  # "workers" or "tasks"
    rows: tuple[int, ...] = ()
    file: str = ""
    fill_in: str = ""  # an empty column; the file has the names and this column alone


def recommend(
    diagnosis: Diagnosis,
    source: str | None = "VOTES",
    *,
    checked: bool = False,
    suggestion: GoldSuggestion | None = None,
) -> list[Action]:
    """Recommended actions, the most useful first.

    Parameters
    ----------
    diagnosis
        The diagnosis.
    source
        The file of votes, for the commands; None for a project of the service, whose pages are named instead.
    checked
        Whether labels have been compared with the truth.
    suggestion
        The tasks to check next; those of `suggest_gold` if not given.
    """
    actions = [
        _exclude_workers(diagnosis, source),
        None if checked else _check_labels(diagnosis, source, suggestion),
        _review_tasks(diagnosis),
        _review_ambiguous_tasks(diagnosis),
        _collect_votes(diagnosis),
        _record_more(diagnosis),
    ]
    return [action for action in actions if action is not None]


def _exclude_workers(diagnosis: Diagnosis, source: str | None) -> Action | None:
    spammer, copier = diagnosis.flagged_as("spammer"), _copiers(diagnosis)
    workers = np.flatnonzero(spammer | copier)
    if not len(workers) or diagnosis.without_suspects is None:
        return None
    names = [shorten(name, 24) for name in diagnosis.votes.workers[workers[:MAX_NAMED_WORKERS]].tolist()]
    rest = [f"{len(workers) - MAX_NAMED_WORKERS:,} more"] if len(workers) > MAX_NAMED_WORKERS else []
    share = percent(float(diagnosis.workers["votes"][workers].sum()) / len(diagnosis.votes))
    note = " Of each group that copies, the one with most votes is kept." if copier.any() else ""
    text = f"{listed([*names, *rest])} gave {share} of the votes.{note} Read some of their answers first."
    if source is None:
        how = " The page Workers shows what would change, and blocks them."
        return Action(f"Leave out {count(len(workers), 'suspicious worker')}", text + how)
    return Action(
        f"Leave out {count(len(workers), 'suspicious worker')} and run again", text,
        f"crowdpilot aggregate {shlex.quote(source)} --exclude exclude.csv -o labels.csv",
        "workers", tuple(workers.tolist()), "exclude.csv",
    )  # fmt: skip


def _copiers(diagnosis: Diagnosis) -> Flags:
    """All but the one with most votes of every colluding group, (workers,)."""
    colluding, group = diagnosis.flagged_as("colluding"), diagnosis.workers["group"]
    order = np.lexsort((-diagnosis.workers["votes"], group))
    order = order[colluding[order]]
    originals = order[np.unique(group[order], return_index=True)[1]]
    copiers = colluding.copy()
    copiers[originals] = False
    return copiers


def _review_tasks(diagnosis: Diagnosis) -> Action | None:
    if not to_review(diagnosis).any():
        return None
    changed = int(diagnosis.changed.sum())
    depends = (
        f" {count(changed, 'label')} {'depends' if changed == 1 else 'depend'} on suspicious workers."
        if changed
        else ""
    )
    text = f"Your own answer helps most where the confidence is lowest: see “Tasks to review”.{depends}"
    return Action("Review the tasks with the lowest confidence", text)


def _review_ambiguous_tasks(diagnosis: Diagnosis) -> Action | None:
    """Review the tasks on which a classifier disagrees with the votes, by the first of its scores."""
    for name, column in ambiguity_scores(diagnosis).items():
        score, rows = AMBIGUITY[name], lowest_rows(column)
        text = (
            f"A classifier disagrees with the votes on them: see “Ambiguous tasks, by {score}”. "
            "Correct the labels that are wrong, and train without the tasks that are ambiguous."
        )
        title = f"Review the {count(len(rows), 'task')} with the lowest {score}"
        return Action(title, text, "", "tasks", tuple(np.sort(rows).tolist()), "ambiguous.csv")
    return None


def _collect_votes(diagnosis: Diagnosis) -> Action | None:
    more = diagnosis.tasks["more_votes"]
    rows = np.flatnonzero((more > 0) & (more < MAX_MORE_VOTES))
    if not len(rows):
        return None
    votes = count(int(more[rows].sum()), "more vote")
    whom = "it" if len(rows) == 1 else "them"
    rows = rows[np.argsort(diagnosis.tasks["review"][rows])]
    cut = f" The file has the first {MAX_TABLE_ROWS:,}." if len(rows) > MAX_TABLE_ROWS else ""
    text = f"That should bring {whom} to {percent(diagnosis.rules.target)} confidence.{cut}"
    title = f"Collect about {votes} on {count(len(rows), 'task')}"
    return Action(title, text, "", "tasks", tuple(np.sort(rows[:MAX_TABLE_ROWS]).tolist()), "more_votes.csv")


def _check_labels(diagnosis: Diagnosis, source: str | None, suggestion: GoldSuggestion | None) -> Action:
    """Check the tasks that narrow the range of the accuracy most; random ones if they would not."""
    suggested = suggest_gold(diagnosis.result, None) if suggestion is None else suggestion
    if source is None:
        return _check_on_pages(suggested)
    if gain := state_gain(suggested):
        text = (
            f"{gain.capitalize()}. They are chosen for what they tell about all others. Fill in the true "
            "class of each, without a look at its label, and run again: they count as gold."
        )
        command = f"crowdpilot report {shlex.quote(source)} --gold check.csv -o report.html"
        title, rows = f"Check {count(len(suggested), 'task')}", tuple(np.sort(suggested.codes).tolist())
        return Action(title, text, command, "tasks", rows, "check.csv", "truth")
    n = min(MAX_EXPERT_LABELS, len(diagnosis.votes.tasks))
    text = f"Have an expert label {count(n, 'task')} drawn at random, to measure the accuracy."
    command = f"crowdpilot report {shlex.quote(source)} --truth truth.csv -o report.html"
    return Action("Check the labels against the truth", text, command)


def _record_more(diagnosis: Diagnosis) -> Action | None:
    unrecorded = missing_columns(diagnosis)
    why = {
        "seconds": "seconds per vote show who answers too fast",
        "times": "the time of each vote shows whose skill changes",
        "gold tasks": "a few gold tasks show who fails where the true class is known",
    }
    text = f"This would allow more checks: {listed([why[need] for need in unrecorded])}."
    return Action(f"Record {listed(unrecorded)}", text) if unrecorded else None


def _check_on_pages(suggested: GoldSuggestion) -> Action:
    """The same in a project of the service."""
    if gain := state_gain(suggested):
        text = f"{gain.capitalize()}. The overview of the project leads to them: “Check items here”."
        return Action(f"Check {count(len(suggested), 'task')}", text)
    text = "Check some items drawn at random: the page Audit then bounds how many labels are wrong."
    return Action("Check the labels by an audit", text)
