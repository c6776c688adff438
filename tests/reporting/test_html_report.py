from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting import report
from crowdpilot.reporting.report_plots import PLOTS
from crowdpilot.reporting.task_cards import AMBIGUITY

Of = Callable[[str], Diagnosis]

ODD = ["one vote", "one worker", "all votes equal", "a class without a vote", "nasty names"]


class Page(HTMLParser):
    """What a browser sees: elements with their attributes, and the text outside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.text.append(data)

    def ids(self) -> list[str]:
        return [attrs["id"] or "" for _, attrs in self.tags if "id" in attrs]

    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.text))


@pytest.mark.parametrize("name", [*ODD, "all there is"])
def test_the_page_of_any_crowd_has_all_its_parts(name: str, page: Callable[[str], str]) -> None:
    ids = Page(page(name)).ids()
    sections = {"summary", "next", "truth", "votes", "workers", "tasks", "agreement", "made"}
    assert sections <= set(ids)
    assert len(ids) == len(set(ids)), "every id occurs once"


@pytest.mark.parametrize("name", ["all there is", "nasty names"])
def test_the_page_loads_nothing_from_anywhere(name: str, page: Callable[[str], str]) -> None:
    text = page(name)
    for tag, attrs in Page(text).tags:
        for where in ("src", "href", "xlink:href", "action", "srcset", "poster"):
            assert (attrs.get(where) or "#").startswith(("#", "data:image/")), f"{tag} {attrs}"
        assert tag not in ("link", "iframe", "object", "embed", "base")
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert re.findall(r"https?://", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)) == []


def test_names_are_text_and_never_markup(nasty: Diagnosis, page: Callable[[str], str]) -> None:
    text = page("nasty names")
    found = Page(text)
    assert len([tag for tag, _ in found.tags if tag == "script"]) == 3
    assert not any(attribute.startswith("on") for _, attrs in found.tags for attribute in attrs)
    assert [attrs for tag, attrs in found.tags if tag in ("img", "b", "i") and "onerror" in attrs] == []
    assert "Text of <b>" in found.words()
    assert "{{ 7 * 7 }}" in found.words()
    data = json.loads(re.search(r'id="data-workers">(.*?)</script>', text, re.DOTALL)[1])
    assert data["values"][0] == nasty.votes.workers.tolist()


def test_dollars_are_no_mathematics(page: Callable[[str], str]) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page("nasty names"), re.DOTALL)
    assert any("$x^2$ and" in drawing for drawing in drawings)


def test_only_the_script_of_the_page_may_run(page: Callable[[str], str]) -> None:
    policy = next(attrs["content"] for tag, attrs in Page(page("one vote")).tags if "http-equiv" in attrs)
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_the_same_data_make_the_same_page(of: Of) -> None:
    first, second = (report(of("one worker"), date="today") for _ in range(2))
    assert first == second


def test_the_page_says_how_it_was_made(whole: Diagnosis, page: Callable[[str], str]) -> None:
    said = Page(page("all there is")).words()
    assert "strategy auto" in said
    assert "rows without a vote 7" in said
    assert "date 1 May 2025" in said
    for score in whole.result.params["scores"]:
        assert score.model in said


def test_without_truth_there_is_no_part_about_it(of: Of) -> None:
    found = Page(report(of("one vote")))
    assert "truth" not in found.ids()
    assert "Check the labels against the truth" in found.words()


def test_every_plot_is_in_the_page_with_its_caption(page: Callable[[str], str]) -> None:
    found = Page(page("all there is"))
    missing = {plot.name for plot in PLOTS if f"plot-{plot.name}" not in found.ids()}
    assert missing == {"ranking-trap_accuracy", *(f"score-{name}" for name in AMBIGUITY)}
    assert all(plot.caption in found.words() for plot in PLOTS if plot.name not in missing)


def test_the_hardest_tasks_show_what_the_workers_saw(of: Of, tmp_path: Path) -> None:
    diagnosis = of("two workers who never meet")
    (tmp_path / "1.png").write_bytes(b"picture")
    text = report(diagnosis, texts={2: "a question"}, images=tmp_path)
    assert "data:image/png;base64,cGljdHVyZQ==" in text
    assert "a question" in text


def test_the_page_is_written_whole(of: Of, tmp_path: Path) -> None:
    report(of("one vote"), tmp_path / "report.html", title="Ünïcödé \ud800")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "Ünïcödé" in text
    assert text.rstrip().endswith("</html>")


def test_a_page_that_fails_leaves_no_file(of: Of, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"images": tmp_path / "nowhere"}
    with pytest.raises(ValueError, match="no folder"):
        report(of("one worker"), tmp_path / "report.html", **settings)
    assert list(tmp_path.iterdir()) == []


def test_words_are_explained_at_the_end_and_in_the_service_at_the_beginning(whole: Diagnosis) -> None:
    for source, is_noted in (("votes.csv", False), (None, True)):
        page = report(whole, source=source)
        assert '<section id="words">' in page
        assert ("A task is an item of the project" in page) is is_noted
