"""The pages of exports, imports and notifications: what they offer, in a browser and without."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.mail_server import MailServer
from crowdpilot.service.pages.dashboard import exports
from tests.service.harness.accessibility import axe
from tests.service.harness.dashboard import HOSTILE, DashboardService, listening_service, post
from tests.service.harness.service import PNG, Project, sqlite_url


def test_every_export_of_the_page_is_there(service: DashboardService) -> None:
    id = service.create(4, name=HOSTILE)
    service.work(id, 6)
    client, home = service.signed_in("read"), f"/projects/{id}/export"
    page = client.get(home).text
    assert "<script>alert" not in page
    for end in ("decisions.csv", "votes.parquet", "comments.csv", "comments.ndjson", "class-folders.zip",
                "hugging-face.zip", "label-studio.json"):  # fmt: skip
        assert f"{home}/{end}" in page
        assert client.get(f"{home}/{end}").status_code == 200, end
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"{home}/class-folders.zip?confidence=0 %").content))
    assert len(archive.namelist()) == 5
    assert client.get(f"{home}/class-folders.zip?confidence=much").status_code == 422


def test_the_report_opens_in_a_sandbox(service: DashboardService, monkeypatch: pytest.MonkeyPatch) -> None:
    id = service.create(4)
    service.work(id, 6)
    client, home = service.signed_in("read"), f"/projects/{id}/export/report"
    monkeypatch.setattr(exports, "PAGE_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(exports, "DOWNLOAD_WAIT_SECONDS", 0.0)
    assert client.get(f"{home}/open").status_code == 503
    service.do_jobs()
    assert "Open the report" in client.get(home).text
    opened = client.get(f"{home}/open")
    policy = opened.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts allow-downloads;")
    assert "content-disposition" not in opened.headers
    assert client.get(f"{home}.html").headers["content-disposition"].startswith("attachment")


def test_an_import_is_started_and_followed_on_its_page(tmp_path: Path) -> None:
    (tmp_path / "birds").mkdir()
    (tmp_path / "birds/a.txt").write_text("A text.")
    service = DashboardService(sqlite_url(tmp_path), import_from=((tmp_path / "birds").as_uri(),))
    id = service.create(1)
    client, home = service.signed_in("write"), f"/projects/{id}/import"
    refused = post(client, home, home, address="file:///etc/")
    assert (refused.status_code, "cannot be imported from this address" in refused.text) == (403, True)
    nothing = post(client, home, home, address=" ")
    assert (nothing.status_code, "Write the address" in nothing.text) == (422, True)
    assert "The import is running." in post(client, home, home, address=(tmp_path / "birds").as_uri()).text
    service.do_jobs()
    assert "1 item was added." in client.get(home).text
    service.close()


def test_without_addresses_the_page_says_who_can_allow_some(service: DashboardService) -> None:
    id = service.create(1)
    assert "--import-from" in service.signed_in().get(f"/projects/{id}/import").text


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DashboardService]:
    mail = MailServer(scheme="smtp", host="127.0.0.1", port=1, sender="study@example.org")
    with listening_service(sqlite_url(tmp_path), import_from=(tmp_path.as_uri(),), mail_server=mail) as made:
        yield made


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_exports_and_the_report_work_in_a_browser(
    site: DashboardService, open_page: Any, scheme: str
) -> None:
    project = site.project(classes=["crow", "owl"], notify={"emails": ["ann@example.org"]})
    sent = [("file", (f"{n}.png", PNG, "image/png")) for n in range(4)]
    assert project.post("/items", files=sent).status_code == 201
    for worker in ("ann", "bob"):
        project.add_votes(*((f"{n}.png", worker, ["crow", "owl"][n % 2]) for n in range(4)))
    for screen in ("desktop", "phone"):
        page = open_page(screen, color_scheme=scheme)
        page.goto(f"{site.settings.address}/login")
        page.fill("[name=key]", site.keys["admin"])
        page.click("button[type=submit]")
        home = f"{site.settings.address}/projects/{project.id}"
        for path in ("/export", "/import", "/notifications", "/add", "/log"):
            page.goto(home + path)
            axe(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        _export_and_open(page, home, project)


def _export_and_open(page: Any, home: str, project: Project) -> None:
    page.goto(f"{home}/export")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Folders by label").click()
    assert sorted(zipfile.ZipFile(saved.value.path()).namelist())[:2] == ["crow/0.png", "crow/2.png"]
    page.get_by_role("link", name="Make the report").click()
    with page.context.expect_page(timeout=30_000) as opened:
        page.get_by_role("link", name="Open the report").click(timeout=30_000)
    report = opened.value
    report.wait_for_selector("#table-decisions tbody tr")  # its script runs
    assert report.locator("#table-decisions tbody tr").count() == 4
    assert report.evaluate("self.origin") == "null"  # it is nobody's page
    assert project.id not in report.inner_text("body")
