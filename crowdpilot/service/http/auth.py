"""Dependencies of routes: the requester of an API key, the worker of a session, store, settings, ids."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

from fastapi import Depends, Path, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from crowdpilot.service import access
from crowdpilot.service.access import Requester
from crowdpilot.service.errors import AuthenticationError, ServiceUnavailableError
from crowdpilot.service.http.rate_limits import RateLimiter
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import Session, read_session
from crowdpilot.service.network_addresses import network_of
from crowdpilot.service.requesters.wrong_keys import KeyRing
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log, keys

# What reads nothing is `async`: a plain `def` would take a thread for each request.
API_KEY = APIKeyHeader(name="X-API-Key", scheme_name="requester", auto_error=False)
BEARER = HTTPBearer(scheme_name="worker", auto_error=False)


async def get_store(request: Request) -> Store:
    """The database; the log of actions is told the address of the sender."""
    action_log.address.set(request.client.host if request.client else None)
    store: Store = request.app.state.store
    return store


async def get_labelling(request: Request) -> LabellingService:
    """The labelling service of this process."""
    labelling: LabellingService = request.app.state.labelling
    return labelling


async def get_settings(request: Request) -> Settings:
    """The settings of the service."""
    settings: Settings = request.app.state.settings
    return settings


ProjectId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
WorkerId = Annotated[int, Path(ge=1, lt=2**63)]
StoreOf = Annotated[Store, Depends(get_store)]
LabellingOf = Annotated[LabellingService, Depends(get_labelling)]
SettingsOf = Annotated[Settings, Depends(get_settings)]


def requester_with(scope: str) -> Callable[..., Requester]:
    """A dependency: the requester of an API key with this scope, and right in the project of the path."""

    def check_key(
        request: Request, store: StoreOf, key: Annotated[str | None, Depends(API_KEY)]
    ) -> Requester:
        if not key:
            raise AuthenticationError("this needs an API key in the header X-API-Key")
        row = find_key(request, key)
        requester = access.requester_of_key(row)
        access.check_scope(requester, scope)
        if "id" in request.path_params:
            with store.reading() as c:
                access.check(c, requester, request.path_params["id"], scope)
        _record_use(store, row)
        return requester

    return check_key


def find_key(request: Request, key: str) -> Row:
    """The row of a key that is shown; an error if it is not valid, or too many were not."""
    ring: KeyRing = request.app.state.keys
    return ring.find(key, network_address(request))


def network_address(request: Request) -> str:
    """The network address of the sender that counts as one."""
    return network_of(request.client.host) if request.client else ""


def _record_use(store: Store, key: Row) -> None:
    """Write down the last use of a key, if the database can be written to."""
    if key.used is None or time.time() - key.used > keys.USE_SECONDS:
        with suppress(ServiceUnavailableError), store.writing() as c:
            keys.record_use(c, key.id)


async def worker_session(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
) -> Session:
    """The session of a worker, by its token."""
    if bearer is None:
        raise AuthenticationError("this needs the token of a session in the header Authorization")
    settings: Settings = request.app.state.settings
    session = read_session(settings.secret, bearer.credentials, settings.session_seconds)
    check_worker_rate(request, session)
    return session


def check_worker_rate(request: Request, session: Session) -> None:
    """Raise a `RateLimitError` if a worker makes too many requests."""
    limiter: RateLimiter = request.app.state.worker_limiter
    limiter.check(("worker", session.worker), time.monotonic())


Reader = Annotated[Requester, Depends(requester_with(access.READ))]
LabelOps = Annotated[Requester, Depends(requester_with(access.LABEL_OPS))]
Writer = Annotated[Requester, Depends(requester_with(access.WRITE))]
Admin = Annotated[Requester, Depends(requester_with(access.ADMIN))]


def check_operator(requester: Admin) -> Requester:
    """A requester who may administer the whole service."""
    access.check_operator(requester)
    return requester


Operator = Annotated[Requester, Depends(check_operator)]
Worker = Annotated[Session, Depends(worker_session)]
