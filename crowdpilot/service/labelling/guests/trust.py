"""Trust: whether the votes of a guest count, by their answers to gold items.

A guest is somebody who came through a link for everybody: one person can be any number of guests. Where a
project has a quiz or gold items, whose classes are known, the votes of a guest wait until they have passed.
Gold items are mixed into what guests are asked, at random places. A guest who has answered enough of them
counts while their answers are better explained by a worker who is right in `SKILLED` of the cases than by one
who guesses: while the logarithm of the likelihood ratio, summed over the answers, is above 0. What speaks for
a guest is capped (a cumulative sum, Page 1954), so that one who was right for long and then answers inversely
is found out after `WRONG_ANSWERS_TO_LOSE` wrong answers. Each answer decides anew about all their votes.

With two classes a worker who is right in 85 % counts after 4 gold answers (3 of them right) with probability
.89, one who guesses with .31, one who answers inversely and is right in 15 % with .01; after 10 answers it is
.95, .17 and .0001, after 20 answers .97, .05 and 0.

References
----------
Page, Continuous inspection schemes, Biometrika 41, 1954. https://doi.org/10.1093/biomet/41.1-2.100
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, log
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.schemas import GuestsIn
from crowdpilot.service.store import workers
from crowdpilot.service.store.arrivals import guests
from crowdpilot.service.store.engine import Row

SKILLED = 0.8  # share of right answers of a worker whose votes are wanted
WRONG_ANSWERS_TO_LOSE = 2.5  # after any number of right ones: the third wrong answer in a row
MAX_ODDS_AGAINST = 20.0  # that a guest guesses or worse, from which they are asked nothing more
GOLD_SHARE_UNCHECKED = 0.4  # of gold items among those leased to a guest whose votes do not count yet
GOLD_SHARE_CHECKED = 0.2  # among those leased to a guest whose votes count, and who may change their mind
MANY_GOLD_ITEMS = 1000  # up to which gold items are counted
DEFAULTS: Mapping[str, Any] = GuestsIn().model_dump()


class GoldRecord(NamedTuple):
    """Answers of a worker to gold items: their number, how many are right, and the capped log odds.

    The odds are those of a skilled worker against one who guesses.

    Examples
    --------
    >>> record = GoldRecord()
    >>> for is_right in (True, True, False, True):
    ...     record = record.add(is_right, 2)
    >>> record.answers, record.right, round(record.log_odds, 2)
    (4, 3, 0.49)
    """

    answers: int = 0
    right: int = 0
    log_odds: float = 0.0

    def add(self, is_right: bool, n_classes: int) -> GoldRecord:
        """The record after one more answer."""
        guess = 1 / n_classes
        for_right, for_wrong = log(SKILLED / guess), log((1 - SKILLED) / (1 - guess))
        now = self.log_odds + (for_right if is_right else for_wrong)
        return GoldRecord(
            self.answers + 1, self.right + is_right, min(now, -WRONG_ANSWERS_TO_LOSE * for_wrong)
        )


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
    return guests.count_gold_items(c, project, settings_of(spec)["checks"])


def read_records(c: Connection, spec: Mapping[str, Any], ids: Sequence[int]) -> dict[int, GoldRecord]:
    """The answers of these workers to gold items; with criteria to all of them."""
    classes, criteria = spec["classes"], [criterion["name"] for criterion in spec["criteria"]]
    records: dict[int, GoldRecord] = {}
    for row in guests.gold_answers(c, ids):
        gold = row.gold.get(criteria[row.criterion]) if isinstance(row.gold, dict) else row.gold
        if gold is not None:
            before = records.get(row.worker, GoldRecord())
            records[row.worker] = before.add(classes[row.label] == gold, len(classes))
    return records


def review(
    c: Connection, project: str, spec: Mapping[str, Any], ids: Iterable[int], items: Iterable[int]
) -> bool:
    """Decide anew about guests among these workers, who have just answered these items, if one is gold.

    In a write transaction; whether the votes of anybody count now, or do not any more.
    """
    trusted = guests.trust(c, project, sorted({*ids}))
    if not trusted or not guests.have_gold(c, sorted({*items})):
        return False
    return _decide(c, project, spec, trusted)


def review_all(c: Connection, project: str, spec: Mapping[str, Any]) -> bool:
    """Decide anew about all guests, such as after items became gold items; whether anything changed.

    Where there is nothing to check them by, the votes of those count who have passed the quiz, if any.
    """
    if _answers_needed(c, project, spec) == 0:
        states = (workers.ACTIVE,) if spec["quiz"] else (workers.NEW, workers.ACTIVE)
        return workers.trust_guests(c, project, states)
    return _decide(c, project, spec, guests.trust(c, project))


def failed_checks(c: Connection, project: str, spec: Mapping[str, Any]) -> set[int]:
    """Guests who have answered enough gold items, and whose votes do not count."""
    needed = _answers_needed(c, project, spec)
    waiting = [worker for worker, trusted in guests.trust(c, project).items() if not trusted]
    records = read_records(c, spec, waiting) if waiting and needed else {}
    return {worker for worker, record in records.items() if record.answers >= needed}


def would_count(c: Connection, project: str, spec: Mapping[str, Any], worker: int) -> bool:
    """Whether the votes of a guest count by their answers to gold items; without gold items they do."""
    needed = _answers_needed(c, project, spec)
    record = read_records(c, spec, [worker]).get(worker, GoldRecord())
    return needed == 0 or (record.answers >= needed and record.log_odds > 0)


def _decide(c: Connection, project: str, spec: Mapping[str, Any], trusted: Mapping[int, bool]) -> bool:
    needed = _answers_needed(c, project, spec)
    if needed == 0:
        return False
    records = read_records(c, spec, list(trusted))
    changed = False
    for worker, before in trusted.items():
        record = records.get(worker, GoldRecord())
        now = record.log_odds > 0 if record.answers >= needed else before
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
    own = [worker for worker in known if worker.guest]
    n_gold = guests.count_gold_items(c, project, MANY_GOLD_ITEMS) if own else 0
    waiting = [worker.id for worker in own if not worker.trusted]
    records = read_records(c, spec, waiting) if waiting else {}
    return {worker.id: _terms(worker, records.get(worker.id), n_gold, spec) for worker in own}


def find_caveats(spec: Mapping[str, Any], n_gold: int) -> list[str]:
    """What a requester should know whose project has guests and so many gold items, in sentences."""
    checks = min(settings_of(spec)["checks"], n_gold)
    if checks >= DEFAULTS["checks"]:
        return []
    if checks:
        return [
            f"Guests are checked with only {checks} known answers, so that some who guess pass. "
            f"Add items with known answers until there are {DEFAULTS['checks']} or more."
        ]
    passed = "tell others the answers of the quiz" if spec["quiz"] else "come many times"
    return [
        f"Guests are not checked with known answers. Whoever has the link can {passed} and so decide most "
        "labels, and our estimate would not show it. Add items with known answers, or invite workers by name."
    ]


def _terms(worker: Row, record: GoldRecord | None, n_gold: int, spec: Mapping[str, Any]) -> LeaseTerms:
    if worker.trusted:
        return LeaseTerms(gold_share=GOLD_SHARE_CHECKED if n_gold and settings_of(spec)["checks"] else 0.0)
    answered = record or GoldRecord()
    if answered.log_odds < -log(MAX_ODDS_AGAINST) or answered.answers >= min(n_gold, MANY_GOLD_ITEMS):
        return LeaseTerms(0)
    return LeaseTerms(spec["batch"], GOLD_SHARE_UNCHECKED)
