"""Tables and pages that are made from the package."""

from __future__ import annotations

import pytest

from docs.hooks import tables


@pytest.mark.parametrize("made", [tables.rooms, tables.strategies, tables.datasets])
def test_tables_have_a_row_for_each_thing(made) -> None:
    head, line, *rows = made().splitlines()
    assert set(line) == set("|- ")
    assert len(rows) > 5
    assert {row.replace(r"\|", "").count("|") for row in rows} == {head.count("|")}


def test_every_room_is_drawn_and_leads_to_a_page_or_its_names() -> None:
    names = {name for layer in tables.layers() for name in layer}
    drawn = tables.architecture()
    assert [name for name in names if f"[{name}](" not in drawn and f"<span>{name}</span>" not in drawn] == []
    assert not [name for name in tables.reference_rooms() if f"<span>{name}</span>" in drawn]


def test_the_reference_has_a_page_for_each_room() -> None:
    assert tables.reference_pages()["reference/votes.md"] == "# crowdpilot.votes\n\n::: crowdpilot.votes\n"
