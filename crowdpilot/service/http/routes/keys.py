"""Routes about API keys: one's own, and for operators those of everybody."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field

from crowdpilot.service.access import Requester
from crowdpilot.service.http.auth import Admin, StoreOf
from crowdpilot.service.http.routes.members import Role
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.requesters import keys
from crowdpilot.service.schemas import Name, Plain, Strict

routes = APIRouter(prefix="/api/keys", tags=["keys"], responses=ERRORS)
KeyId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
ProjectIds = Annotated[
    list[Annotated[str, Field(pattern="^[0-9a-f]{12}$")]], Field(min_length=1, max_length=1000)
]


def check_manager(requester: Admin) -> Requester:
    """A requester who may make and revoke keys."""
    keys.check_may_manage(requester)
    return requester


KeyManager = Annotated[Requester, Depends(check_manager)]


class KeyIn(Strict):
    """A new key: what it is for, what it allows, where, until when, and for operators whose it is."""

    name: Name
    scope: Role
    projects: ProjectIds | None = None
    expires: Annotated[float, Field(ge=0, le=1e12)] | None = None
    member: Annotated[Plain, Field(max_length=200)] = ""


class NewKeyOut(BaseModel):
    """The new key, which is not shown again, and the id by which it is listed and revoked."""

    id: str
    key: str


class KeyOut(BaseModel):
    """A key without its secret part; times are in seconds since 1970, the last use to the minute."""

    id: str
    member: str
    name: str
    scope: str
    projects: list[str] | None
    created: float
    expires: float | None
    used: float | None
    revoked: float | None


class KeysOut(BaseModel):
    """Keys, the newest first."""

    keys: list[KeyOut]


@routes.get("")
def get_keys(
    store: StoreOf, requester: KeyManager, member: Annotated[Plain, Query(max_length=200)] = ""
) -> KeysOut:
    """The own keys, for operators those of everybody, or of one member."""
    with store.reading() as c:
        rows = keys.list_visible(c, requester, member)
    return KeysOut(keys=[KeyOut(**{**row._mapping, "member": row.member_name}) for row in rows])


@routes.post("", status_code=201)
def post_key(body: KeyIn, store: StoreOf, requester: KeyManager) -> NewKeyOut:
    """Make a key, which expires no later than the one that makes it."""
    with store.writing() as c:
        key = keys.create(
            c, requester, body.name, body.scope, member=body.member, projects=body.projects,
            expires=body.expires,
        )  # fmt: skip
    return NewKeyOut(id=key.split("_")[1], key=key)


@routes.delete("/{key}", status_code=204)
def delete_key(key: KeyId, store: StoreOf, requester: KeyManager) -> None:
    """Revoke a key: it is refused at once, and the sessions that were signed in with it end."""
    with store.writing() as c:
        keys.revoke(c, requester, key)
