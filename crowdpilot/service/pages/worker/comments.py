"""Route of the labelling page for comments on items, and flags."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response

from crowdpilot.service.errors import UnsupportedMediaTypeError
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling import comments
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.pages.worker import sign_in
from crowdpilot.service.schemas import CommentIn

PostingSession = Annotated[Session, Depends(sign_in.posting_session)]


async def comment(
    session: PostingSession, request: Request, labelling: LabellingOf, body: CommentIn
) -> Response:
    """Write what a worker says about an item; the response comes when it is committed."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UnsupportedMediaTypeError("send the comment as application/json")
    await asyncio.to_thread(_write, labelling, session, body)
    return Response(status_code=204)


def _write(labelling: LabellingService, session: Session, said: CommentIn) -> None:
    with labelling.store.writing() as c:
        comments.write(c, session, labelling.item_numbers(session.project), said)
