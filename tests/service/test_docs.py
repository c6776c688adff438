"""The page about the service agrees with its routes."""

from __future__ import annotations

import re
from pathlib import Path

import crowdpilot
from crowdpilot.service.app import create_app
from crowdpilot.service.settings import Settings
from tests.service.harness.service import running_service

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "service.md"


def test_a_completion_code_is_recognised_and_an_invented_one_is_not(tmp_path: Path) -> None:
    with running_service(f"sqlite:///{tmp_path / 'a.db'}", jobs=False) as send:
        project = send("POST", "/api/projects", {"name": "x", "classes": ["a", "b"]})
        path = f"/api/projects/{project['id']}"
        send("POST", f"{path}/items", {"items": [{"text": "one"}]})
        invite = project["link"].partition("invite=")[2]
        token = send("POST", "/api/sessions", {"project": project["id"], "invite": invite})["token"]
        (leased,) = send("GET", "/api/next", token=token)["items"]
        vote = {"item": leased["item"], "label": "a", "key": "the only one"}
        send("POST", "/api/votes", vote, token=token)
        code = send("POST", "/api/finish", token=token)["code"]
        codes = send("POST", f"{path}/codes", {"codes": [code, code[::-1]]})["codes"]
    assert [row["worker"] for row in codes] == [1, None]


def test_every_route_it_names_exists(tmp_path: Path) -> None:
    app = create_app(Settings(database=f"sqlite:///{tmp_path / 'a.db'}", secret="s" * 40))
    known = {re.sub(r"\{\w+\}", "N", path) for path in app.openapi()["paths"]}
    named = re.findall(r"`(?:GET |POST |DELETE )?((?:…|/api)/[a-zA-Z/-]+)`", PAGE.read_text())
    assert named
    full = {name.replace("…", "/api/projects/N").replace("PROJECT", "N") for name in named}
    short = {"/api/resume": "", "/api/close": ""}
    assert sorted(path for path in full if path not in known and path not in short) == []
