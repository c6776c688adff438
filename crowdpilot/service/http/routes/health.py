"""Routes for who runs the service: is it alive, is it ready, and how is it doing."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.http.middleware import STEPS
from crowdpilot.service.store import service_metrics
from crowdpilot.service.store.migrate import is_current

routes = APIRouter(tags=["operations"])


@routes.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "alive"}


@routes.get("/readyz")
def readyz(store: StoreOf) -> Response:
    """Whether the database answers and has the form that this version works with."""
    if not store.alive():
        return JSONResponse({"status": "no database"}, 503)
    current = is_current(store)
    return JSONResponse({"status": "ready" if current else "not migrated"}, 200 if current else 503)


@routes.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, store: StoreOf) -> str:
    """Numbers in the text format of Prometheus; requests are those of this process."""
    counts = request.app.state.counts
    lines = ["# TYPE crowdpilot_requests_total counter"]
    statuses = sorted(key[1] for key in counts if isinstance(key, tuple) and key[0] == "status")
    lines += [f'crowdpilot_requests_total{{status="{s}"}} {counts["status", s]}' for s in statuses]
    total = sum(counts["status", s] for s in statuses)
    lines += ["# TYPE crowdpilot_request_seconds histogram"]
    lines += [f'crowdpilot_request_seconds_bucket{{le="{step}"}} {counts["within", step]}' for step in STEPS]
    lines += [f'crowdpilot_request_seconds_bucket{{le="+Inf"}} {total}']
    lines += [
        f"crowdpilot_request_seconds_sum {counts['seconds']}",
        f"crowdpilot_request_seconds_count {total}",
    ]
    with store.reading() as c:
        numbers = service_metrics.numbers(c)
    for name, by_state in numbers.items():
        lines += [f"# TYPE crowdpilot_{name} gauge"]
        lines += [f'crowdpilot_{name}{{state="{state}"}} {n}' for state, n in sorted(by_state.items())]
    return "\n".join(lines) + "\n"
