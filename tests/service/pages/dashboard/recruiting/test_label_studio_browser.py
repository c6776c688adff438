"""Label Studio in a browser: a project is made after one there, compared and disconnected by clicks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from tests.service.harness.accessibility import fits
from tests.service.harness.dashboard import DashboardService, listening_service, sign_in
from tests.service.harness.label_studio_server import LabelStudio, choices_config
from tests.service.harness.service import sqlite_url

pytestmark = pytest.mark.thorough  # needs a browser and Label Studio


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DashboardService]:
    """A service that may reach this machine."""
    networks = (IPv4Network("127.0.0.0/8"),)
    with listening_service(sqlite_url(tmp_path), webhook_networks=networks) as made:
        yield made


def test_a_project_comes_from_label_studio_and_is_disconnected_by_clicks(
    site: DashboardService, label_studio: LabelStudio, page: Any, trouble: list[str]
) -> None:
    tasks = [{"text": f"Film {n}"} for n in range(4)]
    number = label_studio.add_project(choices_config(["bad", "good"]), tasks, title="Films there")
    sign_in(page, site, address=site.settings.address)
    page.goto(f"{site.settings.address}/projects/new")
    page.get_by_role("link", name="Label Studio").click()
    page.get_by_label("Address of Label Studio").fill(label_studio.address)
    page.get_by_label("Number of the project there").fill(str(number))
    page.get_by_label("Access token").fill("f" * 40)
    page.get_by_role("button", name="Create and connect").click()
    page.get_by_text("does not accept the access token").wait_for()
    fits(page)
    assert [said for said in trouble if "422" not in said] == []  # the browser logs the status
    trouble.clear()
    assert page.get_by_label("Access token").input_value() == ""
    page.get_by_label("Access token").fill(label_studio.add_user("owner").personal_token())
    page.get_by_role("button", name="Create and connect").click()
    page.get_by_text("The project is connected.").wait_for()
    assert page.get_by_role("heading", name="Films there").count() == 2
    fits(page)
    label_studio.import_tasks(number, [{"text": "One more"}])
    page.get_by_role("button", name="Compare now").click()
    page.get_by_text(re.compile(r"Compared: \d new tasks?, 0 answers new or changed\.")).wait_for()
    assert page.locator(".facts dd").first.inner_text() == "5"
    label_studio.add_user().submit(label_studio.tasks(number)[0]["id"], "good")
    page.locator("#standing dd").nth(1).filter(has_text="1").wait_for()  # without loading the page
    fits(page)
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_text("The project is disconnected.").wait_for()
    fits(page)
    assert label_studio.webhooks(number) == label_studio.backends(number) == []
