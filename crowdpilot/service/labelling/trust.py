"""Trust: whether the votes of a guest count, by their answers to gold items.

A guest is somebody who came through a link for everybody: one person can be any number of guests. Where a
project has a quiz or gold items, whose classes are known, the votes of a guest wait until they have passed.
Gold items are mixed into what guests are asked, at random places. A guest who has answered enough of them
counts while their answers are better explained by a worker who is right in `SKILLED` of the cases than by one
who guesses (a likelihood ratio above 1); each further answer decides anew, about all votes of the guest.

With two classes and 4 gold answers, 3 have to be right. So passes a worker who is right in 85 % with
probability .89, one who guesses with .31, one who answers inversely and is right in 15 % with .01; after 10
answers, of which 7 have to be right, it is .95, .17 and .0001.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, log
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.schemas import GuestsIn
from crowdpilot.service.store import workers
from crowdpilot.service.store.arrivals import gold_answers
from crowdpilot.service.store.engine import Row

SKILLED = 0.8  # share of right answers of a worker whose votes are wanted
MAX_ODDS_AGAINST = 20.0  # that a guest guesses or worse, from which they are asked nothing more
GOLD_SHARE_UNCHECKED = 0.4  # of gold items among those leased to a guest whose votes do not count yet
GOLD_SHARE_CHECKED = 0.1  # among those leased to a guest whose votes count, and who may change their mind
MANY_GOLD_ITEMS = 1000  # up to which gold items are counted
DEFAULTS: Mapping[str, Any] = GuestsIn().model_dump()


class GoldRecord(NamedTuple):
    """How often a worker was right and wrong about gold items."""

    right: int = 0
    wrong: int = 0

    @property
    def answers(self) -> int:
        """All together."""
        return self.right + self.wrong

    def log_odds(self, n_classes: int) -> float:
        """Logarithm of the likelihood ratio of a skilled worker and one who guesses.

        Examples
        --------
        >>> round(GoldRecord(3, 1).log_odds(2), 2), round(GoldRecord(2, 2).log_odds(2), 2)
        (0.49, -0.89)
        """
        guess = 1 / n_classes
        return self.right * log(SKILLED / guess) + self.wrong * log((1 - SKILLED) / (1 - guess))


class LeaseTerms(NamedTuple):
    """What a worker may be leased: so many items at once, and so large a share of gold items among them."""

    most: float = inf
    gold_share: float = 0.0


def settings_of(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings about guests; projects from before they existed have the defaults."""
    return spec.get("guests") or DEFAULTS


def at_arrival(c: Connection, project: Row) -> bool:
    """Whether the votes of a new guest count at once: only where there is nothing to check them by."""
    return not project.spec["quiz"] and _answers_needed(c, project.id, project.spec) == 0


def after_quiz(c: Connection, project: str, spec: Mapping[str, Any]) -> bool:
    """Whether the votes of a guest who has passed the quiz count: gold items tell more, if there are any."""
    return _answers_needed(c, project, spec) == 0


def _answers_needed(c: Connection, project: str, spec: Mapping[str, Any]) -> int:
    """How many gold items a guest has to answer before their votes count."""
    return gold_answers.count_gold_items(c, project, settings_of(spec)["checks"])


def read_records(c: Connection, spec: Mapping[str, Any], ids: Sequence[int]) -> dict[int, GoldRecord]:
    """The answers of these workers to gold items; with criteria to all of them."""
    classes, criteria = spec["classes"], [criterion["name"] for criterion in spec["criteria"]]
    records: dict[int, GoldRecord] = {}
    for row in gold_answers.of_workers(c, ids):
        gold = row.gold.get(criteria[row.criterion]) if isinstance(row.gold, dict) else row.gold
        if gold is not None:
            before = records.get(row.worker, GoldRecord())
            is_right = classes[row.label] == gold
            records[row.worker] = GoldRecord(before.right + is_right, before.wrong + (not is_right))
    return records


def review(
    c: Connection, project: str, spec: Mapping[str, Any], ids: Iterable[int], items: Iterable[int]
) -> bool:
    """Decide anew about guests among these workers, who have just answered these items, if one is gold.

    In a write transaction; whether the votes of anybody count now, or do not any more.
    """
    guests = gold_answers.guests(c, project, sorted({*ids}))
    if not guests or not gold_answers.have_gold(c, sorted({*items})):
        return False
    return _decide(c, project, spec, guests)


def review_all(c: Connection, project: str, spec: Mapping[str, Any]) -> bool:
    """Decide anew about all guests, such as after items became gold items; whether anything changed."""
    return _decide(c, project, spec, gold_answers.guests(c, project))


def _decide(c: Connection, project: str, spec: Mapping[str, Any], guests: Mapping[int, bool]) -> bool:
    needed = _answers_needed(c, project, spec)
    if needed == 0:
        return False
    records = read_records(c, spec, list(guests))
    changed = False
    for worker, before in guests.items():
        record = records.get(worker, GoldRecord())
        now = record.log_odds(len(spec["classes"])) > 0 if record.answers >= needed else before
        if now != before:
            workers.change(c, project, worker, trusted=now)
            changed = True
    return changed


def lease_terms(
    c: Connection, project: str, spec: Mapping[str, Any], known: Iterable[Row]
) -> dict[int, LeaseTerms]:
    """What each of these workers may be leased.

    A guest whose votes do not count yet holds one batch at most, and is asked nothing more once it is clear
    that they guess, or once no gold item is left by which they could be checked.
    """
    guests = [worker for worker in known if worker.guest]
    n_gold = gold_answers.count_gold_items(c, project, MANY_GOLD_ITEMS) if guests else 0
    waiting = [worker.id for worker in guests if not worker.trusted]
    records = read_records(c, spec, waiting) if waiting else {}
    return {worker.id: _terms(worker, records.get(worker.id), n_gold, spec) for worker in guests}


def _terms(worker: Row, record: GoldRecord | None, n_gold: int, spec: Mapping[str, Any]) -> LeaseTerms:
    if worker.trusted:
        return LeaseTerms(gold_share=GOLD_SHARE_CHECKED if n_gold and settings_of(spec)["checks"] else 0.0)
    answered = record or GoldRecord()
    is_hopeless = answered.log_odds(len(spec["classes"])) < -log(MAX_ODDS_AGAINST)
    if is_hopeless or answered.answers >= min(n_gold, MANY_GOLD_ITEMS):
        return LeaseTerms(0)
    return LeaseTerms(spec["batch"], GOLD_SHARE_UNCHECKED)
