"""Charts: what they draw, and what they say to who cannot see them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.svg_charts import Bar

POINTS = [(0.0, 0.0), (50.0, 20.0), (90.0, 37.0)]


def parsed(markup: Any) -> ElementTree.Element:
    return ElementTree.fromstring(f"<root>{markup}</root>")


def points(element: ElementTree.Element | None) -> list[tuple[float, float]]:
    assert element is not None
    pairs = element.attrib["points"].split()
    return [(float(a), float(b)) for a, b in (pair.split(",") for pair in pairs)]


@pytest.mark.parametrize("most", [0.0, 0.0004, 0.9, 1, 3, 7, 37, 99, 100, 12345, 1e9])
@pytest.mark.parametrize("whole", [True, False])
def test_an_axis_reaches_what_is_drawn_in_even_round_steps(most: float, whole: bool) -> None:
    top, labels = svg_charts.axis(most, whole=whole)
    assert most <= top * (1 + 1e-9)
    assert 2 <= len(labels) <= 5
    assert len(set(labels)) == len(labels)
    assert not whole or all(float(label.replace(",", "")).is_integer() for label in labels)


def test_a_line_goes_from_left_to_right_within_the_drawing() -> None:
    root = parsed(svg_charts.line("Decided", POINTS, x="votes", y="items", mark=POINTS[-1]))
    found = points(root.find(".//*[@class='chart-line']"))
    assert len(found) == len(POINTS)
    assert [x for x, _ in found] == sorted(x for x, _ in found)
    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in found)
    assert found[0] == (0.0, 100.0)  # nothing at the bottom left
    assert root.find(".//*[@class='chart-dot']") is not None


def test_a_band_encloses_the_line() -> None:
    band = [(x, y * 0.8, y * 1.2) for x, y in POINTS]
    root = parsed(svg_charts.line("Loss", POINTS, x="money", y="loss", band=band))
    edge, line = (
        points(root.find(".//*[@class='chart-band']")),
        points(root.find(".//*[@class='chart-line']")),
    )
    upper, lower = edge[: len(POINTS)], edge[len(POINTS) :][::-1]
    for (_, high), (_, middle), (_, low) in zip(upper, line, lower, strict=True):
        assert high <= middle <= low  # the drawing counts from the top


def test_columns_are_as_high_as_their_counts() -> None:
    root = parsed(svg_charts.columns("Votes", [1, 4, 2], ["a", "b", "c"], x="time", y="votes"))
    heights = [float(rect.attrib["height"]) for rect in root.iter("rect")]
    assert heights == [25.0, 100.0, 50.0]
    assert [span.text for span in root.findall(".//*[@class='chart-x']/span")] == ["a", "c"]


@pytest.mark.parametrize("drawn", [
    svg_charts.line("Name", POINTS, x="votes", y="items"),
    svg_charts.columns("Name", [1, 2], ["a", "b"], x="time", y="votes"),
])  # fmt: skip
def test_a_chart_has_a_name_a_description_and_a_table(drawn: Any) -> None:
    root = parsed(drawn)
    assert root.findtext(".//title") == "Name"
    assert root.findtext(".//desc")
    assert len(root.findall(".//tbody/tr")) in (2, 3)
    assert root.findtext(".//caption") == "Name"


def test_a_long_curve_has_a_short_table_that_ends_where_the_curve_ends() -> None:
    rows = svg_charts.thin([(float(n), float(n)) for n in range(1000)])
    assert len(rows) <= svg_charts.MAX_TABLE_ROWS
    assert rows[-1] == (999.0, 999.0)


def test_bars_show_shares_and_escape_names() -> None:
    drawn = svg_charts.bars("Classes", [Bar("<b>Yes</b>", 0.25, "1 (25%)"), Bar("No", 1.7, "3")])
    root = parsed(drawn)
    assert [float(rect.attrib["width"]) for rect in root.iter("rect")] == [25.0, 100.0]
    assert root.find(".//b") is None
    assert "&lt;b&gt;" in drawn


def test_what_is_so_far_stands_before_the_interval_of_the_end() -> None:
    root = parsed(svg_charts.against("Votes", 100, 400, 500, 600, "100 so far, 400 to 600 in the end"))
    shapes = {rect.attrib["class"]: rect for rect in root.iter("rect")}
    assert float(shapes["bar-part--a"].attrib["width"]) < float(shapes["chart-band"].attrib["x"])
    svg = root.find(".//svg")
    assert svg is not None
    assert "400 to 600" in svg.attrib["aria-label"]


def test_no_drawing_has_a_style_of_its_own() -> None:
    drawn = (
        svg_charts.line("N", POINTS, x="a", y="b") + svg_charts.span(0.5, 0.7, 0.9) + svg_charts.bars("N", [])
    )
    assert "style" not in drawn
