"""Every page of the service in a browser: light and dark, on a desktop and on a phone.

Nothing is cut or scrolls sideways, axe finds nothing serious, no script fails, and no page is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.routing import iter_route_contexts

from crowdpilot.service.pages.dashboard.projects import dashboard_pages
from crowdpilot.service.pages.worker.routes import worker_pages
from crowdpilot.service.store.requesters import members
from docs.gallery.shots import SHOTS
from docs.gallery.site import Site, fill
from tests.service.harness.accessibility import fits
from tests.service.harness.dashboard import DashboardService, listening_service, sign_in
from tests.service.harness.mturk_server import used_mturk
from tests.service.harness.prolific_server import used_prolific
from tests.service.harness.service import MEMBER, local_address, sqlite_url

pytestmark = pytest.mark.thorough  # needs a browser
NOT_FOUND = ("wrong-address", "worker-wrong-link")
PARTS = ("/live", "/cards", "/state", "/batch", "/look", "/data")  # of pages, which scripts fetch, and files
REDIRECTS = ("/", "/login/oidc", "/login/oidc/callback", "/w/{project}/prolific", "/w/{project}/mturk")
PREVIEW = "/projects/{id}/preview"  # shows the pages of workers


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardService]:
    """A service that listens on loopback and has an https address, without which MTurk shows no page."""
    folder: Path = tmp_path_factory.mktemp("gallery")
    with listening_service(sqlite_url(folder), local_address().replace("http:", "https:")) as made:
        with made.store.writing() as c:
            members.set_operator(c, members.find_or_create(c, MEMBER).id, True)
        yield made


@pytest.fixture(scope="module")
def site(service: DashboardService) -> Iterator[Site]:
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        used_mturk(monkeypatch) as mturk,
        used_prolific(monkeypatch) as prolific,
    ):
        made = Site(service.settings.address.replace("https:", "http:"), service.keys["admin"])
        with closing(made):
            fill(made, mturk, prolific)
            yield made


def whole_pages() -> set[str]:
    """Paths of the routes that show a page of their own, not a file, a part of a page or a redirect."""
    routers = [*dashboard_pages().routes, *worker_pages().routes]
    paths = {str(route.path) for route in iter_route_contexts(routers) if "GET" in (route.methods or ())}
    return {
        path for path in paths
        if not path.endswith(PARTS) and "." not in path
        and path not in REDIRECTS and not path.startswith(PREVIEW)
    }  # fmt: skip


def path_of(address: str) -> str:
    """The path of the route that has shown an address."""
    path = urlsplit(address).path
    return next(
        (known for known in sorted(whole_pages()) if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path)),
        path,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_every_page_is_accessible_and_fits_the_screen(
    site: Site, service: DashboardService, open_page: Any, screen: str, scheme: str, trouble: list[str]
) -> None:
    requester = open_page(screen, color_scheme=scheme)
    sign_in(requester, service, address=site.address)
    wrong, seen = [], set()
    for shot in SHOTS:
        page = open_page(screen, color_scheme=scheme) if shot.is_worker else requester
        shot.show(site, page)
        seen.add(path_of(page.url))
        try:
            fits(page)
        except AssertionError as error:
            wrong.append(f"{shot.name}: {error}")
        if shot.is_worker:
            page.close()
        if shot.name in NOT_FOUND:
            trouble[:] = [said for said in trouble if "40" not in said]  # the browser logs the status
        wrong += [f"{shot.name}: {said}" for said in trouble]
        trouble.clear()
    assert not wrong, "\n".join(wrong)
    assert whole_pages() - seen == set()
