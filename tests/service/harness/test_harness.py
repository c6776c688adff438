"""The tools of the tests themselves: a check that cannot fail is none."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy

from tests import equip
from tests.service.harness.accessibility import axe
from tests.service.harness.postgres import Postgres, shared_postgres
from tests.service.harness.waiting import need

GOOD = """<!doctype html><html lang="en"><head><title>Good</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head>
<body><main><h1>Good</h1><label>Name <input></label></main></body></html>"""
PALE = GOOD.replace("<h1>", '<h1 style="color: #ccc; background: #fff">')
NAMELESS = GOOD.replace("<label>Name <input></label>", "<input>")
STRICT = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves what it is given, under a strict policy that forbids all scripts."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Security-Policy", STRICT)
        self.end_headers()
        self.wfile.write(self.server.body.encode())  # type: ignore[attr-defined]  # set by the fixture

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[str], str]]:
    """Serve a page and return its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=functools.partial(server.serve_forever, 0.05)).start()

        def show(body: str) -> str:
            server.body = body  # type: ignore[attr-defined]  # read by the handler
            return f"http://127.0.0.1:{server.server_port}/"

        yield show
        server.shutdown()


def test_axe_finds_nothing_on_a_good_page_whatever_its_policy(page: Any, serve: Callable[[str], str]) -> None:
    page.goto(serve(GOOD))
    axe(page)


@pytest.mark.parametrize(
    ("body", "name"), [(PALE, "color-contrast (serious)"), (NAMELESS, "label (critical)")]
)
def test_axe_names_what_is_wrong(body: str, name: str, page: Any, serve: Callable[[str], str]) -> None:
    page.goto(serve(body))
    with pytest.raises(AssertionError) as caught:
        axe(page)
    assert name in str(caught.value)


def test_errors_of_pages_are_seen(
    open_page: Callable[..., Any], trouble: list[str], serve: Callable[[str], str]
) -> None:
    page = open_page("phone")
    page.goto(serve(GOOD.replace("</main>", "</main><script>1</script>")))
    page.goto(serve(GOOD) + "not-there")
    page.evaluate("setTimeout(() => { throw new Error('broken') })")
    page.wait_for_timeout(100)
    assert [text for text in trouble if "Content Security Policy" in text]
    assert [text for text in trouble if "404" in text]
    assert [text for text in trouble if "broken" in text]
    trouble.clear()


def test_a_phone_is_small_and_touched(phone: Any, serve: Callable[[str], str]) -> None:
    phone.goto(serve(GOOD))
    assert phone.evaluate("[innerWidth, navigator.maxTouchPoints > 0]") == [390, True]


def test_a_desktop_is_wide(desktop: Any) -> None:
    assert desktop.evaluate("[innerWidth, innerHeight]") == [1280, 800]


@pytest.mark.parametrize("turn", [1, 2])
def test_every_test_has_an_empty_database(database_url: str, turn: int) -> None:
    engine = sqlalchemy.create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE things (n INTEGER PRIMARY KEY)"))
        connection.execute(sqlalchemy.text("INSERT INTO things VALUES (1)"))
    engine.dispose()


@pytest.mark.thorough
def test_a_killed_server_comes_back_with_what_was_committed(own_postgres: Postgres) -> None:
    own_postgres.execute("CREATE TABLE things (n INTEGER)")
    own_postgres.execute("INSERT INTO things VALUES (1)")
    own_postgres.kill()
    with pytest.raises(psycopg.OperationalError):
        own_postgres.execute("INSERT INTO things VALUES (2)")
    own_postgres.start()
    own_postgres.execute("INSERT INTO things SELECT n + 2 FROM things")
    own_postgres.stop()


@pytest.mark.thorough
def test_the_last_to_leave_stops_the_shared_server(tmp_path: Path, postgres: Postgres) -> None:
    with shared_postgres(tmp_path) as first:
        with shared_postgres(tmp_path) as second:
            assert first == second
            assert first != postgres
        first.execute("SELECT 1")
    assert not first.folder.exists()


def test_what_is_missing_skips_a_test_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"^chromium is not on this machine"):
        need(None, "chromium")


def test_what_is_missing_is_a_failure_where_all_must_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"^postgresql is not on this machine"):
        need(None, "postgresql")


@pytest.mark.parametrize(("ci", "code", "fate"), [("", 0, "are skipped"), ("true", 1, "fail")])
def test_who_may_not_install_is_told_what_is_left_out(
    ci: str, code: int, fate: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setitem(equip.NEEDS, "chromium", (lambda: None, "browser tests"))
    monkeypatch.setitem(equip.NEEDS, "postgresql", (lambda: Path("/"), "PostgreSQL tests"))
    monkeypatch.setitem(equip.NEEDS, "nginx-light", (lambda: Path("/"), "proxy tests"))
    monkeypatch.setitem(equip.PIP_NEEDS, "label-studio", (lambda: Path("/"), "tests with Label Studio"))
    assert equip.main() == code
    said = f"equip: chromium is missing and cannot be installed from here: browser tests {fate}\n"
    assert capsys.readouterr().err == said
