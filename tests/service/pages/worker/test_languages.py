"""Every page of a worker in every language: no English sentence is left, and no other language comes in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.pages.languages import ENGLISH, catalogue
from crowdpilot.service.schemas.project import LANGUAGES
from crowdpilot.service.store import projects
from scripts import messages
from tests.service.harness.service import sqlite_url
from tests.service.harness.worker_pages import WorkerService, leased, token, vote

SPEC = {
    "name": "Xx", "classes": ["aa", "bb"], "question": "zz?", "batch": 3,
    "plan": {"pilot_votes": 3, "per_item": 5}, "consent": "cc.", "instructions": "ii.",
    "examples": [{"text": "ee.", "label": "aa", "why": "ww."}],
    "quiz": [{"text": "q1.", "label": "aa"}, {"text": "q2.", "label": "bb"}], "min_answers": 1,
    "seconds_per_answer": 20, "currency": "EUR", "comments": True, "flags": True,
}  # fmt: skip
CONTENTS = [{"text": f"tt {n}."} for n in range(8)]
ATTRIBUTES = {"alt", "aria-label", "placeholder", "title"}


class Texts(HTMLParser):
    """The texts that people see or hear, each once."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found |= {value for name, value in attributes if name in ATTRIBUTES and value}

    def handle_data(self, data: str) -> None:
        self.found |= {" ".join(data.split())} - {""}


def english(language: str) -> list[re.Pattern[str]]:
    """The English sentences that have another form in this language; a sentence in tags is several texts."""
    patterns = []
    for message in messages.read(language):
        translations = [message.string] if isinstance(message.string, str) else message.string
        for sentence in [message.id] if isinstance(message.id, str) else message.id:
            if sentence and sentence not in translations and "<" not in sentence:
                parts = [re.escape(part) for part in re.split(r"%\(\w+\)s", sentence)]
                patterns.append(re.compile(".+".join(parts) + r"\.?", re.IGNORECASE))
    return patterns


def pages(service: WorkerService, language: str) -> Iterator[tuple[str, str]]:
    """The pages of a worker from the first to the last, and what else may happen, by name."""
    client = service.invited()
    client.headers["accept-language"] = language
    home = service.home

    def post(path: str, **data: Any) -> str:
        return client.post(f"{home}{path}", data={"csrf": csrf, **data}).text

    page = client.get(f"{home}/consent").text
    csrf = token(page)
    version = re.findall(r'name="version" value="([^"]+)"', page)[0]
    yield "consent", page
    yield "declined", post("/consent", version=version, agree="no")
    yield "instructions", post("/consent", version=version, agree="yes")
    yield "quiz", client.get(f"{home}/quiz").text
    yield "quiz again", post("/quiz", **{"answer-0": "aa", "answer-1": "aa"})
    page = post("/quiz", **{"answer-0": "aa", "answer-1": "bb"})
    yield "label", page
    yield "break", post("/pause")
    yield "no code yet", post("/finish")
    vote(client, home, csrf, leased(page)[0][0], label="aa")
    yield "nothing to undo", post("/undo") + post("/undo")
    yield "batch", client.get(f"{home}/batch").text
    service.change(state=projects.PAUSED)
    yield "paused", client.get(home).text
    service.change(state=projects.OPEN)
    vote(client, home, csrf, leased(client.get(f"{home}/label").text)[0][0], label="aa", key="other-key-1")
    yield "done", post("/finish")
    yield "signed out", post("/sign-out")
    yield "401", client.get(f"{home}/label").text
    yield from errors(service, language)


def errors(service: WorkerService, language: str) -> Iterator[tuple[str, str]]:
    client: TestClient = service.visitor()
    client.headers["accept-language"] = language
    yield "403", client.get(f"{service.home}?invite=nonsense").text
    yield "404", client.get("/w/000000000000?invite=nonsense").text
    yield "no such page", client.get(f"{service.home}/nonsense").text
    yield "not offered", client.get(f"{service.home}/prolific").text
    failing = service.invited()
    failing.headers["accept-language"] = language
    page = failing.get(f"{service.home}/consent").text
    version = re.findall(r'name="version" value="([^"]+)"', page)[0]
    failing.post(f"{service.home}/consent", data={"csrf": token(page), "version": version, "agree": "yes"})
    for _ in range(2):
        page = failing.post(f"{service.home}/quiz", data={"csrf": token(page)}).text
    yield "failed", page
    service.change(state=projects.CLOSED)
    yield "closed", client.get(service.link).text


def headings(page: str) -> list[str]:
    return [html.unescape(text) for text in re.findall(r"<h[12][^>]*>([^<]*)</h[12]>", page)]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The headings of each page in English."""
    service = WorkerService(sqlite_url(tmp_path_factory.mktemp("english")), SPEC, contents=CONTENTS)
    yield {name: headings(page) for name, page in pages(service, ENGLISH)}
    service.close()


def test_the_pages_are_those_that_are_meant(original: dict[str, list[str]]) -> None:
    assert original["consent"][0] == "Before you start"
    assert original["quiz again"][0] == "A short quiz"
    assert original["label"][0] == "zz?"
    assert original["done"] == ["Thank you, you are done"]
    assert original["closed"] == ["The study is complete"]


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_no_page_of_a_worker_has_an_english_sentence(
    make: Any, original: dict[str, list[str]], language: str
) -> None:
    patterns, translate = english(language), catalogue(language).gettext
    for name, page in pages(make(SPEC, contents=CONTENTS), language):
        texts = {html.unescape(text) for text in Texts(page).found}
        assert [text for text in texts for sentence in patterns if sentence.fullmatch(text)] == [], name
        assert headings(page) == list(map(translate, original[name]))
        assert f'<html lang="{language}"' in page or name == "batch", name
