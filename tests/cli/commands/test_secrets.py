from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.service.settings import load_settings

Run = Callable[..., Result]


def test_a_rotation_adds_a_key_and_drops_the_oldest(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CROWDPILOT_SECRET", raising=False)
    database = str(tmp_path / "a.db")
    first = load_settings(database, "http://x.org").secret
    result = cli("secrets", "rotate", "-d", database)
    assert result.exit_code == 0
    assert "restart the service" in result.stderr
    second, kept = load_settings(database, "http://x.org").secret.split()
    assert kept == first
    assert (first in result.output, second in result.output) == (False, False)
    cli("secrets", "rotate", "--keep", "1", "--secret-file", str(tmp_path / "crowdpilot.secret"))
    assert load_settings(database, "http://x.org").secret not in (first, second)


def test_there_must_be_a_file_to_rotate(cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDPILOT_SECRET", raising=False)
    result = cli("secrets", "rotate", "-d", str(tmp_path / "a.db"))
    assert result.exit_code == 2
    assert "there is no secret in" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_changed_by_its_owner(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDPILOT_SECRET", "s" * 40)
    result = cli("secrets", "rotate", "-d", str(tmp_path / "a.db"))
    assert result.exit_code == 2
    assert "put a new key of 32 characters or more before those there" in result.stderr
