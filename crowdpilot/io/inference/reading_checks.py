"""What looks wrong in votes that were read: sentences for those who know what should be in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, pair
from crowdpilot.io.format import VotesTable
from crowdpilot.io.inference.column_names import WEAK_ALIASES, candidates, is_own_name, listed
from crowdpilot.votes import Votes

MIN_VOTES_TO_DOUBT = 50
MIN_VOTES_OF_ODD_ROWS = 10
MIN_VOTES_PER_CLASS = 3
MAX_CLASSES_OF_DECIMALS = 20
MIN_UNANIMOUS_TASKS = 5
MIN_CHARACTERS_OF_CUT_NAME = 3
SEPARATORS = re.compile(r"[;,|/+&]")
FORMATS_WITH_TITLES = ("wide", "")  # besides text; without a name, a table in memory
CODES_OF_NO_ANSWER = frozenset((-9, -99, -999, 77, 88, 99, 999))  # in files of statistics programs
MAX_SMALL_CLASS = 20
ROUNDED = re.compile(r"\d([.,]\d+)?[eE]\+\d{2}")  # how spreadsheets write long numbers
TOTALS = frozenset(("total", "totals", "sum", "summe", "gesamt", "mean", "average", "count", "all"))


def doubts(votes: Votes, about: VotesTable) -> Iterator[str]:
    """Sentences about votes whose classes nobody has named; a `ValueError` if they cannot be right."""
    if 2 * len(votes.classes) > len(votes) and _is_doubtful(votes, about, "label"):
        counts = f"{len(votes.classes)} of {len(votes)}"
        raise about.error(
            f"the labels in {about.origins['label']} are nearly all different ({counts}), expected a few "
            "classes; name the column with columns= (--columns label=NAME)"
        )
    if len(votes.workers) == len(votes) and _is_doubtful(votes, about, "worker"):
        yield (
            f"every vote has a worker of its own, from {about.origins['worker']}; if another column is the "
            "worker, name it with columns= (--columns worker=NAME)"
        )
    worker = about.roles.get("worker", "worker")
    is_usual = "worker" in about.chosen_roles or candidates([worker], "worker")
    if len(votes.tasks) == len(votes) >= MIN_VOTES_TO_DOUBT and not is_usual:
        yield (
            f"no task has a second vote, so that {about.origins['worker']} may be a fact about tasks and no "
            "worker; if so, name the worker with columns= (--columns worker=NAME)"
        )
    if len(votes.classes) > MAX_CLASSES_OF_DECIMALS and _are_decimals(votes.classes.tolist()):
        yield (
            f"the labels are {len(votes.classes)} numbers with decimals, each read as a class; Crowdpilot "
            "aggregates classes, not measurements, so put them into a few ranges first"
        )
    if _has_minus_one(votes):
        yield "-1 is read as a class; if it means no answer, use abstain= (--abstain=-1)"
    if about.unread and not _is_named(about, "label") and _agrees_everywhere(votes):
        label = about.origins.get("label", "the label")
        yield (
            f"all votes of each task agree, so that {label} may be a fact about tasks; if one of "
            f"{listed(about.unread)} is the label, use --columns label=NAME"
        )
    rivals = candidates(about.unread, "label", WEAK_ALIASES)
    if rivals and "label" in about.origins and "label" not in about.chosen_roles:
        yield (
            f"{about.origins['label']} is read as the label, though {listed(rivals)} may be it too; if so, "
            f"use --columns label={rivals[0]}"
        )
    if votes.gold is not None and (votes.gold >= 0).all() and not _is_named(about, "gold"):
        yield (
            f"{about.origins.get('gold', 'the truth')} is read as gold labels, which models learn from, and "
            "all tasks have one; to measure by them, leave the column out: columns={'gold': None}"
        )
    yield from _joined_labels(votes)
    yield from _codes_of_no_answer(votes)
    yield from _rounded_names(votes)
    if about.numbers_as_text or about.format in FORMATS_WITH_TITLES:
        yield from _odd_rows(votes)


def _is_doubtful(votes: Votes, about: VotesTable, role: str) -> bool:
    """Whether a column was neither named by the user nor called like its role."""
    return len(votes) >= MIN_VOTES_TO_DOUBT and not _is_named(about, role)


def _is_named(about: VotesTable, role: str) -> bool:
    return role in about.chosen_roles or is_own_name(about.roles.get(role, role), role)


def _are_decimals(names: list[Any]) -> bool:
    """Whether all names are numbers, and one of them is not whole."""
    try:
        return not all(float(str(name)).is_integer() for name in names)
    except ValueError:
        return False


def _has_minus_one(votes: Votes) -> bool:
    """Whether -1 is beside the classes 0, 1 and so on, where it may mean that there is no answer."""
    classes = votes.classes
    return classes.dtype.kind in "iu" and len(classes) > 2 and bool(classes.min() == -1) and 0 in classes


def _agrees_everywhere(votes: Votes) -> bool:
    """Whether many tasks have several votes, and each of them votes for one class."""
    K = max(len(votes.classes), 1)
    pairs = np.unique(pair(votes.task, votes.label, (len(votes.tasks), K)))
    several = np.bincount(votes.task, minlength=len(votes.tasks)) > 1
    of_task = np.bincount(pairs // K, minlength=len(votes.tasks))
    return int(several.sum()) >= MIN_UNANIMOUS_TASKS and bool((of_task[several] == 1).all())


def _joined_labels(votes: Votes) -> Iterator[str]:
    """A sentence about classes that are several others in one cell."""
    names = [str(name) for name in votes.classes]
    known = {name.strip().casefold() for name in names}
    for name in names:
        parts = [part.strip().casefold() for part in SEPARATORS.split(name)]
        if len(parts) > 1 and known.issuperset(parts):
            yield f"{name!r} is read as a class, though it may be {len(parts)} labels; a vote has one"
            return


def _codes_of_no_answer(votes: Votes) -> Iterator[str]:
    """A sentence about a number such as 99 among small ones, which often means that there is no answer."""
    if votes.classes.dtype.kind not in "iu":
        return
    classes = votes.classes.tolist()
    codes = [number for number in classes if number in CODES_OF_NO_ANSWER]
    rest = [number for number in classes if number not in codes]
    if codes and len(rest) > 1 and min(rest) >= 0 and max(rest) <= MAX_SMALL_CLASS:
        yield (f"{codes[0]} is read as a class; if it means no answer, use abstain= (--abstain={codes[0]})")


def _rounded_names(votes: Votes) -> Iterator[str]:
    """Sentences about names that a spreadsheet has rounded, so that several are one."""
    for role, names in (("task", votes.tasks), ("worker", votes.workers)):
        text = "\n".join(map(str, names.tolist())) if names.dtype == object else ""
        if "E+" not in text.upper():
            continue
        if rounded := next((str(name) for name in names if ROUNDED.fullmatch(str(name))), None):
            yield (
                f"a {role} is called {rounded!r}, as spreadsheets write long numbers, so that several may "
                "have become one; export the ids as text"
            )


def _odd_rows(votes: Votes) -> Iterator[str]:
    """Sentences about the first and the last task, which may be a title, a total or a line that was cut."""
    if not len(votes):
        return
    if str(votes.tasks[-1]).strip().casefold() in TOTALS:
        yield f"the last task is called {str(votes.tasks[-1])!r}; a total is no task, so delete that line"
    yield from _cut_names(votes)
    counts = np.bincount(votes.label, minlength=len(votes.classes))
    for n, which in ((0, "first"), (len(votes.tasks) - 1, "last")):
        labels = votes.label[votes.task == n]
        once = labels[counts[labels] == 1]
        if len(once) and _is_odd(votes, counts, labels, once):
            names = listed([str(votes.classes[k]) for k in once])
            yield (
                f"{names} occurs once, for the {which} task {str(votes.tasks[n])!r}; a title, a total or a "
                "line that was cut off is no vote"
            )


def _cut_names(votes: Votes) -> Iterator[str]:
    """Sentences if the worker or the label of the last vote occurs once, and another one begins with it."""
    columns = ("worker", votes.worker, votes.workers), ("label", votes.label, votes.classes)
    for role, codes, names in columns:
        last = int(codes[-1])
        name = str(names[last])
        if len(name) < MIN_CHARACTERS_OF_CUT_NAME or (codes == last).sum() > 1:
            continue
        longer = (str(other) for other in names if str(other) != name and str(other).startswith(name))
        if whole := next(longer, None):
            yield f"the {role} of the last vote, {name!r}, may be {whole!r} in a line that was cut off"


def _is_odd(votes: Votes, counts: NDArray[Any], labels: Codes, once: Codes) -> bool:
    """Whether the labels of a task that occur nowhere else stand out: all of its labels, or a cut one."""
    rest, classes = len(votes) - len(once), int((counts > 0).sum()) - len(once)
    if len(once) == len(labels):
        return rest >= max(MIN_VOTES_OF_ODD_ROWS // 2, 2 * classes)
    names = [str(name) for name in votes.classes]
    if any(names[k] != name and name.startswith(names[k]) for k in once for name in names):
        return True
    return rest >= max(MIN_VOTES_OF_ODD_ROWS, MIN_VOTES_PER_CLASS * classes)
