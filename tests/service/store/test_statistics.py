"""What the dashboard reads from the tables, the same from SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, func, insert, select, update

from crowdpilot.service.errors import ForbiddenError
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import Store, items, jobs, migrate, projects, statistics, votes, workers
from crowdpilot.service.store.requesters import members, sessions
from crowdpilot.service.store.tables import audits
from crowdpilot.service.store.tables import votes as votes_table

SPEC = {"name": "x", "classes": ["a", "b"], "costs": {"prices": {"crowd": 0.05, "expert": 0.5}}}
TEXTS = ["A red breast", "100% brown_ish", "Zaunkönig “klein”", "plain"]


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    migrate(made)
    yield made
    made.close()


def filled(c: Connection) -> str:
    """A project with four items, a worker of each kind, and votes at seconds 0, 1, 1 and 25."""
    id = projects.create(c, ProjectIn(**SPEC).model_dump())
    items.add(c, id, [{"name": f"item-{n}", "content": {"text": text}} for n, text in enumerate(TEXTS)])
    known = items.ids_by_name(c, id, [f"item-{n}" for n in range(4)])
    hired = [workers.register(c, id, "link", kind, kind=kind).id for kind in ("crowd", "expert")]
    common = {
        "project": id,
        "criterion": 0,
        "lease_number": 1,
        "position": 0,
        "expires": 0.0,
        "change_number": 3,
        "seconds": 1.0,
    }
    given = [("item-0", 0, 1000.0), ("item-1", 0, 1001.5), ("item-2", 1, 1001.9), ("item-0", 1, 1025.0)]
    rows = [{**common, "item": known[name], "worker": hired[w], "state": "voted", "label": 0, "time": time}
            for name, w, time in given]  # fmt: skip
    unsure = {
        **common,
        "item": known["item-3"],
        "worker": hired[0],
        "state": "unsure",
        "label": None,
        "time": 1.0,
    }
    c.execute(insert(votes_table), [*rows, unsure])
    return id


def finish(c: Connection, id: str, kind: str, result: Any) -> None:
    jobs.enqueue(c, id, kind)
    taken = jobs.claim(c, "test")
    assert taken is not None
    jobs.finish(c, taken, result)


def test_the_histogram_counts_votes_by_time(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        pace = statistics.votes_over_time(c, id, bins=5)
        empty = statistics.votes_over_time(c, "0" * 12)
    assert pace == statistics.VoteHistogram(1000.0, 10, [3, 0, 1])
    assert empty is None


def test_every_vote_is_in_one_bin(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        for bins in (1, 2, 3, 7, 26, 40):
            pace = statistics.votes_over_time(c, id, bins)
            assert pace is not None
            assert sum(pace.counts) == 4
            assert len(pace.counts) <= bins + 1


def test_progress_is_that_at_each_refit(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        finish(c, id, "refit", {"votes": 20, "open": 4})  # of an earlier version
        assert statistics.last_progress(c) == {}
        for seen, settled in ((50, 0), (100, 2)):
            finish(c, id, "refit", {"votes": seen, "open": 4 - settled, "settled": settled, "final": 1})
        assert statistics.progress_by_votes(c, id) == [(50, 0, 1), (100, 2, 1)]
        assert statistics.last_progress(c) == {id: (100, 2, 1)}
        assert statistics.item_counts(c) == {id: 4}


def test_times_of_answers_tell_who_could_not_have_looked(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        own = votes_table.c.project == id
        c.execute(update(votes_table).where(own).values(seconds=10.0))
        assert statistics.answer_times(c, id, 1.0, 0.2) == (4, 10.0, 0)
        worker = c.execute(select(func.min(votes_table.c.worker)).where(own)).scalar_one()
        c.execute(update(votes_table).where(own, votes_table.c.worker == worker).values(seconds=1.5))
        found = statistics.answer_times(c, id, 1.0, 0.2)
        assert (found.timed, found.median, found.fast) == (4, 10.0, 2)
        assert statistics.answer_times(c, "0" * 12, 1.0, 0.2) == statistics.AnswerTimes()
        assert statistics.last_vote(c, id, 1026.0).active > 0
        assert statistics.last_vote(c, id, 1e6).active == 0


def test_the_page_version_changes_with_votes_jobs_and_audits(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        stamps = [statistics.page_version(c, id, 5)]
        projects.next_change(c, id)
        stamps.append(statistics.page_version(c, id, 5))
        jobs.enqueue(c, id, "refit")
        stamps.append(statistics.page_version(c, id, 5))
        c.execute(insert(audits).values(project=id, data={}, version=1))
        stamps.append(statistics.page_version(c, id, 5))
        assert stamps[-1] == statistics.page_version(c, id, 5)
    assert len(set(stamps)) == 4


def test_the_audit_bound_needs_a_checked_item(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        assert statistics.audit_bound(c, id) is None
        c.execute(insert(audits).values(project=id, data={}, version=1))
        jobs.record_done(c, id, "audit", {"bound": {"checked": 0, "cost": 1.0}})
        assert statistics.audit_bound(c, id) is None
        jobs.record_done(c, id, "audit", {"bound": {"checked": 3, "cost": 0.2}})
        assert statistics.audit_bound(c, id) == {"checked": 3, "cost": 0.2}


def test_a_link_is_used_once(store: Store) -> None:
    with store.writing() as c:
        ann = members.create(c, "ann").id
        sessions.start(c, ann, link="digest")
        with pytest.raises(ForbiddenError, match="has been used"):
            sessions.start(c, ann, link="digest")
        sessions.start(c, ann, link="another")


@pytest.mark.parametrize(("words", "found"), [
    ("RED", [0]), ("%", [1]), ("_", [1]), ("könig", [2]), ("“", [2]), ("ITEM-3", [3]), ("no such", []),
])  # fmt: skip
def test_items_are_found_by_name_and_text(store: Store, words: str, found: list[int]) -> None:
    with store.writing() as c:
        id = filled(c)
        known = items.ids_by_name(c, id, [f"item-{n}" for n in range(4)])
        assert items.search(c, id, words) == {known[f"item-{n}"] for n in found}


def test_answers_about_an_item_come_in_their_order(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        known = items.ids_by_name(c, id, ["item-0", "item-3"])
        assert [row.time for row in votes.answers_about(c, known["item-0"])] == [1000.0, 1025.0]
        assert [row.state for row in votes.answers_about(c, known["item-3"])] == ["unsure"]
