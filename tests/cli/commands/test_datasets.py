from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.datasets import DATASETS

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where data sets are kept."""
    monkeypatch.setenv("CROWDPILOT_DATA_HOME", str(tmp_path / "house"))
    return tmp_path / "house"


def test_all_data_sets_are_listed_with_counts_licence_and_folder(cli: Run) -> None:
    rows = {row["name"]: row for row in csv.DictReader(StringIO(cli("datasets").stdout))}
    assert list(rows) == list(DATASETS)
    assert rows["anesthesia"]["where"] == "bundled"
    assert rows["labelme"] | {"where": "to get", "licence": "not stated"} == rows["labelme"]
    assert (rows["labelme"]["tasks"], rows["labelme"]["workers"], rows["labelme"]["votes"]) == (
        "1000",
        "59",
        "2547",
    )
    assert rows["cifar10h"]["checksum"] == "known"
    assert json.loads(cli("datasets", "--json").stdout)[0]["votes"] == 315


def test_info_says_all_that_is_known(cli: Run) -> None:
    known = json.loads(cli("datasets", "info", "bluebirds", "--json").stdout)
    assert known["description"] == DATASETS["bluebirds"].description
    assert [file["sha256"] for file in known["files"]] == [f.sha256 for f in DATASETS["bluebirds"].files]
    shown = cli("datasets", "info", "bluebirds").stdout
    assert "Welinder" in shown
    assert DATASETS["bluebirds"].files[0].url in shown


def test_a_name_that_is_nearly_right_is_suggested(cli: Run) -> None:
    for command in ("get", "info"):
        result = cli("datasets", command, "bluebird")
        assert result.exit_code == 2
        assert result.stderr == "crowdpilot: there is no data set 'bluebird'; did you mean bluebirds?\n"


def test_a_bundled_set_is_written_where_one_likes(cli: Run, tmp_path: Path) -> None:
    result = cli("datasets", "get", "digits", "--to", str(tmp_path / "here"))
    assert result.exit_code == 0
    assert result.stdout.strip() == str(tmp_path / "here" / "digits")
    assert "Licence: CC BY 4.0." in result.stderr
    assert (tmp_path / "here" / "digits" / "answers.csv").is_file()


SERVER = """
    import sys, time
    from http.server import BaseHTTPRequestHandler, HTTPServer
    LABEL = b"item,worker,label\\n" + b"".join(b"%d,%d,1\\n" % (n, n % 7) for n in range(40_000))
    FILES = {"/label.csv": LABEL, "/truth.csv": b"item,truth\\n0,1\\n1,0\\n"}
    slow = True
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *a): pass
        def do_GET(self):
            global slow
            print(self.path, self.headers.get("Range"), flush=True)
            content, asked = FILES[self.path], self.headers.get("Range", "bytes=0-")
            start = int(asked[6:-1])
            self.send_response(206 if start else 200)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.send_header("ETag", '"one"')
            self.end_headers()
            if slow:  # the first answer stops in the middle
                slow = False
                self.wfile.write(content[:200_000])
                self.wfile.flush()
                sys.stdin.readline()
            else:
                self.wfile.write(content[start:])
    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
"""
GET = """
    import sys
    from dataclasses import replace
    from crowdpilot.datasets import DATASETS
    from crowdpilot.datasets.download import Remote
    from crowdpilot.datasets.registry import Counts
    port = sys.argv.pop(1)
    files = tuple(Remote(f"http://127.0.0.1:{port}/{name}") for name in ("label.csv", "truth.csv"))
    DATASETS["small"] = replace(
        DATASETS["bluebirds"], name="small", counts=Counts(40_000, 7, 40_000, 1, 2), files=files
    )
    from crowdpilot.cli import main
    main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_download_that_was_killed_goes_on(house: Path, how: signal.Signals) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        port = server.stdout.readline().strip()
        root = str(Path(__file__).parents[2])
        env = {**os.environ, "PYTHONPATH": root, "no_proxy": "127.0.0.1"}
        command = [sys.executable, "-c", textwrap.dedent(GET), port, "datasets", "get", "small"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": env}
        first = subprocess.Popen(command, **pipes)
        assert server.stdout.readline().split() == ["/label.csv", "None"]
        part = house / ".small.download" / "label.csv.part"
        until = time.monotonic() + 30
        while not (part.is_file() and part.stat().st_size > 100_000) and time.monotonic() < until:
            time.sleep(0.02)
        first.send_signal(how)
        _, said = first.communicate(timeout=30)
        assert "Licence: not stated" in said
        if how is signal.SIGINT:
            assert first.returncode == 130
            assert "the same command resumes" in said
        there = part.stat().st_size
        assert there > 100_000
        assert not (house / "small").exists()
        server.stdin.write("\n")
        server.stdin.flush()
        pipes["env"] = {**env, "TTY_COMPATIBLE": "1"}  # as at a terminal, with a bar
        second = subprocess.run(command, check=True, timeout=60, **pipes)
        assert server.stdout.readline().split() == ["/label.csv", f"bytes={there}-"]
        assert second.stdout.strip() == str(house / "small")
        assert "sha256 " in second.stderr
        assert (house / "small" / "SHA256SUMS").is_file()
    finally:
        server.kill()
        server.communicate()


def test_a_person_sees_a_table_that_fits(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.split() for line in cli("datasets").stdout.splitlines()]
    assert ["bluebirds", "108", "4212", "2", "votes", "not", "stated", "to", "get"] in lines
    assert not any("checksum" in line for line in lines)
