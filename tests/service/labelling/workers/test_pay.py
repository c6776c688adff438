"""Pay is a price for each vote, by the kind of the worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import pytest

from crowdpilot.service.labelling.external_votes import ExternalVote, record_votes
from crowdpilot.service.labelling.workers import identities
from crowdpilot.service.labelling.workers.pay import WorkerPay, list_pay, to_table
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import Store, items, migrate, projects, workers

SPEC = {"name": "x", "classes": ["no", "yes"], "costs": {"prices": {"crowd": 0.1, "expert": 2}}}


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    migrate(made)
    yield made
    made.close()


def filled(c: Any) -> str:
    """A project in which ann gave three votes, and eve, who is an expert, one."""
    id = projects.create(c, ProjectIn.model_validate(SPEC).model_dump())
    items.add(c, id, [{"name": f"i{n}", "content": {"text": "x"}} for n in range(3)])
    record_votes(c, id, "relay", [ExternalVote(f"i{n}", "ann", 1) for n in range(3)])
    record_votes(c, id, "relay", [ExternalVote("i0", "eve", 0, kind="expert")])
    workers.register(c, id, "link", "idle", kind="crowd")
    return id


def test_each_vote_has_the_price_of_its_kind(store: Store) -> None:
    with store.writing() as c:
        ann, eve = list_pay(c, filled(c))
    assert astuple(ann)[1:] == ("relay", "ann", "crowd", 3, 0, 0.3, False)
    assert astuple(eve)[1:] == ("relay", "eve", "expert", 1, 0, 2.0, False)


def test_votes_that_are_erased_from_a_person_are_still_listed_under_a_number(store: Store) -> None:
    with store.writing() as c:
        id = filled(c)
        identities.erase(c, "s" * 32, id, list_pay(c, id)[0].worker)
        found = list_pay(c, id)[0]
    assert (found.external, found.votes, found.amount) == (None, 3, 0.3)


def test_the_table_has_a_row_for_each_worker() -> None:
    table = to_table([WorkerPay(1, "link", None, "crowd", 2, 1, 0.2, True)])
    assert table.to_pylist() == [
        {"worker": 1, "platform": "link", "external": None, "kind": "crowd", "votes": 2, "unsure": 1,
         "amount": 0.2, "approved": True}
    ]  # fmt: skip
    assert to_table([]).num_rows == 0
