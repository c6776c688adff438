"""A database of the first schema is upgraded: nobody loses access, and nothing is lost."""

from __future__ import annotations

import json
from typing import Any

from alembic import command
from sqlalchemy import Connection, text

from crowdpilot.service import access
from crowdpilot.service.signing import digest
from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.migration import _config
from crowdpilot.service.store.requesters import keys, members

OLD_KEYS = {"cp_aa_write": ("ann", ["read", "write"]), "cp_bb_read": ("ann", ["read"]),
            "cp_cc_admin": ("root", ["read", "write", "admin"])}  # fmt: skip


def add(c: Connection, table: str, **values: Any) -> None:
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    c.execute(text(f"INSERT INTO {table} ({names}) VALUES ({marks})"), values)


def make_old(store: Store) -> None:
    """A database of the first schema with two projects, three keys, a guest, a lease and a vote."""
    with store.writing() as c:
        config = _config()
        config.attributes["connection"] = c
        command.upgrade(config, "0001")
        for id, state in (("p1", "open"), ("p2", "closed")):
            add(c, "projects", id=id, name=id, spec="{}", state=state, created=1.0, change_number=9,
                lease_requests=1, votes=1, fitted=0, update_number=0, done=False)  # fmt: skip
        for key, (name, scopes) in OLD_KEYS.items():
            add(c, "api_keys", id=key.split("_")[1], digest=digest(key), name=name, scopes=json.dumps(scopes),
                created=1.0)  # fmt: skip
        add(c, "items", id=1, project="p1", name="i", content="{}", state="open", upload_number=1,
            change_number=1)  # fmt: skip
        for id, external in ((1, "guest-1"), (2, "eva")):
            add(c, "workers", id=id, project="p1", platform="link", external=external, assignment="A1",
                kind="crowd", state="active", approved=False, tries=0, finished=id, created=1.0,
                change_number=2)  # fmt: skip
            state = "voted" if id == 2 else "leased"
            add(c, "votes", project="p1", item=1, criterion=0, worker=id, state=state, lease_number=3,
                position=0, expires=5e9, change_number=3)  # fmt: skip


def test_an_upgrade_keeps_the_access_of_every_key(database_url: str) -> None:
    store = Store(database_url)
    make_old(store)
    migrate(store)
    with store.reading() as c:
        ann, root = (members.find_by_name(c, name) for name in ("ann", "root"))
        assert ann is not None
        assert root is not None
        assert (ann.operator, root.operator) == (False, True)
        rights = {
            key: [access.right_in(c, access.requester_of_key(keys.find(c, key)), id) for id in ("p1", "p2")]
            for key in OLD_KEYS
        }
    assert rights == {"cp_aa_write": ["write"] * 2, "cp_bb_read": ["read"] * 2, "cp_cc_admin": ["admin"] * 2}
    store.close()


def test_an_upgrade_keeps_votes_and_leases_and_gives_each_worker_a_nonce(database_url: str) -> None:
    store = Store(database_url)
    make_old(store)
    migrate(store)
    with store.reading() as c:
        workers = c.execute(text("SELECT id, nonce, guest, trusted FROM workers ORDER BY id")).all()
        states = c.execute(text("SELECT worker, state FROM votes ORDER BY worker")).all()
        closed = c.execute(text("SELECT closed FROM projects ORDER BY id")).scalars().all()
    assert [(row.id, bool(row.guest), bool(row.trusted)) for row in workers] == [
        (1, True, True),
        (2, False, True),
    ]
    assert len({row.nonce for row in workers} - {""}) == 2
    assert [tuple(row) for row in states] == [(1, "leased"), (2, "voted")]
    assert closed[0] is None
    assert closed[1] > 0
    store.close()


def test_an_upgrade_turns_the_work_of_each_worker_into_an_assignment(database_url: str) -> None:
    store = Store(database_url)
    make_old(store)
    migrate(store)
    with store.reading() as c:
        rows = c.execute(text("SELECT * FROM assignments ORDER BY worker")).all()
        answered = c.execute(text("SELECT worker, assignment FROM votes ORDER BY worker")).all()
        columns = c.execute(text("SELECT * FROM workers")).keys()
    assert [(row.worker, row.external, row.finished) for row in rows] == [(1, "A1", 1.0), (2, "", 2.0)]
    assert [row.assignment for row in answered] == [None, rows[1].id], "a lease is answered later"
    assert {"assignment", "finished"}.isdisjoint(columns)
    store.close()
