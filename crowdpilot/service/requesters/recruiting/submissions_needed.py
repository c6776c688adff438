"""Workers and pay: how many workers are still needed, and what an hour of their work pays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.arrays import Floats
from crowdpilot.service.labelling.finishing import answers_needed
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import fixed_votes, make_costs
from crowdpilot.service.requesters.recruiting.submissions import Submission
from crowdpilot.service.status.item_progress import OPEN, item_states
from crowdpilot.service.store import jobs, statistics
from crowdpilot.service.store.arrivals import submissions
from crowdpilot.service.store.engine import Row

GUESSED_ANSWERS_PER_ITEM = 3.0
MIN_DECIDED_QUESTIONS = 10  # from which on their number of answers is a guess for others
MIN_TIMED_ANSWERS = 10  # from which on the times are measured, not expected
# Prolific's payment principles, https://researcher-help.prolific.com, as of 2025: (minimum, recommended)
HOURLY_PAY: Mapping[str, tuple[float, float]] = {"GBP": (6.0, 9.0), "USD": (8.0, 12.0)}


class Needed(NamedTuple):
    """How many submissions are still needed, and how that was computed."""

    workers: int
    words: str


class Pay(NamedTuple):
    """What an hour of work pays, from the time that a submission takes; with a warning, if any."""

    reward: float
    minutes: float | None
    hourly: float | None
    words: str
    warning: str


class OpenItems(NamedTuple):
    """The items on which more answers are wanted.

    Parameters
    ----------
    items
        How many.
    answers, requested
        Answers that each open question about them has, and that somebody asked for, (questions,).
    usual_answers
        Mean number of answers to a question that is decided; None if there are too few to tell.
    """

    items: int
    answers: Floats
    requested: Floats
    usual_answers: float | None = None

    def missing(self, each: float, *, at_least: int = 0) -> float:
        """Answers that are missing if every question gets `each`, and at least so many more."""
        wanted = np.maximum(each - self.answers, at_least)
        return float(np.maximum(wanted, self.requested - self.answers).sum())


def read_open_items(replica: Replica, project: Row) -> OpenItems:
    """The open items of a project, from its campaign."""
    table = replica.campaign.view.items()
    kept = ~table.withdrawn
    is_open = np.asarray(item_states(replica, project) == OPEN)
    asked = (table.gold[kept] < 0) & (table.override[kept] < 0)
    votes, requested = table.votes[kept], table.votes_wanted[kept]
    opened, decided = is_open[:, None] & asked, ~is_open[:, None] & asked & (votes > 0)
    usual = float(votes[decided].mean()) if decided.sum() >= MIN_DECIDED_QUESTIONS else None
    return OpenItems(int(is_open.sum()), votes[opened], requested[opened].astype(float), usual)


def answers_per_submission(spec: Mapping[str, Any], finished: Sequence[int]) -> tuple[float, str]:
    """How many answers a submission gives: measured, where some are finished, else as the project says."""
    if counted := [count for count in finished if count]:
        mean = sum(counted) / len(counted)
        return mean, f"{mean:.0f} answers were given in a submission"
    needed = answers_needed(spec)
    return float(needed), f"a worker is done after {needed} answers"


def workers_needed(
    c: Connection, project: Row, finished: Sequence[int], open_items: OpenItems | None = None
) -> Needed:
    """How many more submissions are needed: by the forecast if it still holds, else by the open items.

    Without `open_items` they are those of the last refit, as if nobody had answered them.
    """
    if project.done:
        return Needed(0, "The project is finished: no more answers are needed.")
    found = _open_items_at_last_refit(c, project) if open_items is None else open_items
    if not found.items:
        return Needed(0, "No item is open: no more answers are needed now.")
    each, each_words = answers_per_submission(project.spec, finished)
    expected = _expected_answers(c, project)
    if expected is not None and expected > project.votes:
        left = expected - project.votes
        words = f"The forecast expects {expected:,.0f} answers in all, and {project.votes:,} came"
    else:
        left, words = _estimate(project, found, expected)
    return Needed(max(math.ceil(left / each), 1), f"{words}: {left:,.0f} are missing, and {each_words}.")


def _open_items_at_last_refit(c: Connection, project: Row) -> OpenItems:
    then = statistics.last_progress(c).get(project.id, statistics.RefitProgress(0, 0, 0))
    n = max(statistics.item_counts(c).get(project.id, 0) - then.settled - then.final, 0)
    none_yet = np.zeros(n * max(len(project.spec["criteria"]), 1))
    return OpenItems(n, none_yet, none_yet)


def _expected_answers(c: Connection, project: Row) -> float | None:
    """The number of answers in all, by the last forecast; None without one."""
    last = jobs.last_done(c, project.id, "forecast")
    result = {} if last is None else last.result or {}
    expected = ((result.get("total") or {}).get("votes") or {}).get("median")
    return float(expected) if isinstance(expected, int | float) else None


def _estimate(project: Row, found: OpenItems, expected: float | None) -> tuple[float, str]:
    """How many answers are missing without a forecast that holds, and why, in words."""
    n = f"{found.items:,} item{' is' if found.items == 1 else 's are'} open"
    one = "each question about them" if project.spec["criteria"] else "each"
    if (fixed := fixed_votes(project.spec["policy"])) is not None:
        return max(found.missing(fixed), 1.0), f"{n}, and {one} gets {fixed} answers"
    each = found.usual_answers or GUESSED_ANSWERS_PER_ITEM
    usual = ", as many as where it is decided" if found.usual_answers else ""
    guess = f"{n}; we guess that {one} gets {each:.2g} answers{usual}, and at least one more"
    left = found.missing(each, at_least=1)
    if expected is None:
        return left, f"There is no forecast yet. {guess}"
    return (
        left,
        f"{project.votes:,} answers came, though the forecast expected {expected:,.0f}. Still {guess}",
    )


def hourly_pay(c: Connection, project: Row, finished: Sequence[Submission]) -> Pay:
    """What a submission pays for an hour: by the time of finished ones if there are any, else of answers."""
    spec = project.spec
    each, _ = answers_per_submission(spec, [one.answers for one in finished])
    price = next(iter(make_costs(spec).prices.values()))
    stated = (spec["prolific"] or {}).get("reward")
    reward = each * price if stated is None else float(stated)
    how = "the reward of the study" if stated is not None else f"{each:.0f} answers at {price:g} each"
    minutes, source = _minutes(c, project, each, finished)
    if minutes is None:
        words = "The hourly pay is known once some answers have come, or if you say how long one takes."
        return Pay(reward, None, None, words, "")
    hourly = reward / (minutes / 60) if minutes else None
    return Pay(reward, minutes, hourly, f"{how[0].upper()}{how[1:]}; {source}.",
               _warning(spec["currency"], hourly))  # fmt: skip


def _minutes(
    c: Connection, project: Row, each: float, finished: Sequence[Submission]
) -> tuple[float | None, str]:
    """How long a submission takes, and where that is from; None if nobody knows."""
    if times := [one.minutes for one in finished if one.minutes is not None and one.answers]:
        n = f"{len(times):,} finished submission{'' if len(times) == 1 else 's'}"
        return median(times), f"the median time of {n}, with instructions and quiz"
    seconds, source = _seconds(c, project)
    if seconds is None:
        return None, ""
    answers = f"{each:.0f} answers of {seconds:.1f} seconds each, {source}"
    return each * seconds / 60, f"{answers}, without the time for instructions and quiz"


def _seconds(c: Connection, project: Row) -> tuple[float | None, str]:
    times = submissions.seconds_of_answers(c, project.id)
    if len(times) >= MIN_TIMED_ANSWERS:
        return median(times), f"the median of {len(times):,} answers"
    expected = project.spec["seconds_per_answer"]
    return (None, "") if expected is None else (float(expected), "as you expect")


def _warning(currency: str, hourly: float | None) -> str:
    if hourly is None or currency not in HOURLY_PAY:
        return ""
    least, fair = HOURLY_PAY[currency]
    if hourly < least:
        minimum = f"{currency} {least:g} an hour (as of 2025)"
        return f"This is below Prolific’s minimum of {minimum}. Raise the reward."
    if hourly < fair:
        return f"Prolific recommends at least {currency} {fair:g} an hour (as of 2025)."
    return ""
