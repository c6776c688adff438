"""Every command and every file of the page for operators, from an empty server to the last incident."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from crowdpilot.cli.commands.secrets import rotate
from crowdpilot.service.app import WORKERS_PER_ADDRESS
from crowdpilot.service.http import connections
from crowdpilot.service.http.body_limits import STRANGER_BYTES
from crowdpilot.service.jobs import webhook_sender
from crowdpilot.service.pages.dashboard.access.sessions import LOGIN_LINK_SECONDS, SESSION_SECONDS
from crowdpilot.service.requesters import wrong_keys
from crowdpilot.service.schemas import GuestsIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.uploads.image_sizes import MAX_IMAGE_PIXELS
from docs.hooks.blocks import Block, blocks
from tests.docs import stand_ins
from tests.equip import nginx
from tests.packaging.building import copy_tracked
from tests.service.harness.nginx import PAGE, whole_configuration
from tests.service.harness.waiting import free_port, need

PROGRAMS = ("apt-get", "useradd", "install", "chown", "runuser", "nginx", "journalctl", "systemctl")
PATH = re.compile(r"(?<![\w./-])/(?=(?:etc|var|opt|root|usr/local)/)")
STANDS_FOR = re.compile(r"\b(PROJECT|KEY|INVITATION|WORKER)\b")
REPOSITORY = "https://github.com/crowdpilot/crowdpilot"
COMMAND_SECONDS = 300.0
FOUND = blocks(PAGE.read_text())
KIB, MIB = 1 << 10, 1 << 20


class Server:
    """A server in a folder, on which the page is followed."""

    def __init__(self, root: Path) -> None:
        self.root, self.port, self.tls_port, self.plain_port = root, free_port(), free_port(), free_port()
        for name in ("bin", "run", "root", "var/log", "var/lib", "var/backups", "etc/nginx/conf.d", "etc/ssl",
                     "etc/systemd/system", "opt", "usr/local/bin", "usr/local/src"):  # fmt: skip
            (root / name).mkdir(parents=True)
        for name in ("passwd", "group", "shadow", "gshadow"):
            (root / "etc" / name).touch()
        for name in PROGRAMS:
            self._write(
                f"bin/{name}", f'#!/bin/sh\nexec {sys.executable} {stand_ins.__file__} {root} {name} "$@"\n'
            )
        (root / "bin/python3").symlink_to(sys._base_executable)  # type: ignore[attr-defined]  # of venvs only
        (root / "etc/nginx/nginx.conf").write_text(whole_configuration(root, "etc/nginx/conf.d/*.conf"))
        (root / "root/.curlrc").write_text(f"connect-to = label.example.org:443:127.0.0.1:{self.tls_port}\n")
        self._project: dict[str, str] = {}

    def _write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)
        (self.root / name).chmod(0o755)

    def environ(self) -> dict[str, str]:
        """The environment of root."""
        path = f"{self.root / 'usr/local/bin'}:{self.root / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
        source = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{self.root / 'source'}.insteadOf",
                  "GIT_CONFIG_VALUE_0": REPOSITORY}  # fmt: skip
        kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_", "LANG", "LC_"))}
        return {
            **kept,
            **source,
            "PATH": path,
            "HOME": str(self.root / "root"),
            "NGINX_PROGRAM": str(nginx()),
        }

    def here(self, text: str) -> str:
        """The same text with the paths and ports of this server."""
        tls, plain = self.tls_port, self.plain_port
        ports = {
            "127.0.0.1:8000": f"127.0.0.1:{self.port}", "--port 8000": f"--port {self.port}",
            "listen 443": f"listen 127.0.0.1:{tls}", "listen [::]:443": f"listen [::1]:{tls}",
            "listen 80": f"listen 127.0.0.1:{plain}", "listen [::]:80": f"listen [::1]:{plain}",
        }  # fmt: skip
        for there, ours in ports.items():
            text = text.replace(there, ours)
        return PATH.sub(f"{self.root}/", text)

    def run(self, block: Block) -> str:
        """What a block prints; a file is written."""
        if title := block.options.get("title"):
            file = Path(self.here(title))
            assert file.parent.is_dir(), f"nothing made the folder of {title}"
            file.write_text(self.here(block.code))
            return ""
        code = STANDS_FOR.sub(lambda found: self.stands_for(found[1]), self.here(block.code))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], env=self.environ(), cwd=self.root, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{self.log()}"
        return done.stdout

    def log(self) -> str:
        """The last lines of the service."""
        file = self.root / "var/log/crowdpilot.log"
        return file.read_text()[-4000:] if file.exists() else ""

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The parsed answer of the service."""
        if not headers:
            name, _, value = (self.root / "etc/crowdpilot/api.header").read_text().strip().partition(": ")
            headers = {name: value}
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers}
        with urlopen(
            Request(f"http://127.0.0.1:{self.port}{path}", data, sent, method=method), timeout=60
        ) as a:
            return json.load(a)

    def stands_for(self, word: str) -> str:
        """What an operator would write instead: of a project with a worker, or of the newest key."""
        if word == "KEY":
            listed = self.send("GET", "/api/keys")["keys"]
            return str(next(key["id"] for key in listed if key["name"] == "robot" and key["revoked"] is None))
        if not self._project:
            self._project = self._make_project()
        return self._project[word]

    def _make_project(self) -> dict[str, str]:
        made = self.send("POST", "/api/projects", {"name": "Birds", "classes": ["bird", "fish"]})
        path = f"/api/projects/{made['id']}"
        self.send(
            "POST",
            f"{path}/items",
            {"items": [{"name": "owl", "text": "It flies."}, {"name": "eel", "text": "It swims."}]},
        )
        invitation = self.send("POST", f"{path}/invitations", {"worker": "ann"})
        who = {"project": made["id"], "invite": invitation["link"].partition("invite=")[2]}
        token = self.send("POST", "/api/sessions", who, Accept="application/json")["token"]
        [leased] = self.send("GET", "/api/next?n=1", Authorization=f"Bearer {token}")["items"]
        vote = {"item": leased["item"], "label": "bird", "key": uuid.uuid4().hex}
        self.send("POST", "/api/votes", vote, Authorization=f"Bearer {token}")
        [worker] = self.send("GET", f"{path}/workers")["workers"]
        return {"PROJECT": made["id"], "INVITATION": invitation["id"], "WORKER": str(worker["worker"])}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    need(nginx(), "nginx-light")
    if os.geteuid() != 0:
        pytest.skip("the page is for root")
    source = copy_tracked(tmp_path / "source")
    git = [
        "git",
        "-C",
        source,
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    made = Server(tmp_path)
    yield made
    root = stand_ins.Root(tmp_path)
    root.systemctl("stop", "nginx", "crowdpilot")


@pytest.mark.thorough
def test_the_page_can_be_followed_from_an_empty_server_to_the_last_incident(server: Server) -> None:
    said: dict[str, str] = {}
    for block in FOUND:
        if "title" in block.options:
            server.run(block)
        elif block.language == "sh":
            said[block.code] = server.run(block)
    assert [code for code in said if "--version" in code and "crowdpilot 0" not in said[code]] == []
    for code, printed in said.items():
        assert "/readyz" not in code or '"ready"' in printed, f"{code}\n{printed}"
    restored = [printed for code, printed in said.items() if "crowdpilot restore" in code]
    assert len(restored) == 2
    assert [printed for printed in restored if not re.search(r"restored [\d,]+ rows", printed)] == []
    [listed] = [printed for code, printed in said.items() if code.endswith("crowdpilot keys list\n")]
    assert "robot" in listed
    assert server.send("GET", "/api/projects")["projects"] == []
    assert "revoke key" in (server.root / "var/backups/crowdpilot/log.csv").read_text()
    assert "ann" in (server.root / "var/backups/crowdpilot/worker.json").read_text()
    check_units(server.root / "etc/systemd/system")
    with pytest.raises(HTTPError, match="401"):
        server.send("GET", "/api/log", **{"X-API-Key": "cp_0123456789ab_wrong"})


def check_units(folder: Path) -> None:
    """Let systemd read all units."""
    checker = Path("/usr/bin/systemd-analyze")
    if not checker.exists():
        return
    for unit in sorted(folder.iterdir()):
        done = subprocess.run([checker, "verify", "--man=no", unit], capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if unit.stem in line]
        assert said == [], done.stderr
    [timer] = folder.glob("*.timer")
    when = re.findall("OnCalendar=(.*)", timer.read_text())
    subprocess.run([checker, "calendar", *when], check=True, capture_output=True)


def test_a_block_is_a_command_a_file_or_the_variant_of_the_proxy() -> None:
    other = [block for block in FOUND if block.language != "sh" and "title" not in block.options]
    assert [block.language for block in other] == ["nginx"]


def test_limits_and_defaults_are_those_of_the_code() -> None:
    text, s = PAGE.read_text().partition("## Limits and defaults")[2], Settings(secret="s" * 40)
    keep = rotate.__defaults__[0] if rotate.__defaults__ else None
    for words in (
        f"{s.requests_per_second:.0f} a second, {s.burst} at once",
        f"{WORKERS_PER_ADDRESS} times as many",
        f"{GuestsIn().per_hour} an hour; of one address {GuestsIn().per_address}",
        f"{wrong_keys.MAX_PER_ADDRESS} in {wrong_keys.PERIOD_SECONDS / 60:.0f} minutes",
        f"not known yet | {STRANGER_BYTES // KIB} KiB",
        f"{s.max_body_bytes // MIB} MiB; of workers {STRANGER_BYTES // KIB} KiB; "
        f"JSON with items or votes {s.max_json_bytes // MIB} MiB; "
        f"tables and files {s.max_upload_bytes // MIB} MiB",
        f"{connections.MAX_HEADER_BYTES // KIB} KiB, within {s.header_seconds:.0f} seconds",
        f"within {s.body_seconds:.0f} seconds, "
        f"then at least {connections.MIN_BYTES_PER_SECOND // KIB} KiB a second",
        f"{s.max_connections:,}; of one address, without a proxy, {s.max_connections_per_address}",
        f"{webhook_sender.DEADLINE_SECONDS:.0f} seconds in all",
        f"{MAX_IMAGE_PIXELS / 1e6:.0f} million pixels",
        f"{s.session_seconds / 3600:.0f} hours, {SESSION_SECONDS / 3600:.0f} hours",
        f"within {LOGIN_LINK_SECONDS / 3600:.0f} hour",
        f"keys of the secret after a rotation | {keep}",
    ):
        assert words in text


def test_the_proxy_takes_what_the_service_takes() -> None:
    [size] = re.findall(r"client_max_body_size (\d+)m;", PAGE.read_text())
    assert int(size) * MIB > Settings(secret="s" * 40).max_upload_bytes
