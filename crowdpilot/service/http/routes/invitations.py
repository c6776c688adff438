"""Routes for requesters about invitations: links by which workers come, their limits, revocation."""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field, model_validator

from crowdpilot.service import requester_actions
from crowdpilot.service.http.auth import LabelOps, ProjectId, SettingsOf, StoreOf
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.platforms.invitation_links import MAX_WORKER_CHARACTERS, invitation_url
from crowdpilot.service.schemas import Kind, Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row

routes = APIRouter(prefix="/api/projects/{id}/invitations", tags=["workers"], responses=ERRORS)

InvitationId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
Time = Annotated[float, Field(ge=0, le=1e12)]  # seconds since 1970
MaxUses = Annotated[int, Field(ge=1, le=1_000_000)]


class InvitationIn(Strict):
    """Whom an invitation admits: so many who have the link, or one worker by name; until when."""

    kind: Kind | None = None
    worker: Annotated[Plain, Field(max_length=MAX_WORKER_CHARACTERS)] = ""
    expires: Time | None = None
    max_uses: MaxUses | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if self.worker and self.max_uses not in (None, 1):
            raise ValueError("an invitation by name admits one worker; leave out max_uses")
        return self


class InvitationChangeIn(Strict):
    """When an invitation expires from now on (null: never), and how many workers it admits in all."""

    expires: Time | None = None
    max_uses: MaxUses | None = None


class InvitationOut(BaseModel):
    """An invitation: its link, whom it admits, and how many have come through it."""

    id: str
    link: str
    kind: str
    worker: str | None
    created: float
    expires: float | None
    max_uses: int | None
    uses: int
    revoked: float | None
    open: bool  # whether it admits new workers


class InvitationsOut(BaseModel):
    """All invitations of a project, the oldest first."""

    invitations: list[InvitationOut]


@routes.get("")
def get_invitations(
    id: ProjectId, store: StoreOf, settings: SettingsOf, requester: LabelOps
) -> InvitationsOut:
    """All invitations, revoked ones included. Who sees the links can hand them on."""
    with store.reading() as c:
        rows = invitations.list_all(c, id)
    return InvitationsOut(invitations=[_invitation(row, settings) for row in rows])


@routes.post("", status_code=201)
def post_invitation(
    id: ProjectId, body: InvitationIn, store: StoreOf, settings: SettingsOf, requester: LabelOps
) -> InvitationOut:
    """A link that admits everybody who has it, up to a number of new workers, or one worker by name."""
    return _invitation(requester_actions.invite(store, id, requester.actor, **body.model_dump()), settings)


@routes.patch("/{invitation}")
def patch_invitation(
    id: ProjectId, invitation: InvitationId, body: InvitationChangeIn, store: StoreOf, settings: SettingsOf,
    requester: LabelOps,
) -> InvitationOut:  # fmt: skip
    """Change when an invitation expires, or how many it admits; what is not sent stays."""
    values = body.model_dump(exclude_unset=True)
    row = requester_actions.change_invitation(store, id, requester.actor, invitation, values)
    return _invitation(row, settings)


@routes.delete("/{invitation}", status_code=204)
def delete_invitation(
    id: ProjectId, invitation: InvitationId, store: StoreOf, requester: LabelOps,
    block: Annotated[bool, Query()] = False,
) -> Response:  # fmt: skip
    """Revoke an invitation: it admits nobody any more. Who came through it goes on, or is blocked too."""
    requester_actions.revoke_invitation(store, id, requester.actor, invitation, block=block)
    return Response(status_code=204)


def _invitation(row: Row, settings: Settings) -> InvitationOut:
    shown: dict[str, Any] = {
        name: getattr(row, name) for name in InvitationOut.model_fields if name in row._fields
    }
    link = invitation_url(settings.address, settings.secret, row.project, row.id)
    return InvitationOut(**shown, link=link, open=invitations.is_open(row))
