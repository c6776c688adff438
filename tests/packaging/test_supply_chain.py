"""What is installed is what was tried: locks with digests, a bill of materials, pinned images, an audit."""

from __future__ import annotations

import http.server
import json
import re
import runpy
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import crowdpilot
from tests.packaging.building import HOME, Built
from tests.packaging.containers import compose, only, stages

LOCKS = sorted((HOME / "locks").glob("*.txt"))
ENTRY = re.compile(r"^([A-Za-z0-9._-]+)(?:\[\S+\])?==(\S+)[^\n]*\n((?:[ ]+--hash=[^\n]*\n)*)", re.MULTILINE)
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
RENEW = "run make locks"
DIGEST = f"sha256:{'5' * 64}"
bill = runpy.run_path(str(HOME / "scripts/sbom.py"))["bill"]


def locked(path: Path) -> dict[str, str]:
    """The versions of a lock file."""
    return {canonicalize_name(name): version for name, version, _ in ENTRY.findall(path.read_text())}


def constraints() -> dict[str, str]:
    """The versions of the constraints."""
    lines = (HOME / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def needed(*extras: str) -> set[str]:
    """The packages that the project and some of its extras name."""
    found: set[str] = set()
    rows = [
        *PROJECT["dependencies"],
        *(row for extra in extras for row in PROJECT["optional-dependencies"][extra]),
    ]
    for requirement in map(Requirement, rows):
        ours = requirement.name == "crowdpilot"
        found |= needed(*requirement.extras) if ours else {canonicalize_name(requirement.name)}
    return found


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_each_file_of_a_lock_has_a_digest(path: Path) -> None:
    entries = ENTRY.findall(path.read_text())
    assert entries
    assert [name for name, _, digests in entries if not re.search("sha256:[0-9a-f]{64}", digests)] == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_locks_have_the_versions_of_the_constraints(path: Path) -> None:
    tried = constraints()
    assert {name: v for name, v in locked(path).items() if tried.get(name, v) != v} == {}, RENEW


@pytest.mark.parametrize(
    ("lock", "extras"), [("service", ["service"]), ("service-learn", ["service", "learn"])]
)
def test_locks_have_all_that_the_project_needs(lock: str, extras: list[str]) -> None:
    assert needed(*extras) - locked(HOME / f"locks/{lock}.txt").keys() == set(), RENEW


def test_no_version_of_the_service_is_left_to_chance() -> None:
    assert locked(HOME / "locks/service.txt").keys() - constraints().keys() <= {"colorama", "tzdata"}, RENEW


def test_a_file_that_was_changed_is_not_installed(tmp_path: Path) -> None:
    """pip refuses a wheel whose digest is not in the lock."""
    wheel = tmp_path / "itsdangerous-2.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("itsdangerous/__init__.py", "")
        archive.writestr(
            "itsdangerous-2.2.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: itsdangerous\nVersion: 2.2.0\n",
        )
        archive.writestr(
            "itsdangerous-2.2.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("itsdangerous-2.2.0.dist-info/RECORD", "")
    entry = next(
        m[0] for m in ENTRY.finditer((HOME / "locks/service.txt").read_text()) if m[1] == "itsdangerous"
    )
    (tmp_path / "lock.txt").write_text(re.sub(r"==\S+", "==2.2.0", entry, count=1))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--isolated",
        "--dry-run",
        "--ignore-installed",
        "--no-index",
    ]
    words = ["--require-hashes", "--find-links", tmp_path, "-r", tmp_path / "lock.txt"]
    done = subprocess.run([*pip, *words], capture_output=True, text=True)
    assert done.returncode != 0
    assert "DO NOT MATCH" in done.stderr


def test_the_image_is_installed_with_digests_alone() -> None:
    run = only(stages()[1], "RUN")
    installs = re.findall(r"pip [^&]*?\binstall\b[^&]*", run)
    assert installs
    assert [
        words for words in installs if not re.search("--require-hashes|--no-deps --no-index", words)
    ] == []
    given = dict(rest.split("=", 1) for word, rest in stages()[1] if word == "ARG" and "=" in rest)
    assert (HOME / f"locks/{given['LOCK']}.txt").exists()
    assert compose({"LOCK": ""} | FILLED)["services"]["web"]["build"]["args"]["LOCK"] == given["LOCK"]


FILLED = {"POSTGRES_PASSWORD": "p", "CROWDPILOT_SECRET": "s", "CROWDPILOT_ADDRESS": "a"}


def test_the_bill_of_materials_is_valid_and_complete() -> None:
    made = bill(
        (HOME / "locks/service.txt").read_text(), "crowdpilot", crowdpilot.__version__, PROJECT["license"]
    )
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(made)) is None
    listed = {canonicalize_name(part["name"]): part["version"] for part in made["components"]}
    assert listed == locked(HOME / "locks/service.txt")
    graph = {node["ref"]: node["dependsOn"] for node in made["dependencies"]}
    reached, left = set(), [made["metadata"]["component"]["bom-ref"]]
    while left:
        if (ref := left.pop()) not in reached:
            reached.add(ref)
            left += graph[ref]
    assert reached == {
        made["metadata"]["component"]["bom-ref"],
        *(part["bom-ref"] for part in made["components"]),
    }


def test_the_bill_of_materials_is_the_same_byte_for_byte(built: Built) -> None:
    command = [sys.executable, "scripts/sbom.py", "locks/service.txt"]
    here = subprocess.check_output(command, cwd=HOME)
    assert here == subprocess.check_output(command, cwd=built.source)
    assert json.loads(here)["metadata"]["component"]["version"] == crowdpilot.__version__
    recipe = subprocess.check_output(["make", "-n", "build"], cwd=HOME, text=True)
    assert "scripts/sbom.py locks/service.txt" in recipe


def test_an_audit_that_cannot_look_fails(tmp_path: Path) -> None:
    """Without a service to ask, nothing is known: that must not look like a clean result."""
    command = ["make", "--no-print-directory", "-n", "audit"]
    recipe = subprocess.check_output(command, cwd=HOME, text=True).splitlines()[-1]
    assert recipe.split()[:2] == [".venv/bin/pip-audit", "--strict"]
    nowhere = {"PATH": "/usr/bin:/bin", "HTTPS_PROXY": "http://127.0.0.1:9", "HOME": str(tmp_path)}
    words = [str(Path(sys.executable).with_name("pip-audit")), *recipe.split()[1:]]
    done = subprocess.run(words, cwd=HOME, env=nowhere, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert done.stderr


class _Registry(http.server.BaseHTTPRequestHandler):
    """Answers as a registry of images does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"token": "t"}')

    def do_HEAD(self) -> None:
        known = self.headers["Authorization"] == "Bearer t" and "/v2/library/" in self.path
        self.send_response(200 if known else 401)
        self.send_header("Docker-Content-Digest", DIGEST)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def registry() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def pin_images(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/pin_images.py", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_images_are_pinned_with_the_digests_of_the_registry(
    built: Built, registry: str, tmp_path: Path
) -> None:
    source = shutil.copytree(built.source, tmp_path / "source")
    asked = "--registry", registry, "--tokens", registry
    for _ in range(2):  # pinned images are pinned anew
        done = pin_images(source, *asked)
        assert done.returncode == 0, done.stderr
        text = (source / "Dockerfile").read_text() + (source / "compose.yaml").read_text()
        assert re.findall(r"(?:_IMAGE=|image: )(\S+)", text) == [
            f"python:3.13-slim@{DIGEST}",
            f"postgres:17@{DIGEST}",
        ]
    assert pin_images(source, "--check").returncode == 0


def test_images_without_a_digest_are_known(built: Built, tmp_path: Path) -> None:
    source = shutil.copytree(built.source, tmp_path / "source")
    for name in ("Dockerfile", "compose.yaml"):
        (source / name).write_text(re.sub("@sha256:[0-9a-f]{64}", "", (source / name).read_text()))
    done = pin_images(source, "--check")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("python:3.13-slim and postgres:17 have no digest; run `make images`")


def test_a_registry_that_is_not_there_is_one_sentence(built: Built, tmp_path: Path) -> None:
    source = shutil.copytree(built.source, tmp_path / "source")
    done = pin_images(source, "--registry", "http://127.0.0.1:9", "--tokens", "http://127.0.0.1:9")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot be reached" in done.stderr


def test_containers_have_limits_and_are_ready_before_they_are_asked() -> None:
    services = compose(FILLED)["services"]
    for name, service in services.items():
        assert re.fullmatch(r"\d+[gm]", service["mem_limit"]), name
        assert service["pids_limit"] > 0, name
    assert "/readyz" in only(stages()[-1], "HEALTHCHECK")


def test_security_says_how_to_report_and_what_is_supported() -> None:
    text = (HOME / "SECURITY.md").read_text()
    for heading in ("## How to report", "## Supported versions", "## Threat model"):
        assert heading in text
    series = ".".join(crowdpilot.__version__.split(".")[:2])
    assert f"{series}.x" in text
