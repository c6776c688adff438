"""What a shell offers when the tabulator is pressed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.aggregate import MODELS
from crowdpilot.io import FORMATS

Run = Callable[..., Result]


@pytest.fixture
def complete(cli: Run) -> Callable[[str], list[str]]:
    """What bash would offer at the end of a line."""

    def complete(line: str) -> list[str]:
        place = str(len(line.split(" ")) - 1)
        env = {"_CROWDPILOT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": place}
        result = cli(env=env)
        assert result.stderr == ""
        return result.stdout.splitlines()

    return complete


Complete = Callable[[str], list[str]]


def test_commands_are_completed(complete: Complete) -> None:
    assert complete("crowdpilot s") == ["score", "strategies", "serve", "simulate"]


@pytest.mark.parametrize("option", ["-s", "--strategy"])
def test_strategies_are_completed(option: str, complete: Complete) -> None:
    found = complete(f"crowdpilot aggregate votes.csv {option} dawid")
    assert found == [name for name in MODELS if name.startswith("dawid")]
    assert "dawid_skene" in found


@pytest.mark.parametrize("option", ["aggregate --format", "convert --from", "convert --to"])
def test_formats_are_completed(option: str, complete: Complete) -> None:
    assert complete(f"crowdpilot {option} p") == [name for name in FORMATS if name.startswith("p")]


def test_crowds_are_completed(complete: Complete) -> None:
    assert complete("crowdpilot simulate -s stu") == ["student-teacher"]


def test_the_choices_of_repeats_are_completed(complete: Complete) -> None:
    assert complete("crowdpilot aggregate --repeats l") == ["last"]


def test_zsh_sees_the_one_line_of_a_strategy(cli: Run) -> None:
    line = "crowdpilot aggregate -s majority"
    env = {"_CROWDPILOT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    assert '"majority_voting":"The most frequent label of each task' in cli(env=env).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: str, cli: Run) -> None:
    script = cli(env={"_CROWDPILOT_COMPLETE": f"source_{shell}"}).stdout
    assert f"_CROWDPILOT_COMPLETE=complete_{shell}" in script


def test_it_can_be_installed(tmp_path: Path, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert cli("--install-completion", "bash").exit_code == 0
    assert "crowdpilot" in (tmp_path / ".bashrc").read_text()
