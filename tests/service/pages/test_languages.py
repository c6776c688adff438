"""The language of a worker page: the project's, else the browser's, else English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.pages import languages
from crowdpilot.service.schemas.project import LANGUAGES
from tests.service.harness.service import sqlite_url
from tests.service.harness.worker_pages import FULL, PLAIN, WorkerService, leased, token, vote

ACCEPT = "accept-language"


@pytest.fixture
def service(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[WorkerService]:
    """A service whose project has the language that the test says."""
    running = WorkerService(sqlite_url(tmp_path), {**FULL, "language": getattr(request, "param", "")})
    yield running
    running.close()


def shown(page: Any) -> tuple[str, str]:
    """Language and direction of a page."""
    head = page.text.partition("<head>")[0]
    return head.partition('lang="')[2].partition('"')[0], head.partition('dir="')[2].partition('"')[0]


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        ("", "en"), ("de", "de"), ("de-CH,de;q=0.9", "de"), ("DE_at", "en"), ("AR-EG", "ar"),
        ("it, fr;q=0.2", "fr"),
        ("fr;q=0.1, es;q=0.7", "es"), ("de;q=0, en", "en"), ("tlh, *;q=0.1", "en"), (";;;,,,", "en"),
        ("en-GB,en;q=0.9,de;q=0.8", "en"), ("es;q=nonsense", "es"),
    ],
)  # fmt: skip
def test_the_browser_says_which_languages_it_prefers(accept: str, language: str) -> None:
    assert languages.preferred(accept) == language


@given(st.text(max_size=300))
def test_any_header_gives_some_language(accept: str) -> None:
    assert languages.preferred(accept) in LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_has_the_language_of_the_browser_and_its_direction(
    service: WorkerService, language: str
) -> None:
    client = service.invited()
    page = client.get(f"{service.home}/consent", headers={ACCEPT: f"{language}, en;q=0.5"})
    assert shown(page) == (language, "rtl" if language == "ar" else "ltr")


@pytest.mark.parametrize("service", ["de"], indirect=True)
def test_the_language_of_the_project_comes_before_that_of_the_browser(service: WorkerService) -> None:
    client = service.invited()
    assert shown(client.get(f"{service.home}/consent", headers={ACCEPT: "ar"})) == ("de", "ltr")


@pytest.mark.parametrize("service", ["de"], indirect=True)
def test_errors_are_in_the_language_of_a_project_that_was_seen_before(service: WorkerService) -> None:
    client = service.invited()
    client.get(f"{service.home}/consent")
    refused = service.visitor().get(f"{service.home}/label", headers={ACCEPT: "ar"})
    assert (refused.status_code, shown(refused)) == (401, ("de", "ltr"))


def test_requests_do_not_change_the_language_of_each_other(service: WorkerService) -> None:
    client = service.invited()
    for language in ("ar", "fr", "ar", "en"):
        assert shown(client.get(f"{service.home}/consent", headers={ACCEPT: language}))[0] == language


def test_the_dashboard_is_in_english(service: WorkerService) -> None:
    page = service.visitor().get("/", headers={ACCEPT: "ar"}, follow_redirects=True)
    assert shown(page) == ("en", "ltr")


def test_errors_of_the_api_are_in_english(service: WorkerService) -> None:
    refused = service.http.get("/api/next", headers={ACCEPT: "de"})
    assert refused.json()["detail"] == "this needs the token of a session in the header Authorization"


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_an_error_for_a_script_is_in_the_language_of_the_page(tmp_path: Path, language: str) -> None:
    service = WorkerService(sqlite_url(tmp_path), PLAIN)
    client = service.invited()
    page = client.get(f"{service.home}/label").text
    item, _ = leased(page)[0]
    client.headers[ACCEPT] = language
    vote(client, service.home, token(page), item)
    again = vote(client, service.home, token(page), item, key="another-key-0001")
    english = "you have answered this already; go on with the next"
    assert again.status_code == 409
    assert again.json()["detail"] == languages.catalogue(language).gettext(english) != english
    service.close()


def test_an_error_without_a_translation_becomes_a_general_one(service: WorkerService) -> None:
    client = service.invited()
    refused = client.put(f"{service.home}/consent", headers={ACCEPT: "de", "accept": "*/*"})
    general = languages.catalogue("de").gettext(languages.GENERAL_ERROR)
    assert (refused.status_code, refused.json()["detail"]) == (405, general)


def test_the_message_of_an_error_keeps_its_values_apart() -> None:
    error = ConflictError("the project is %(state)s", state="100 % closed")
    assert (str(error), error.message) == ("the project is 100 % closed", "the project is %(state)s")
    assert str(ConflictError("100 % closed")) == "100 % closed"


def test_numbers_and_money_are_written_as_the_language_does() -> None:
    written = {}
    for language in LANGUAGES:
        languages.use(language)
        written[language] = (languages.format_number(1234.5), languages.format_money(1234.5, "EUR"))
    languages.use("en")
    assert written["en"] == ("1,234.5", "€1,234.50")
    assert written["de"] == ("1.234,5", "1.234,50\xa0€")


def test_an_unknown_language_is_english() -> None:
    languages.use("tlh")
    assert (languages.language(), languages.direction()) == ("en", "ltr")
