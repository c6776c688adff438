"""What is in the wheel and in the source archive, byte for byte."""

from __future__ import annotations

import email
import os
import re
import shutil
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import crowdpilot
from tests.packaging.building import HOME, Built, build, build_both, names_in, unpack

PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
LEFTOVERS = (  # must never be published
    ".env", ".venv/lib/secret.py", "dist/old.whl", "demo/votes.csv", ".hypothesis/examples/x",
    "crowdpilot/__pycache__/votes.cpython-311.pyc", "crowdpilot/io/votes.pyc", ".mypy_cache/x.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def again(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The package built elsewhere, at another time, under another umask, amid what work leaves behind."""
    folder = tmp_path_factory.mktemp("elsewhere")
    source = shutil.copytree(built.source, folder / "some" / "where")
    for path in source.rglob("*"):
        os.utime(path, (1e9, 1e9))
    for name in LEFTOVERS:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("secret")
    return build_both(source, folder / "dist", umask=0o077)


@pytest.fixture(scope="module")
def metadata(built: Built) -> Message:
    return email.message_from_bytes(read(built.wheel, "METADATA"))


def read(wheel: Path, name: str) -> bytes:
    """A file of the wheel's own folder."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"crowdpilot-{crowdpilot.__version__}.dist-info/{name}")


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_two_builds_are_the_same_byte_for_byte(built: Built, again: Built, kind: str) -> None:
    one, two = getattr(built, kind), getattr(again, kind)
    assert (one.name, one.read_bytes()) == (two.name, two.read_bytes())


def test_the_source_archive_makes_the_same_wheel(built: Built, tmp_path: Path) -> None:
    made = build(unpack(built.sdist, tmp_path / "source"), tmp_path / "dist", "wheel")
    assert (made / built.wheel.name).read_bytes() == built.wheel.read_bytes()


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    """Templates, styles, scripts, migrations and data are among it, and so is `py.typed`."""
    names = zipfile.ZipFile(built.wheel).namelist()
    package = {f"crowdpilot/{name}" for name in names_in(built.source / "crowdpilot")}
    assert {name for name in names if not name.startswith(f"crowdpilot-{crowdpilot.__version__}.")} == package
    assert "crowdpilot/py.typed" in names
    assert read(built.wheel, "licenses/LICENSE") == (built.source / "LICENSE").read_bytes()


def test_the_source_archive_holds_what_git_holds(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == {*names_in(built.source), "PKG-INFO"}


def test_the_wheel_says_what_the_project_says(metadata: Message) -> None:
    assert metadata["Name"] == PROJECT["name"]
    assert metadata["Version"] == crowdpilot.__version__
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])


def test_the_wheel_asks_for_the_light_part_alone(metadata: Message) -> None:
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(needed) == sorted(PROJECT["dependencies"])


def test_all_is_every_extra_that_is_for_users() -> None:
    """Also those that another brings along, so that nobody has to know which do."""
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    named = everything.removeprefix("crowdpilot[").removesuffix("]").split(",")
    assert set(named) == extras.keys() - {"all", "dev", "docs"}


def test_the_readme_is_the_description(built: Built, metadata: Message) -> None:
    """But for its links: what is a path there is an address here, since elsewhere there is no tree."""
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = str(metadata.get_payload(decode=True), "utf-8")
    home = f"{PROJECT['urls']['Homepage']}/"
    back = text.replace(f"({home}blob/main/", "(").replace(f"({home}raw/main/", "(")
    readme = (built.source / "README.md").read_text()
    assert back == readme.replace(f"({home}blob/main/", "(").replace(f"({home}raw/main/", "(")
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    assert len(links) > 5
    assert [to for _, to in links if not to.startswith(("https://", "#"))] == []
    ours = [
        to.partition("#")[0].removeprefix(home).split("/", 2)[2] for _, to in links if f"{home}blob/" in to
    ]
    assert [to for to in ours if not (built.source / to).exists()] == []
    assert [to for image, to in links if image and "/blob/" in to] == []


def test_the_command_is_in_the_wheel(built: Built) -> None:
    assert read(built.wheel, "entry_points.txt").split() == [
        b"[console_scripts]", b"crowdpilot", b"=", b"crowdpilot.cli:main"
    ]  # fmt: skip
    assert b"Root-Is-Purelib: true" in read(built.wheel, "WHEEL")
