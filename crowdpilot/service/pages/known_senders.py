"""Who may send a large body, or one of unknown length: checked before any of it is read.

The routes check again what the sender may do; this only keeps strangers from filling the memory.
"""

from __future__ import annotations

from fastapi import Request
from starlette.types import Scope

from crowdpilot.service import access
from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.http.auth import find_key
from crowdpilot.service.http.body_limits import WORKER_PATHS
from crowdpilot.service.labelling.sessions import read_session
from crowdpilot.service.pages.dashboard.access.requester import SignInRequiredError, signed_in
from crowdpilot.service.pages.worker.sign_in import SESSION_COOKIE
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log

UNKNOWN_SENDER = "a body that is large, or of unknown length, needs an API key or a session; sign in first"
BACKEND_PATH = "/label-studio/"


def check_sender(store: Store, settings: Settings, scope: Scope) -> None:
    """Raise an `AuthenticationError` for strangers, and a `ForbiddenError` for those who may only read."""
    request, path = Request(scope), scope["path"]
    if path.startswith(WORKER_PATHS):
        _check_worker(request, settings)
    elif path.startswith(BACKEND_PATH):
        _check_backend(path, settings)
    elif path.startswith("/api/"):
        _check_key(request)
    else:
        _check_signed_in(request, store, settings)


def _check_worker(request: Request, settings: Settings) -> None:
    token = request.cookies.get(SESSION_COOKIE, "")
    if request.url.path.startswith("/api/"):
        token = request.headers.get("authorization", "").partition(" ")[2]
    if not token:
        raise AuthenticationError(UNKNOWN_SENDER)
    read_session(settings.secret, token, settings.session_seconds)


def _check_backend(path: str, settings: Settings) -> None:
    project, _, rest = path.removeprefix(BACKEND_PATH).partition("/")
    if not backend.is_password(settings.secret, project, rest.partition("/")[0]):
        raise AuthenticationError(UNKNOWN_SENDER)


def _check_key(request: Request) -> None:
    key = request.headers.get("x-api-key")
    if not key:
        raise AuthenticationError(UNKNOWN_SENDER)
    action_log.address.set(request.client.host if request.client else None)
    access.check_scope(access.requester_of_key(find_key(request, key)), access.LABEL_OPS)


def _check_signed_in(request: Request, store: Store, settings: Settings) -> None:
    try:
        requester = signed_in(request, store, settings)
    except SignInRequiredError:
        raise AuthenticationError(UNKNOWN_SENDER) from None
    access.check_scope(requester.access, access.LABEL_OPS)
