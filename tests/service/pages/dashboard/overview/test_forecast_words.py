"""The forecast speaks of votes, money and wrong labels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crowdpilot.service.pages.dashboard.formatting import money
from crowdpilot.service.pages.dashboard.overview.forecast_words import describe_forecast, explain_no_forecast
from crowdpilot.service.store import jobs
from tests.service.harness.dashboard import DashboardService


def euros(value: float) -> str:
    return f"{value:.0f} EUR"


def result(low: float = 280, high: float = 340) -> dict[str, Any]:
    spent = {"low": low * 0.05, "median": low * 0.05, "high": high * 0.05}
    return {
        "votes": 100, "level": 0.9, "curves": {},
        "end": {"error": {"low": 0.031, "median": 0.04, "high": 0.06}},
        "total": {"votes": {"low": low, "median": low, "high": high}, "spent": spent},
    }  # fmt: skip


def project(**row: Any) -> Any:
    return SimpleNamespace(**{"votes": 100, "done": False, **row})


def test_what_is_to_come_is_said_in_votes_and_money() -> None:
    found = describe_forecast(project(), 5.0, result(), euros)
    assert found is not None
    assert found.claim == "About 180 to 240 more answers, for 9 EUR to 12 EUR"
    assert found.then == "Then about 3 to 6% of the labels will be wrong."


def test_a_forecast_ends_with_the_project_and_where_more_votes_came() -> None:
    assert describe_forecast(project(done=True), 5.0, result(), money) is None
    assert describe_forecast(project(votes=400), 20.0, result(), money) is None
    assert describe_forecast(project(), 5.0, {"why": "there are too few votes"}, money) is None
    assert describe_forecast(project(), 5.0, None, money) is None
    near = describe_forecast(project(votes=300), 15.0, result(), euros)
    assert near is not None
    assert near.claim == "Up to 40 more answers, for up to 2 EUR"


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("it needs 50 votes, and there are 12", "it needs 50 answers, and there are 12"),
        ("all votes are for one class", "all answers are the same"),
        ("3 of the first items have no vote yet", "3 of the first items have no answer yet"),
    ],
)
def test_why_there_is_no_forecast_is_said_in_plain_words(why: str, words: str) -> None:
    found = explain_no_forecast(project(), {"why": why, "votes": 12})
    assert found == f"There is no forecast yet. When we tried after 12 answers: {words}."
    assert explain_no_forecast(project(done=True), {"why": why, "votes": 12}) == ""
    assert explain_no_forecast(project(), result()) == explain_no_forecast(project(), None) == ""


def test_the_overview_says_why_there_is_no_forecast(service: DashboardService) -> None:
    id = service.create()
    service.work(id, 5)
    with service.store.writing() as c:
        jobs.record_done(c, id, "forecast", {"why": "it needs 50 votes, and there are 5", "votes": 5})
    page = service.signed_in("read").get(f"/projects/{id}").text
    assert "When we tried after 5 answers: it needs 50 answers, and there are 5." in page
