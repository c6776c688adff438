"""HITs in a browser: created and extended by clicks, on a phone and a desktop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.harness.accessibility import fits
from tests.service.harness.dashboard import DashboardService, listening_service
from tests.service.harness.mturk_server import MTurk
from tests.service.harness.service import local_address, sqlite_url

pytestmark = pytest.mark.thorough  # needs a browser


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DashboardService]:
    """A service that listens on loopback and has an https address, without which MTurk shows no page."""
    with listening_service(sqlite_url(tmp_path), local_address().replace("http:", "https:")) as made:
        yield made


def test_a_hit_is_created_extended_and_paid_by_clicks(
    site: DashboardService, mturk: MTurk, page: Any, trouble: list[str]
) -> None:
    id = site.create(mturk={"sandbox": False})
    address = site.settings.address.replace("https:", "http:")  # loopback, as behind a proxy
    page.goto(f"{address}/login")
    page.get_by_label("API key").fill(site.keys["write"])
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{address}/projects/{id}/recruiting")
    fits(page)
    page.get_by_role("link", name="New HIT").click()
    page.get_by_label("Title").fill("Say whether the writer of a review likes the film")
    page.get_by_label("Reward in dollars").fill("0.35")
    page.get_by_label("Assignments", exact=True).fill("6")
    page.get_by_label("Countries").fill("US, GB")
    page.get_by_text("You pay at most USD 2.10 to workers and about USD 0.42 to Amazon").wait_for()
    fits(page)
    page.get_by_label("Type the amount for workers to confirm it").fill("2")
    page.get_by_role("button", name="Create the HIT").click()
    page.get_by_text("type 2.10 to confirm it").wait_for()
    assert page.get_by_label("Countries").input_value() == "US, GB"
    fits(page)
    assert [said for said in trouble if "422" not in said] == []  # the browser logs the status
    trouble.clear()
    page.get_by_label("Type the amount for workers to confirm it").fill("2.10")
    page.get_by_role("button", name="Create the HIT").dblclick()
    page.get_by_text("The HIT is created.").wait_for()
    assert len(mturk.hits) == 1
    (hit,) = mturk.hits
    mturk.add_assignment("3TESA3PJ31ZLBLMPZQ7AKEXAMPLE00", hit, "A1EXAMPLEWORKER")
    mturk.add_assignment("3TESA3PJ31ZLBLMPZQ7AKEXAMPLE01", hit, "A2EXAMPLEWORKER")
    page.get_by_label("More assignments").fill("2")
    page.get_by_label("Days from now until it ends").fill("9")
    page.get_by_text(
        "More assignments cost at most USD 0.70 for workers and about USD 0.14 for Amazon"
    ).wait_for()
    page.get_by_label("Type the amount for workers to confirm it").fill("0.70")
    page.get_by_role("button", name="Extend the HIT").click()
    page.get_by_text("The HIT is extended.").wait_for()
    assert mturk.hits[hit]["NumberOfAssignmentsAvailable"] == 6
    fits(page)
    page.get_by_label("Choose A1EXAMPLEWORKER").check()
    page.get_by_role("button", name="Approve and pay USD 0.35 each").click()
    page.get_by_text("Your review is on MTurk.").wait_for()
    page.get_by_role("link", name="All HITs").click()
    page.get_by_text("6 free, 0 being done").wait_for()
    fits(page)
