"""Invitations admit workers until they expire, are used up or are revoked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.errors import ConflictError, ForbiddenError, NotFoundError
from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.arrivals import invitations
from tests.service.harness.fault_crowd import make_project


@pytest.fixture
def scene(database_url: str) -> Iterator[tuple[Any, str]]:
    store = Store(database_url)
    migrate(store)
    project = make_project(store, 1, 1, 900)
    with store.writing() as c:
        yield c, project
    store.close()


def test_only_new_workers_count(scene):
    c, project = scene
    id = invitations.create(c, project, kind="crowd", max_uses=2).id
    for is_new in (True, False, False, True, False):
        invitations.admit(c, project, id, is_new=is_new)
    with pytest.raises(ForbiddenError, match="as many people as"):
        invitations.admit(c, project, id, is_new=True)
    row = invitations.find(c, project, id)
    assert (row.uses, invitations.is_open(row)) == (2, False)


def test_a_named_invitation_is_for_one(scene):
    c, project = scene
    row = invitations.create(c, project, kind="crowd", worker="ann")
    assert (row.max_uses, row.worker) == (1, "ann")
    with pytest.raises(ConflictError, match="admits one worker"):
        invitations.change(c, project, row.id, max_uses=5)


@pytest.mark.parametrize(
    ("values", "words"), [({"revoked": 1.0}, "was revoked"), ({"expires": 1.0}, "has expired")]
)
def test_what_is_over_admits_nobody_new_or_known(scene, values, words):
    c, project = scene
    id = invitations.create(c, project, kind="crowd", expires=values.get("expires")).id
    if "revoked" in values:
        invitations.revoke(c, project, id)
    for is_new in (True, False):
        with pytest.raises(ForbiddenError, match=words):
            invitations.admit(c, project, id, is_new=is_new)


def test_revoking_twice_keeps_the_first_time(scene):
    c, project = scene
    id = invitations.create(c, project, kind="crowd").id
    invitations.revoke(c, project, id)
    first = invitations.find(c, project, id).revoked
    invitations.revoke(c, project, id)
    assert invitations.find(c, project, id).revoked == first <= time.time()
    with pytest.raises(ConflictError, match="revoked"):
        invitations.change(c, project, id, expires=None)


def test_an_invitation_belongs_to_one_project(scene):
    c, project = scene
    id = invitations.create(c, project, kind="crowd").id
    with pytest.raises(NotFoundError):
        invitations.find(c, "another", id)
    with pytest.raises(ForbiddenError, match="not valid"):
        invitations.admit(c, "another", id, is_new=True)
