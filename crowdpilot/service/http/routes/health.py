"""Routes for operators of the service: liveness, readiness, and metrics for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.http.metrics import Metrics
from crowdpilot.service.store.migration import is_current

routes = APIRouter(tags=["operations"])


@routes.get("/healthz")
async def get_health() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "alive"}


@routes.get("/readyz")
def get_readiness(store: StoreOf) -> Response:
    """Whether the database answers and has the schema that this version works with."""
    if not store.alive():
        return JSONResponse({"status": "no database"}, 503)
    current = is_current(store)
    return JSONResponse({"status": "ready" if current else "not migrated"}, 200 if current else 503)


@routes.get("/metrics", response_class=PlainTextResponse)
def get_metrics(request: Request) -> Response:
    """Metrics in the text format of Prometheus; requests are those of this process."""
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
