"""The application: everything put together from its settings, with no state of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles

from crowdpilot import __version__
from crowdpilot.service.http import (
    error_responses,
)
from crowdpilot.service.http.middleware import Guard
from crowdpilot.service.http.query_parameters import only_known
from crowdpilot.service.http.rate_limits import Limits
from crowdpilot.service.http.routes import (
    analyses,
    exports,
    external_votes,
    health,
    items,
    label_studio,
    labelling,
    projects,
    webhooks,
    workers,
)
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.pages.dashboard.projects import dashboard_pages
from crowdpilot.service.pages.rendering import STATIC
from crowdpilot.service.pages.worker.routes import worker_pages
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store

ROUTES = (
    health.routes, projects.routes, items.routes, items.files, exports.routes, workers.routes,
    external_votes.routes, analyses.routes, webhooks.routes, label_studio.routes, label_studio.machine,
    labelling.routes,
)  # fmt: skip
SHARED = 50  # workers who may share an address, such as that of a university


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
        openapi_url="/api/openapi.json",
    )  # fmt: skip
    app.state.settings = settings
    app.state.store = Store(settings.database)
    app.state.labelling = LabellingService(app.state.store, settings)
    app.state.limits = Limits(settings.rate, settings.burst)
    app.state.counts = defaultdict(float)
    error_responses.install(app)
    for routes in ROUTES:
        app.include_router(routes, dependencies=[Depends(only_known)])
    app.include_router(worker_pages())
    app.include_router(dashboard_pages())
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    limits = Limits(settings.rate * SHARED, settings.burst * SHARED)
    app.add_middleware(Guard, settings=settings, limits=limits, counts=app.state.counts)
    return app
