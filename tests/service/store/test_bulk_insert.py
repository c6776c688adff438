"""Rows that are inserted in bulk are those that would be inserted one by one, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.store import Store, bulk_insert, items, migrate, projects
from crowdpilot.service.store.tables import items as table

NEW: list[dict[str, Any]] = [
    {"name": "plain", "content": {"text": "One."}},
    {"name": 'quotes " and \\ and \n', "content": {"text": 'a "b" \\ \n\t/ ü 😀 \u2028'}, "gold": "good"},
    {"name": "ümläut 😀", "content": {"text": "", "image": "https://x/y"}, "gold": {"a": "x", "b": "ü"}},
    {"name": "probs", "content": {"text": "x"}, "classifier_probs": [0.1, 0.9, 1e-9]},
    {"name": "1e5", "content": {"text": "12"}, "file": "0" * 64},
    {"name": "null", "content": {"text": "null"}, "gold": "null"},
]


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    migrate(made)
    yield made
    made.close()


def make_project(store: Store) -> str:
    with store.writing() as c:
        return projects.create(c, {"name": "bulk"})


def test_every_value_comes_back_as_it_was(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_insert, "ROWS_PER_STATEMENT", 4)
    project = make_project(store)
    with store.writing() as c:
        number = items.add(c, project, NEW)
        rows = c.execute(select(table).where(table.c.project == project).order_by(table.c.id)).all()
    names = "name", "content", "classifier_probs", "gold", "file"
    assert [{name: getattr(row, name) for name in names} for row in rows] == [
        {name: item.get(name) for name in names} for item in NEW
    ]
    assert {(row.state, row.upload_number, row.change_number) for row in rows} == {("open", number, number)}


def test_items_that_were_encoded_before_are_added_all_or_none(store: Store) -> None:
    project, ready = make_project(store), items.encode(NEW)
    with store.writing() as c:
        items.add(c, project, ready)
    again = items.encode([{"name": "new", "content": {"text": "x"}}, NEW[0]])
    with pytest.raises(ConflictError, match="there already"), store.writing() as c:
        items.add(c, project, again)
    with store.reading() as c:
        assert len(items.list_all(c, project)) == len(NEW)
