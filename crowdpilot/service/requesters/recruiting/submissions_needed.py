"""Places and pay: how many workers are still needed, and what an hour of their work pays."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.labelling.finishing import answers_needed
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.store import items, jobs
from crowdpilot.service.store.arrivals import submissions
from crowdpilot.service.store.engine import Row

GUESSED_ANSWERS_PER_ITEM = 3.0
MIN_TIMED_ANSWERS = 10  # from which on the times are measured, not expected
# Prolific's payment principles, https://researcher-help.prolific.com, as of 2025: (minimum, recommended)
HOURLY_PAY: Mapping[str, tuple[float, float]] = {"GBP": (6.0, 9.0), "USD": (8.0, 12.0)}


class Places(NamedTuple):
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


def answers_per_submission(spec: Mapping[str, Any], finished: Sequence[int]) -> tuple[float, str]:
    """How many answers a submission gives: measured, where some are finished, else as the project says."""
    if counted := [count for count in finished if count]:
        mean = sum(counted) / len(counted)
        return mean, f"{mean:.0f} answers were given in a submission"
    needed = answers_needed(spec)
    return float(needed), f"a worker is done after {needed} answers"


def places_needed(c: Connection, project: Row, finished: Sequence[int]) -> Places:
    """How many more submissions are needed: by the forecast if there is one, else by a rough estimate."""
    each, each_words = answers_per_submission(project.spec, finished)
    total, words = _answers_in_all(c, project)
    left = max(total - project.votes, 0.0)
    if project.done:
        return Places(0, "The project is finished: no more answers are needed.")
    count = math.ceil(left / each)
    return Places(count, f"{words} {project.votes:,} came, so {left:,.0f} are missing, and {each_words}.")


def _answers_in_all(c: Connection, project: Row) -> tuple[float, str]:
    last = jobs.last_done(c, project.id, "forecast")
    result = {} if last is None else last.result or {}
    total = (result.get("total") or {}).get("votes") or {}
    expected = total.get("median")
    if isinstance(expected, int | float) and expected >= project.votes:
        return float(expected), f"The forecast expects {expected:,.0f} answers in all."
    count = items.count(c, project.id)
    fixed = re.fullmatch(r"fixed\[votes=(\d+)\]", project.spec["policy"])
    per_item = float(fixed[1]) if fixed else GUESSED_ANSWERS_PER_ITEM
    questions = max(len(project.spec["criteria"]), 1)
    how = "each item gets" if fixed else "there is no forecast yet, so we guess that each item gets"
    return count * per_item * questions, f"There are {count:,} items, and {how} {per_item:g} answers."


def hourly_pay(c: Connection, project: Row, finished: Sequence[int]) -> Pay:
    """What a submission pays for an hour, by the median time of an answer."""
    spec = project.spec
    each, _ = answers_per_submission(spec, finished)
    price = next(iter(make_costs(spec).prices.values()))
    stated = (spec["prolific"] or {}).get("reward")
    reward = each * price if stated is None else float(stated)
    how = "the reward of the study" if stated is not None else f"{each:.0f} answers at {price:g} each"
    seconds, source = _seconds(c, project)
    if seconds is None:
        words = "The hourly pay is known once some answers have come, or if you say how long one takes."
        return Pay(reward, None, None, words, "")
    minutes = each * seconds / 60
    hourly = reward / (minutes / 60) if minutes else None
    words = f"{how[0].upper()}{how[1:]}; {each:.0f} answers of {seconds:.1f} seconds each, {source}."
    return Pay(reward, minutes, hourly, words, _warning(spec["currency"], hourly))


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
