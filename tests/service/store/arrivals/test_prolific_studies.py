"""What was created on Prolific: once for a token, on both databases; and an upgrade keeps descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store import Store, migrate, projects
from crowdpilot.service.store.arrivals import prolific_studies
from crowdpilot.service.store.migration import _config
from tests.service.harness.service import PLAIN, create_project

STUDY = "a" * 24
BONUS = {"study": STUDY, "submission": "c" * 24, "amount": "1.00"}
VALUES: dict[str, Any] = {"title": "Films", "reward": 120, "places": 4, "currency": "GBP"}


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    migrate(made)
    yield made
    made.close()


@pytest.fixture
def project(store: Store) -> str:
    return create_project(store, PLAIN)


def test_a_token_is_claimed_once(store: Store, project: str) -> None:
    with store.writing() as c:
        assert prolific_studies.claim(c, project, "token-one", **VALUES) is None
    with store.writing() as c:
        known = prolific_studies.claim(c, project, "token-one", **VALUES)
        assert known is not None
        assert known.study is None
        assert prolific_studies.list_all(c, project) == []  # it is not on Prolific yet
        prolific_studies.change(c, project, "token-one", study=STUDY)
        assert prolific_studies.find(c, project, STUDY).title == "Films"


def test_one_of_two_takes_over_what_was_not_finished(store: Store, project: str) -> None:
    with store.writing() as c:
        prolific_studies.claim(c, project, "token-one", **VALUES)
        row = prolific_studies.find_by_token(c, project, "token-one")
        assert [prolific_studies.take_over(c, row) for _ in range(2)] == [True, False]


def test_a_study_belongs_to_one_project(store: Store, project: str) -> None:
    other = create_project(store, PLAIN)
    with store.writing() as c:
        prolific_studies.claim(c, project, "token-one", study=STUDY, **VALUES)
    with store.reading() as c, pytest.raises(NotFoundError, match="no such study in this project"):
        prolific_studies.find(c, other, STUDY)


def test_a_bonus_is_paid_by_one_request(store: Store, project: str) -> None:
    with store.writing() as c:
        first, second = (prolific_studies.claim_bonus(c, project, "token-one", **BONUS) for _ in range(2))
        assert first == second
        begin = project, "token-one", prolific_studies.NEW, prolific_studies.PAYING
        assert [prolific_studies.move_bonus(c, *begin, payment="p1") for _ in range(2)] == [True, False]


def test_studies_are_deleted_with_their_project(store: Store, project: str) -> None:
    with store.writing() as c:
        prolific_studies.claim(c, project, "token-one", study=STUDY, **VALUES)
        prolific_studies.claim_bonus(c, project, "token-one", **BONUS)
        c.execute(text("DELETE FROM projects"))
        for table in ("prolific_studies", "prolific_bonuses"):
            assert c.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0


def test_links_of_older_projects_need_no_signature(database_url: str) -> None:
    store = Store(database_url)
    spec = {"prolific": {"study": STUDY, "keys": None}}
    with store.writing() as c:
        config = _config()
        config.attributes["connection"] = c
        command.upgrade(config, "0004")
        columns = {"id": "p1", "name": "p1", "spec": json.dumps(spec), "state": "open", "created": 1.0,
                   "change_number": 1, "lease_requests": 0, "votes": 0, "fitted": 0, "update_number": 0,
                   "done": False, "spec_number": 0}  # fmt: skip
        marks = ", ".join(f":{name}" for name in columns)
        c.execute(text(f"INSERT INTO projects ({', '.join(columns)}) VALUES ({marks})"), columns)
    migrate(store)
    with store.reading() as c:
        assert projects.find(c, "p1").spec == {"prolific": {"signed": False, **spec["prolific"]}}
    store.close()
