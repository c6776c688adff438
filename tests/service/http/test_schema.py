"""What the description of the API promises: no request, however odd, breaks the service or slips through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from starlette.types import ASGIApp, Receive, Scope, Send

from crowdpilot.service.app import create_app
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from tests.service.harness.postgres import Postgres
from tests.service.harness.service import SECRET, Project, Service, sqlite_url

load_all_checks()
SKIPPED = {
    "positive_data_acceptance",  # a schema cannot know the items and classes of a project
    "use_after_free",
    "ensure_resource_availability",
}
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "429", "5xx"]
CONFIG = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}}
)
SOME = settings(
    max_examples=15, deadline=None, database=None, derandomize=True,
    phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
)  # fmt: skip
MANY = settings(SOME, max_examples=100)


class Tried:
    """A service with a project in which there is everything to be found."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.project: Project = service.project(plan={"gold": 0.1})
        self.project.add_texts(30)
        self.project.post("/gold", json={"gold": {"i1": "good", "i2": "bad"}})
        self.project.add_votes(*((f"i{n}", f"w{n % 5}", "good") for n in range(20)))
        self.worker = self.project.worker()
        self.lent = self.worker.next(10)

    @property
    def headers(self) -> dict[str, str]:
        return {"X-API-Key": self.service.key, "Authorization": f"Bearer {self.worker.token}"}

    def aim(self, case: Case) -> None:
        """Let well-formed requests hit something that is there."""
        with self.service.store.writing() as c:
            projects.change(c, self.project.id, state=projects.OPEN)
        found = case.path_parameters
        for name in ("id", "project"):
            if re.fullmatch("[0-9a-f]{12}", str(found.get(name, ""))):
                found[name] = self.project.id
        if 0 < len(str(found.get("password", ""))) <= 100 and len(str(found["password"])) % 4:
            found["password"] = backend.password(SECRET, self.project.id)
        if isinstance(found.get("worker"), int) and 0 < found["worker"] < 2**63:
            found["worker"] = 1 + found["worker"] % 4
        wait = case.query.get("wait", 0) if case.path.endswith("/report") else None
        if isinstance(wait, int | float) and 0 <= wait <= 30:
            case.query["wait"] = 0
        body = case.body if isinstance(case.body, dict) else {}
        if case.path == "/api/votes" and isinstance(body.get("item"), int) and body["item"] >= 0:
            body["item"] = self.lent[body["item"] % len(self.lent)]["item"]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    made = Service(sqlite_url(tmp_path_factory.mktemp("schema")))
    yield Tried(made)
    made.close()


@pytest.fixture(scope="module")
def elsewhere(postgres: Postgres) -> Iterator[Tried]:
    """The same over PostgreSQL."""
    with postgres.database() as address:
        made = Service(address)
        yield Tried(made)
        made.close()


def lasting(app: ASGIApp) -> ASGIApp:
    """The same application, which does not end with each request of a client."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        while (message := (await receive())["type"]) != "lifespan.shutdown":
            await send({"type": f"{message}.complete"})
        await send({"type": "lifespan.shutdown.complete"})

    return called


def operations() -> list[Any]:
    """Method and path of every operation that is described."""
    app = create_app(Settings(database="sqlite:///never-opened.db", secret=SECRET))
    app.state.labelling.close()
    described = app.openapi()["paths"]
    return [pytest.param(m, path, id=f"{m} {path}") for path, some in described.items() for m in some]


def check(tried: Tried, method: str, path: str, limits: settings) -> None:
    app = lasting(tried.service.app)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, config=CONFIG)
    operation = schema[path][method]
    modes = [GenerationMode.POSITIVE]
    if operation.body or [*operation.iter_parameters()]:
        modes.append(GenerationMode.NEGATIVE)
    kept = [CHECKS.get_one(name) for name in CHECKS.get_all_names() if name not in SKIPPED]

    @limits
    @given(case=st.one_of([operation.as_strategy(mode) for mode in modes]))
    def holds(case: Case) -> None:
        tried.aim(case)
        case.call_and_validate(headers=tried.headers, checks=kept)

    holds()


@pytest.mark.parametrize(("method", "path"), operations())
def test_no_request_breaks_the_service_or_slips_through(tried: Tried, method: str, path: str) -> None:
    check(tried, method, path, SOME)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), operations())
def test_nor_do_many_requests(tried: Tried, method: str, path: str) -> None:
    check(tried, method, path, MANY)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), operations())
def test_nor_do_many_requests_over_postgresql(elsewhere: Tried, method: str, path: str) -> None:
    check(elsewhere, method, path, MANY)
