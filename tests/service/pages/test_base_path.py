"""The service under a base path, such as https://example.org/label: every address carries it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.http.base_path import BasePathMiddleware, url
from crowdpilot.service.pages.rendering import FOLDER
from crowdpilot.service.settings import OWN_PATHS, Settings
from tests.service.harness.dashboard import DashboardService, csrf, post
from tests.service.harness.service import PNG, SECRET, sqlite_url
from tests.service.harness.worker_pages import FULL, WorkerService, leased, token, vote

HOST, BASE = "https://testserver", "/label"
ADDRESSES = re.compile(r'\b(?:href|src|action|hx-get|hx-post|data-home)="(/[^"]*)"|content="0; url=(/[^"]*)"')
IMAGE = "/files/project/digest"
TEMPLATES = FOLDER / "templates"


Browse = Callable[[DashboardService | WorkerService], TestClient]


@pytest.fixture(params=["the proxy keeps the base path", "the proxy strips the base path"])
def browse(request: pytest.FixtureRequest) -> Browse:
    """A browser before a proxy before the service."""

    def start(service: DashboardService | WorkerService) -> TestClient:
        async def proxy(scope: Any, receive: Any, send: Any) -> None:
            if request.param == "the proxy strips the base path":
                scope = {**scope, "path": scope["path"].removeprefix(BASE)}
            await service.app(scope, receive, send)

        return TestClient(proxy, base_url=HOST + BASE, headers={"accept": "text/html"})

    return start


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path), HOST + BASE)
    yield made
    made.close()


def signed_in(service: DashboardService) -> TestClient:
    """Somebody who has signed in with an admin key."""
    client = service.visitor()
    client.post("/login", data={"csrf": csrf(client.get("/login").text), "key": service.keys["admin"]})
    return client


def addresses(text: str) -> list[str]:
    """The addresses of a page that begin with a slash."""
    return [a or b for a, b in ADDRESSES.findall(text)]


def outside(text: str) -> list[str]:
    """Those that lead out of the base path."""
    return [address for address in addresses(text) if not address.startswith(f"{BASE}/")]


def crawl(client: TestClient, start: str) -> set[str]:
    """All pages that links lead to, as a browser follows them; none leads out of the base path."""
    seen, left = set(), [start]
    while left:
        here = left.pop()
        if here in seen or here.endswith(("/logout", ".csv", ".ndjson", ".parquet", ".json", ".html")):
            continue
        seen.add(here)
        answer = client.get(here, follow_redirects=False)
        assert answer.status_code in (200, 303), (here, answer.status_code)
        if answer.status_code == 303:
            left.append(urljoin(here, answer.headers["location"]))
        elif answer.headers["content-type"].startswith("text/html"):
            assert outside(answer.text) == [], here
            found = re.findall(r'(?:href|src|hx-get)="([/?][^"]*)"', answer.text)
            left += [urlsplit(urljoin(here, one.replace("&amp;", "&")))._replace(fragment="").geturl()
                     for one in found]  # fmt: skip
    return seen


def test_every_page_of_the_dashboard_leads_to_pages_under_the_base_path(
    service: DashboardService, browse: Browse
) -> None:
    id = service.create()
    service.work(id, votes=6)
    client = browse(service)
    form = {"csrf": csrf(client.get("/login").text), "key": service.keys["admin"]}
    assert client.post("/login", data=form, follow_redirects=False).headers["location"] == f"{BASE}/projects"
    client.base_url = HOST  # from here on, addresses are as pages give them
    seen = crawl(client, f"{BASE}/projects")
    for page in (
        f"/projects/{id}/items",
        f"/projects/{id}/live",
        f"/projects/{id}/log",
        "/keys",
        "/projects/new",
    ):
        assert BASE + page in seen
    assert any(page.startswith(f"{BASE}/static/app.css") for page in seen)


def test_a_change_on_the_dashboard_returns_under_the_base_path(service: DashboardService) -> None:
    id = service.create()
    client = signed_in(service)
    assert post(client, f"/projects/{id}/state/pause", f"/projects/{id}").url.path == f"{BASE}/projects/{id}"


def test_a_page_that_needs_to_sign_in_comes_back_under_the_base_path(service: DashboardService) -> None:
    client = service.visitor()
    sent = client.get("/projects/new", follow_redirects=False)
    assert sent.headers["location"] == f"{BASE}/login?next=/projects/new"
    live = client.get("/projects/x/live", headers={"hx-request": "true"})
    assert live.headers["hx-redirect"] == f"{BASE}/login"
    form = {"csrf": csrf(client.get("/login").text), "key": service.keys["admin"], "next": "/projects/new"}
    done = client.post("/login", data=form, follow_redirects=False)
    assert done.headers["location"] == f"{BASE}/projects/new"
    assert all("Path=/label;" in one for one in done.headers.get_list("set-cookie"))


def test_a_worker_stays_under_the_base_path_to_the_end(tmp_path: Path, browse: Browse) -> None:
    contents = [{"text": "A film.", "image": IMAGE}]
    service = WorkerService(sqlite_url(tmp_path), {**FULL, "batch": 1}, HOST + BASE, contents)
    client = browse(service)
    home = urlsplit(service.link)
    assert home.path == f"{BASE}{service.home}"
    arrived = client.get(f"{service.home}?{home.query}", follow_redirects=False)
    assert arrived.headers["location"] == home.path
    assert f"Path={home.path};" in arrived.headers["set-cookie"]
    agreed = client.get(home.path.removeprefix(BASE))
    version = re.search(r'name="version" value="([^"]*)"', agreed.text)
    assert version
    assert outside(agreed.text) == []
    assert addresses(agreed.text)
    form = {"csrf": csrf(agreed.text), "version": version[1], "agree": "yes"}
    shown = client.post(f"{service.home}/consent", data=form)
    assert shown.url.path == f"{home.path}/instructions"
    assert outside(shown.text) == []
    quiz = client.get(f"{service.home}/quiz")
    right = {"csrf": csrf(quiz.text), "answer-0": "Positive", "answer-1": "Negative"}
    work = client.post(f"{service.home}/quiz", data=right)
    assert work.url.path == f"{home.path}/label"
    assert outside(work.text) == []
    assert f'src="{BASE}{IMAGE}"' in work.text
    assert f'data-home="{home.path}"' in work.text
    assert vote(client, service.home, token(work.text), leased(work.text)[0][0]).status_code == 204
    ended = client.post(f"{service.home}/finish", data={"csrf": token(work.text)})
    assert ended.url.path == f"{home.path}/done"
    assert outside(ended.text) == []
    service.close()


def test_images_of_items_are_shown_under_the_base_path(service: DashboardService) -> None:
    project = service.project()
    added = project.post("/items", files=[("file", ("a.png", PNG, "image/png"))])
    assert added.status_code == 201, added.text
    page = signed_in(service).get(f"/projects/{project.id}/items").text
    found = re.search(rf'src="({BASE}/files/[^"]+)"', page)
    assert found
    assert TestClient(service.app, base_url=HOST).get(found[1]).content == PNG


def test_the_api_works_with_and_without_the_base_path_and_its_schema_names_it(
    service: DashboardService, browse: Browse
) -> None:
    client = browse(service)
    client.headers.update({"accept": "*/*", "X-API-Key": service.key})
    assert client.get("/healthz").status_code == 200
    made = client.post("/api/projects", json={"name": "Films", "classes": ["bad", "good"]}).json()
    assert made["link"].startswith(f"{HOST}{BASE}/w/{made['id']}?invite=")
    assert client.get("/api/openapi.json").json()["servers"] == [{"url": BASE}]
    backend = client.get(f"/api/projects/{made['id']}/label-studio/backend").json()
    assert any(str(value).startswith(f"{HOST}{BASE}/label-studio/") for value in backend.values())
    missing = client.get("/api/nothing", headers={"accept": "text/html"})
    assert missing.headers["content-type"] == "application/problem+json"


def test_error_pages_find_their_style_under_the_base_path(service: DashboardService) -> None:
    page = service.visitor().get("/nothing")
    assert page.status_code == 404
    assert addresses(page.text)
    assert outside(page.text) == []


@pytest.mark.parametrize("file", sorted(TEMPLATES.rglob("*.html")), ids=lambda file: file.stem)
def test_templates_leave_the_base_path_to_the_helper(file: Path) -> None:
    assert re.findall(r'(?:href|src|action|hx-\w+|data-\w+)="/[^"]*', file.read_text()) == []


def test_a_path_that_only_begins_like_the_base_path_is_not_under_it(service: DashboardService) -> None:
    assert TestClient(service.app, base_url=HOST).get("/labelling/healthz").status_code == 404


@pytest.mark.parametrize(("address", "base"), [
    ("https://a.example", ""), ("https://a.example/label", "/label"), ("https://a.example/x/y-1", "/x/y-1"),
])  # fmt: skip
def test_the_base_path_is_the_path_of_the_address(address: str, base: str) -> None:
    assert Settings(secret=SECRET, address=address).base == base


@pytest.mark.parametrize("address", [
    "https://a.example/a b", "https://a.example/a;b", "https://a.example/a?b=c", "https://a.example/a#b",
    "https://a.example/../a", "https://a.example//a", 'https://a.example/"', "https://a.example/a/",
])  # fmt: skip
def test_a_base_path_of_odd_characters_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="path of the address"):
        Settings(secret=SECRET, address=address)


@pytest.mark.parametrize("base", ["/api", "/w/label"])
def test_a_base_path_that_is_one_of_our_own_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match=f"'{base}' is a path of the service itself"):
        Settings(secret=SECRET, address=f"{HOST}{base}")


def paths(router: Any) -> Iterator[str]:
    """The paths of all routes."""
    for route in router.routes:
        inner = getattr(route, "original_router", None)  # of an included router
        yield from paths(inner) if inner else [route.path]


def test_the_paths_of_our_own_are_all_known(service: DashboardService) -> None:
    assert {path.split("/")[1] for path in paths(service.app)} - {""} == set(OWN_PATHS)


async def _seen(base: str, path: str) -> tuple[str, str]:
    """The path that the application sees, and what `url("/projects")` is there."""
    found: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.extend([scope["path"], url("/projects")])

    async def nothing(*_: Any) -> Any:
        return {}

    await BasePathMiddleware(app, base=base)({"type": "http", "path": path}, nothing, nothing)
    return found[0], found[1]


@pytest.mark.parametrize(("base", "path", "seen"), [
    ("", "/projects", "/projects"), ("/label", "/label/projects", "/projects"), ("/label", "/label", "/"),
    ("/label", "/projects", "/projects"), ("/label", "/labels", "/labels"), ("/a/b", "/a/b/w/1", "/w/1"),
])  # fmt: skip
def test_the_base_path_is_stripped_once(base: str, path: str, seen: str) -> None:
    assert asyncio.run(_seen(base, path)) == (seen, f"{base}/projects")


@pytest.mark.parametrize(
    "address", ["https://x.example/a.png", "//x.example/a.png", "data:image/png;base64,", "?page=2"]
)
def test_addresses_elsewhere_are_left_as_they_are(address: str) -> None:
    assert url(address) == address
