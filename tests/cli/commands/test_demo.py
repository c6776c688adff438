from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough  # it starts the service and takes half a minute
CHROMIUM = "/usr/bin/chromium"


def command(folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "crowdpilot", "demo", "--no-open", "--seconds", "4", "--items", "60",
            "--folder", str(folder), *more]  # fmt: skip


def test_it_labels_real_images_over_http_and_says_what_it_saved(tmp_path: Path) -> None:
    for _ in range(2):  # in the same folder
        result = subprocess.run(command(tmp_path, "--exit"), capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        found = re.search(
            r"60 images, (\d+) votes \((.+) each\), (\d+) wrong; .*: (-?\d+)% of the votes saved",
            result.stdout,
        )
        assert found, result.stdout
        assert int(found[3]) <= 6
        assert "watch it at http://127.0.0.1" in result.stderr
        assert f"the report stays in {tmp_path}/report-" in result.stderr
    reports = list(tmp_path.glob("report-*.html"))
    assert ["<html" in report.read_text() for report in reports] == [True, True]  # the first is not lost
    assert (tmp_path / "demo.db").exists()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[list[str]]:
    """Lines of a demonstration that stays, up to the last."""
    errors = tmp_path / "errors"
    with errors.open("w") as file:
        running = subprocess.Popen(
            command(tmp_path / "demo", "--stay"), stderr=file, stdout=subprocess.DEVNULL
        )
    end = time.monotonic() + 180
    while time.monotonic() < end and "see it again by" not in errors.read_text():
        time.sleep(0.5)
    yield errors.read_text().splitlines()
    running.send_signal(signal.SIGINT)
    running.wait(60)


@pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="no chromium")
def test_two_browsers_see_the_result_also_after_a_reload(demo: list[str]) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    links = [match[0] for line in demo if (match := re.search(r"http://127\S+&next=\S+", line))]
    assert len(links) == 3
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for link in links[1:]:
            page = browser.new_context().new_page()
            errors: list[str] = []
            page.on("pageerror", lambda error, seen=errors: seen.append(str(error)))
            page.goto(link)
            for button in page.get_by_role("button", name=re.compile("sign in|continue|go", re.I)).all():
                if button.is_visible():
                    button.click()
                    break
            for _ in range(2):
                page.wait_for_selector("#demo-title")
                assert "of the answers" in page.inner_text("section:has(#demo-title)")
                assert "The report stays in" in page.inner_text("section:has(#demo-title)")
                page.reload()
            assert not errors
        browser.close()
