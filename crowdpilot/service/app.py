"""The web application: JSON API, pages, middleware and error handling, put together from the settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.routing import BaseRoute

from crowdpilot import __version__
from crowdpilot.service.http.base_path import BasePathMiddleware
from crowdpilot.service.http.metrics import Metrics
from crowdpilot.service.http.middleware import ServiceMiddleware, reject_unknown_parameters
from crowdpilot.service.http.rate_limits import RateLimiter
from crowdpilot.service.http.readiness import Readiness
from crowdpilot.service.http.responses import add_error_handlers
from crowdpilot.service.http.routes import (
    audit,
    exports,
    external_votes,
    files,
    forecast,
    health,
    hits,
    imports,
    invitations,
    items,
    jobs,
    keys,
    label_studio,
    label_studio_backend,
    labelling,
    log,
    members,
    notifications,
    projects,
    prolific,
    report,
    webhooks,
    workers,
)
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.pages.dashboard.access.openid_connect import CALLBACK
from crowdpilot.service.pages.dashboard.projects import dashboard_pages
from crowdpilot.service.pages.known_senders import check_sender
from crowdpilot.service.pages.languages import LanguageMiddleware, translate_error
from crowdpilot.service.pages.rendering import STATIC, error_page
from crowdpilot.service.pages.worker.routes import worker_pages
from crowdpilot.service.platforms.prolific.public_keys import PublicKeys
from crowdpilot.service.requesters.openid_connect import OpenIDConnect
from crowdpilot.service.requesters.wrong_keys import KeyRing
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store

API_ROUTES = (  # tried in this order: what workers call comes first
    labelling.routes, health.routes, projects.routes, items.routes, files.routes, exports.routes,
    workers.routes, invitations.routes, hits.routes, prolific.routes, external_votes.routes, forecast.routes,
    audit.routes, report.routes, imports.routes, jobs.routes, webhooks.routes, notifications.routes,
    label_studio.routes, label_studio_backend.routes, members.routes, keys.routes, log.routes,
)  # fmt: skip
WORKERS_PER_ADDRESS = 50  # who may share a network address, such as that of a university


def create_app(settings: Settings) -> FastAPI:
    """The service over a database that is migrated already."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.openapi()  # takes a while, so that nobody has to wait for it later
        yield
        app.state.labelling.close()
        app.state.store.close()

    app = FastAPI(
        title="Crowdpilot", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", servers=[{"url": settings.base}] if settings.base else None,
    )  # fmt: skip
    app.state.settings = settings
    app.state.store = Store(settings.database)
    app.state.labelling = LabellingService(app.state.store, settings)
    app.state.keys = KeyRing(app.state.store)
    app.state.prolific_keys = PublicKeys()
    provider = settings.identity_provider
    app.state.identity_provider = provider and OpenIDConnect(provider, settings.address + CALLBACK)
    rate, burst = settings.requests_per_second, settings.burst
    app.state.worker_limiter = _limiter(settings, "workers", rate, burst)
    app.state.metrics = Metrics(app.state.store, shared=settings.shared)
    app.state.readiness = Readiness(app.state.store)
    app.state.project_languages = {}  # by id, of those that workers of this process have seen
    add_error_handlers(app, error_page, translate_error)
    app.router.routes.extend(_routes())
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(LanguageMiddleware)
    app.add_middleware(
        ServiceMiddleware, settings=settings, metrics=app.state.metrics,
        limiter=_limiter(settings, "addresses", rate * WORKERS_PER_ADDRESS, burst * WORKERS_PER_ADDRESS),
        check_sender=partial(check_sender, app.state.store, settings),
    )  # fmt: skip
    app.add_middleware(BasePathMiddleware, base=settings.base)  # the outermost: all others see our own paths
    return app


@cache
def _routes() -> list[BaseRoute]:
    """All routes. They hold no state, and are made once for all applications of a process."""
    made = APIRouter()
    for routes in API_ROUTES:
        made.include_router(routes, dependencies=[Depends(reject_unknown_parameters)])
    made.include_router(worker_pages())
    made.include_router(dashboard_pages())
    return made.routes


def _limiter(settings: Settings, name: str, rate: float, burst: int) -> RateLimiter:
    """Rate limits that all web processes share if there is a folder for it."""
    file = Path(settings.shared, f"{name}.limits") if settings.shared else None
    return RateLimiter(rate, burst, file=file, secret=settings.secret)
