"""What notebooks show: small tables and spark lines, escaped, without script, of anything."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdpilot as cp
from crowdpilot.diagnosis.agreement import measure_agreement
from crowdpilot.hybrid import Campaign, Costs
from crowdpilot.notebook_html import bars, curve, facts, histogram, number, panel, table
from crowdpilot.votes import Votes

NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b", "x" * 5000, "\x00\n日本"]
VOID = {"br", "img", "path", "polyline"}


class Page(HTMLParser):
    """Checks that tags are closed in their order, and collects tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(value: Any) -> Page:
    """The page that a notebook shows of a value: whole, small, without script and foreign resources."""
    html = value if isinstance(value, str) else value._repr_html_()
    page = Page(html)
    assert not {"script", "style", "img", "link", "iframe"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert len(html) < 20_000
    return page


def small_crowd(names: list[Any]) -> Votes:
    tasks = [f"task {n // 3} {names[0]}" for n in range(30)]
    return Votes.of(tasks, (names * 30)[:30], [("no", "yes")[n % 4 > 0] for n in range(30)])


def test_a_long_table_has_its_first_and_last_rows_and_says_how_many_are_between() -> None:
    page = shown(table({"n": np.arange(1000), "name": [f"w{n}" for n in range(1000)]}))
    assert [f"w{n}" in page.text for n in (0, 4, 5, 996, 997, 999)] == [True, True, False, False, True, True]
    assert "992 more rows" in page.text


def test_a_short_table_is_shown_whole() -> None:
    assert shown(table({"n": range(9)})).text == "n" + "".join(map(str, range(9)))


def test_nothing_is_shown_of_nothing() -> None:
    assert [table({}), table({"n": []}), facts({}), histogram([], "n"), curve([1], [1], "n")] == [""] * 5
    assert bars([0, 0], ["a", "b"], "n") == histogram([np.nan], "n") == ""


def test_names_are_escaped_and_shortened() -> None:
    page = shown(panel(NASTY[0], NASTY[1], table({NASTY[0]: NASTY}), sparks=[bars([2, 1], NASTY, NASTY[1])]))
    assert page.text.count("<script>") == 4
    assert "x" * 47 + "…" in page.text


@pytest.mark.parametrize(
    "value", [None, np.nan, np.inf, True, np.float32(0.5), (1, 2), {"a": 1}, b"x", object()]
)
def test_any_value_can_be_in_a_table(value: Any) -> None:
    shown(table({"value": [value]}) + facts({"value": value}))


@pytest.mark.parametrize(
    "values",
    [
        [5],
        [1, 1, 1],
        [-1e308, 0.0, 1e308],
        [0.1, np.nextafter(0.1, 1)],
        [0, 10**12],
        [True, False],
        [-1.5, np.inf, np.nan, 2],
        np.zeros((2, 2)),
    ],
)
def test_any_numbers_have_a_spark_line(values: Any) -> None:
    assert "svg" in shown(histogram(values, "n")).tags


def test_a_curve_may_have_gaps_and_no_extent() -> None:
    for x, y in (([0, 1, 2], [3, np.nan, 1]), ([1, 1], [0, 0]), ([0, 1], [-1, -2])):
        assert "nan" not in curve(x, y, "n")
        assert "polyline" in shown(curve(x, y, "n")).tags


def test_numbers_are_short() -> None:
    assert [number(v) for v in (0, 1234567.8, 1 / 3, -0.5, -np.inf)] == [
        "0",
        "1,234,568",
        "0.333",
        "−0.5",
        "−∞",
    ]


@pytest.mark.parametrize(
    "names", [NASTY, [1, 2, 3], [(1, 2), None.__class__, 2.5]], ids=["nasty", "numbers", "odd"]
)
def test_a_crowd_with_any_names_is_shown(names: list[Any]) -> None:
    votes = small_crowd(names)
    result = cp.aggregate(votes)
    for value in (votes, result, cp.diagnose(votes), cp.suggest_gold(result), *measure_agreement(votes)):
        assert shown(value).text.startswith(type(value).__name__)


@pytest.mark.parametrize("strategy", ["mv", "ds", "glad", "auto"])
def test_labels_of_any_strategy_are_shown_with_their_confidence(strategy: str, simulated: Any) -> None:
    text = shown(cp.aggregate(simulated[0], strategy)).text
    assert "confidence" in text
    assert "150 tasks" in text


def test_votes_of_nobody_are_shown() -> None:
    assert "0 votes" in shown(Votes.of([], [], [])).text
    assert "2 tasks" in shown(Votes.of([], [], [], tasks=["a", "b"], classes=["x", "y"])).text


def test_thousands_of_classes_are_few_bars() -> None:
    assert "4,998 more" in shown(Votes.of(range(5000), [1] * 5000, range(5000))).text


def test_a_campaign_is_shown_from_its_start_to_its_end(simulated: Any) -> None:
    votes, _ = simulated
    campaign = Campaign(votes.tasks, votes.classes, Costs.equal(3, crowd=0.02))
    assert "150 items" in shown(campaign).text
    campaign.tell(votes)
    for value in (campaign, campaign.status(), campaign.decide()):
        assert shown(value).text.startswith(type(value).__name__)


def test_campaigns_with_criteria_or_without_items_are_shown() -> None:
    costs = Costs.binary(fp=1, fn=5, crowd=0.02)
    campaign = Campaign(["a", "b"], ["no", "yes"], costs, criteria=["<b>new", "good"])
    campaign.tell([("a", "ann", "yes", "good"), ("b", "ann", "no", "<b>new")])
    assert "2 items" in shown(campaign).text
    assert "0 items" in shown(Campaign([], ["no", "yes"], costs)).text


def test_votes_to_ask_for_are_shown_until_nothing_is_asked_for() -> None:
    votes = [("owl", "ann", "<b>"), ("eel", "ann", "no"), ("eel", "bob", "<b>")]
    assert "2 votes to ask for" in shown(cp.next_votes(["owl", "eel", "emu"], votes, n=2)).text
    assert "budget" in shown(cp.next_votes(["owl", "eel", "emu"], votes, budget=3)).text


def test_a_comparison_is_shown_with_its_best_strategies(simulated: Any) -> None:
    votes, truth = simulated
    text = shown(cp.compare(votes, dict(enumerate(votes.classes[truth])), ["glad", "wawa"], samples=20)).text
    assert text.startswith("Comparison")
    assert "majority_voting" in text


def test_a_consensus_is_shown() -> None:
    labels = pd.DataFrame({"<b>": [0, 1, 0], "bob": [1, 1, None]}, index=["<i>", "y", "z"])
    found = cp.consensus(labels, np.array([[0.7, 0.3], [0.2, 0.8], [0.9, 0.1]]))
    assert "3 examples" in shown(found).text
    assert "<i>" in shown(found).text


def test_replays_audits_and_forecasts_are_shown(simulated: Any) -> None:
    votes, truth = simulated
    costs = Costs.equal(3, crowd=0.02)
    run = cp.replay(votes, truth, costs)
    assert run.policy in shown(run).text
    assert "lost" in shown(cp.replay(votes, None, costs)).text
    checked = cp.audit(cp.aggregate(votes))
    assert "0 of 150 items checked" in shown(checked).text
    checked.add_answers(items := checked.draw(20), truth[items])
    assert "20 of 150 items checked" in shown(checked).text
    campaign = Campaign(votes.tasks, votes.classes, costs)
    campaign.tell(votes, refit=True)
    assert "150 items" in shown(cp.forecast(campaign, runs=2)).text


def test_campaigns_and_audits_say_in_a_line_where_they_stand() -> None:
    campaign = Campaign(["a", "b"], ["no", "yes"], Costs.binary(crowd=0.02, budget=3))
    campaign.tell([("a", "ann", "yes")])
    assert repr(campaign) == "Campaign(2 items, 0 done; votes: 1 by crowd; spent 0.02 of 3)"
    assert repr(cp.audit(np.array([[0.9, 0.1], [0.2, 0.8]]))) == "Audit(0 of 2 items checked, 0 pending)"
