"""Routes for operators of the service: liveness, readiness, and metrics for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from crowdpilot.service.access import READ
from crowdpilot.service.errors import ForbiddenError
from crowdpilot.service.http.auth import API_KEY, StoreOf, requester_with
from crowdpilot.service.http.metrics import Metrics
from crowdpilot.service.http.readiness import READY, Readiness
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.network_addresses import is_loopback

routes = APIRouter(tags=["operations"])
FORWARDED_HEADERS = ("x-forwarded-for", "forwarded", "x-real-ip", "via")
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


@routes.get("/healthz")
async def get_health() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "alive"}


@routes.get("/readyz")
def get_readiness(request: Request) -> Response:
    """Whether the database takes writes and has the schema of this version; if not, one word says why.

    The word is unreachable, unmigrated, locked, full or readonly.
    """
    readiness: Readiness = request.app.state.readiness
    word = readiness.check()
    return JSONResponse({"status": word}, 200 if word == READY else 503)


def check_operator(request: Request, store: StoreOf, key: Annotated[str | None, Depends(API_KEY)]) -> None:
    """Raise unless a request comes from this machine, or with the key of an operator."""
    if key is None and is_local(request):
        return
    requester = requester_with(READ)(request, store, key)
    if not requester.operator or requester.projects is not None:
        raise ForbiddenError("only an operator of the service may see this; use the key of one")


def is_local(request: Request) -> bool:
    """Whether a request comes from a program on this machine that is no proxy, by all that can be seen."""
    client = request.client
    return (
        client is not None
        and is_loopback(client.host)
        and request.url.hostname in LOCAL_HOSTS
        and not any(name in request.headers for name in FORWARDED_HEADERS)
    )


@routes.get(
    "/metrics",
    response_class=PlainTextResponse,
    dependencies=[Depends(check_operator)],
    responses=error_schemas(401, 403),
)
def get_metrics(request: Request) -> Response:
    """Metrics of all web processes in the text format of Prometheus: for operators, and for this machine."""
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
