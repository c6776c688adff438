"""The share of a worker: how many answers, how long, and what they pay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from crowdpilot.service.labelling.assignment.share import read_share
from crowdpilot.service.store import Store, projects, workers
from crowdpilot.service.store.tables import items, votes
from tests.service.harness.service import create_project, migrated_store, sqlite_url

SPEC: dict[str, Any] = {"name": "Films", "classes": ["bad", "good"], "min_answers": 25}
PRICED: dict[str, Any] = {"currency": "EUR", "costs": {"prices": {"crowd": 0.03}}}


def share(tmp_path: Path, *, n: int = 40, text: str = "x" * 100, platform: str = "link", **spec: Any) -> Any:
    store = migrated_store(sqlite_url(tmp_path))
    id = create_project(
        store, {**SPEC, **spec}, [{"name": f"i{k}", "content": {"text": text}} for k in range(n)]
    )
    with store.reading() as c:
        found = read_share(c, projects.find(c, id), platform, "crowd")
    store.close()
    return found


def test_a_share_is_never_larger_than_what_there_is(tmp_path: Path) -> None:
    assert share(tmp_path).answers == 25
    assert share(tmp_path, n=7).answers == 7
    assert share(tmp_path, plan={"per_worker": 4}).answers == 4
    criteria = [{"name": "a"}, {"name": "b"}]
    assert share(tmp_path, n=7, classes=["no", "yes"], criteria=criteria).answers == 14
    assert share(tmp_path, min_answers=None, batch=9).answers == 9


def test_the_time_is_guessed_by_the_items_unless_the_project_says_it(tmp_path: Path) -> None:
    short, long = share(tmp_path), share(tmp_path, text="x" * 2000)
    assert short.seconds < long.seconds
    assert share(tmp_path, seconds_per_answer=12.0).minutes == 5
    assert short.minutes >= 1


def test_the_time_is_the_median_of_the_last_votes_once_there_are_some(tmp_path: Path) -> None:
    store = migrated_store(sqlite_url(tmp_path))
    id = create_project(
        store, {**SPEC, "seconds_per_answer": 99.0}, [{"name": "i", "content": {"text": "x"}}]
    )
    common = {
        "project": id,
        "item": 1,
        "state": "voted",
        "lease_number": 1,
        "expires": 0.0,
        "change_number": 1,
    }
    with store.writing() as c:
        for k in range(11):
            worker = workers.register(c, id, "link", f"w{k}", kind="crowd").id
            c.execute(insert(votes).values(**common, worker=worker, seconds=float(k)))
        found = read_share(c, projects.find(c, id), "link", "crowd")
    store.close()
    assert found.seconds == 5.0


@pytest.mark.parametrize(
    ("spec", "platform", "pay"),
    [
        ({"costs": {"prices": {"crowd": 0.03}}}, "link", None),
        ({"currency": "EUR"}, "link", None),
        (PRICED, "link", 0.75),
        ({**PRICED, "prolific": {"reward": 2.5}}, "prolific", 2.5),
        ({**PRICED, "prolific": {"reward": 2.5}}, "link", 0.75),
        (PRICED, "mturk", None),
    ],
)  # fmt: skip
def test_pay_is_said_where_there_is_a_currency(
    tmp_path: Path, spec: dict[str, Any], platform: str, pay: float | None
) -> None:
    assert share(tmp_path, platform=platform, **spec).pay == (None if pay is None else pytest.approx(pay))


def steps(store: Store, project: str) -> int:
    """How many thousand steps SQLite takes to find the share of a worker."""
    taken = []
    with store.reading() as c:
        c.connection.driver_connection.set_progress_handler(lambda: taken.append(1), 1000)
        read_share(c, projects.find(c, project), "link", "crowd")
        c.connection.driver_connection.set_progress_handler(None, 0)
    return len(taken)


def test_items_that_need_nothing_and_votes_without_times_cost_nothing(tmp_path: Path) -> None:
    store = migrated_store(sqlite_url(tmp_path))
    new = [{"name": f"i{k}", "content": {"text": "x"}} for k in range(20_000)]
    id = create_project(store, SPEC, new)
    with store.writing() as c:
        worker = workers.register(c, id, "relay", "w", kind="crowd").id
        number = int(projects.next_change(c, id).change_number)
        given = {"project": id, "worker": worker, "state": "voted", "lease_number": 1, "expires": 0.0}
        c.execute(insert(votes), [{**given, "item": k + 1, "change_number": number} for k in range(20_000)])
        c.execute(update(items).where(items.c.id < 19_990).values(state="withdrawn", change_number=number))
    assert steps(store, id) < 100
    store.close()
