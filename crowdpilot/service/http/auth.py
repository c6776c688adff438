"""Who asks: a requester with a key, or a worker with a session."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from crowdpilot.service.errors import AuthenticationError, ForbiddenError
from crowdpilot.service.http.rate_limits import Limits
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import Session, read_session
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import keys
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

# Who asks is found out in the loop wherever nothing is read: a plain `def` would take a thread each time.
KEY = APIKeyHeader(name="X-API-Key", scheme_name="requester", auto_error=False)
BEARER = HTTPBearer(scheme_name="worker", auto_error=False)


async def the_store(request: Request) -> Store:
    """The database."""
    store: Store = request.app.state.store
    return store


async def labelling_service(request: Request) -> LabellingService:
    """The labelling service of this process."""
    labelling: LabellingService = request.app.state.labelling
    return labelling


async def the_settings(request: Request) -> Settings:
    """The settings of the service."""
    settings: Settings = request.app.state.settings
    return settings


StoreOf = Annotated[Store, Depends(the_store)]
LabellingOf = Annotated[LabellingService, Depends(labelling_service)]
SettingsOf = Annotated[Settings, Depends(the_settings)]


def allowed(scope: str) -> Callable[..., Record]:
    """A requester whose key allows this."""

    def check(store: StoreOf, key: Annotated[str | None, Depends(KEY)]) -> Record:
        if not key:
            raise AuthenticationError("this needs an API key in the header X-API-Key")
        with store.reading() as c:
            found = keys.find(c, key)
        if scope not in found.scopes:
            raise ForbiddenError(f"the API key does not allow to {scope}; use one that does")
        return found

    return check


async def worker_session(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
) -> Session:
    """A worker at work."""
    if bearer is None:
        raise AuthenticationError("this needs the token of a session in the header Authorization")
    settings: Settings = request.app.state.settings
    session = read_session(settings.secret, bearer.credentials)
    limits: Limits = request.app.state.limits
    limits.check(("worker", session.worker), time.monotonic())
    return session


Reader = Annotated[Record, Depends(allowed("read"))]
Writer = Annotated[Record, Depends(allowed("write"))]
Worker = Annotated[Session, Depends(worker_session)]
Json = dict[str, Any]
