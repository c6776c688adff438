"""The summary of a project before it is created: what it promises is true."""

from __future__ import annotations

from typing import Any

import pytest

from crowdpilot.service.pages.dashboard.setup.summary import summarise
from crowdpilot.service.schemas import ProjectIn

THREE = {"policy": "fixed[votes=3]"}


def money_of(n_items: int = 40, *, costs: dict[str, Any] | None = None, **more: Any) -> str:
    """The sentences about money."""
    described = {"name": "x", "classes": ["no", "yes"], "currency": "EUR", **more}
    described["costs"] = {"prices": {"crowd": 0.05}, **(costs or {})}
    spec = ProjectIn.model_validate(described).model_dump()
    return summarise(spec, n_items)[1].replace("\xa0", " ")


@pytest.mark.parametrize(("more", "words"), [
    (THREE, "Each answer costs EUR 0.05, about EUR 6.00 in all."),
    ({**THREE, "plan": {"gold": 0.1}},
     "Each answer costs EUR 0.05, about EUR 6.00 in all, and more for items whose answer you know."),
    ({**THREE, "costs": {"budget": 9}},
     "Each answer costs EUR 0.05, about EUR 6.00 and at most EUR 9.00 in all."),
    ({**THREE, "costs": {"budget": 4}}, "Each answer costs EUR 0.05, at most EUR 4.00 in all."),
    ({"plan": {"per_item": 2}}, "Each answer costs EUR 0.05, up to about EUR 4.00 in all."),
    ({}, "Each answer costs EUR 0.05; there is no limit to what is spent."),
    ({"costs": {"prices": {"crowd": 0}}}, "Answers cost nothing."),
    ({**THREE, "machine": "tfidf", "costs": {"classifier": 0.1}},
     "Each answer costs EUR 0.05, about EUR 10.00 in all. The classifier costs EUR 0.10 for each item."),
    ({**THREE, "costs": {"classifier": 0.1}}, "Each answer costs EUR 0.05, about EUR 6.00 in all."),
    ({"machine": "given", "costs": {"classifier": 0.1, "prices": {"crowd": 0}}},
     "Answers cost nothing, up to about EUR 4.00 in all. The classifier costs EUR 0.10 for each item."),
    ({"costs": {"prices": {"crowd": 0, "expert": 0.5}, "budget": 3}},
     "Answers cost nothing, one of “expert” EUR 0.50, at most EUR 3.00 in all."),
])  # fmt: skip
def test_at_most_is_said_of_a_budget_and_about_of_all_else(more: dict[str, Any], words: str) -> None:
    assert money_of(**more) == words


def test_what_is_paid_on_a_platform_is_not_limited_by_the_budget() -> None:
    words = "The budget does not limit what you pay on Prolific."
    assert words in money_of(prolific={"code": "C"}, costs={"budget": 9})
    assert words not in money_of(costs={"budget": 9})
    assert words not in money_of(prolific={"code": "C"})


def test_without_a_number_of_items_only_the_budget_is_a_limit() -> None:
    assert "no limit" in money_of(0, **THREE)
    assert "at most EUR 9.00" in money_of(0, **THREE, costs={"budget": 9})
