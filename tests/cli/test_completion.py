"""What a shell offers when the tabulator is pressed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot import learning
from crowdpilot.aggregation import MODELS
from crowdpilot.calibration import MAPS
from crowdpilot.cli.shared.training.content_scores import CONTENT_SCORES
from crowdpilot.datasets import DATASETS
from crowdpilot.diagnosis import IDENTIFICATIONS
from crowdpilot.diagnosis.agreement import MEASURES
from crowdpilot.hybrid.policies import POLICIES
from crowdpilot.hybrid.value.posterior import FUSIONS
from crowdpilot.io import FORMATS
from crowdpilot.learning.self_training.pseudo_votes import SELECTIONS
from crowdpilot.service.store.requesters.keys import SCOPES
from crowdpilot.simulation import STRATEGIES
from tests.cli.listing import commands

Run = Callable[..., Result]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def complete(cli: Run) -> Callable[[str], list[str]]:
    """What bash would offer at the end of a line."""

    def complete(line: str) -> list[str]:
        position = str(len(line.split(" ")) - 1)
        env = {"_CROWDPILOT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": position}
        result = cli(env=env)
        assert result.stderr == ""
        return result.stdout.splitlines()

    return complete


Complete = Callable[[str], list[str]]


def test_commands_are_completed(complete: Complete) -> None:
    assert complete("crowdpilot s") == ["score", "strategies", "serve", "secrets", "simulate"]


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


NAMES = {  # what is offered for options that take a name, and the list that it must be
    "identify votes.csv -s": lambda: [*IDENTIFICATIONS, *CONTENT_SCORES],
    "identify votes.csv --network": lambda: learning.NETWORKS,
    "agreement votes.csv --measure": lambda: MEASURES,
    "train votes.csv --labels": lambda: MODELS,
    "train votes.csv --network": lambda: learning.NETWORKS,
    "train votes.csv --calibrate": lambda: MAPS,
    "train votes.csv --self-training": lambda: SELECTIONS,
    "aggregate-deep votes.csv -s": lambda: [*learning.METHODS, *SELECTIONS],
    "forecast votes.csv -p": lambda: POLICIES,
    "replay votes.csv -p": lambda: POLICIES,
    "replay votes.csv --fusion": lambda: FUSIONS,
    "replay": lambda: DATASETS,
    "datasets info": lambda: DATASETS,
    "simulate -s": lambda: STRATEGIES,
    "keys create ann --scope": lambda: SCOPES,
}


@pytest.mark.parametrize("option", NAMES)
def test_what_takes_a_name_is_completed(option: str, complete: Complete) -> None:
    """Whatever is in the library's list, and nothing else."""
    assert set(complete(f"crowdpilot {option} ")) == set(NAMES[option]())


CHOSEN = {
    "--balance": ("none", "resample", "reweight", "focal", "cb_focal"),
    "--optimizer": ("adam", "adamw", "sgd"),
    "--schedule": ("constant", "cosine", "multistep"), "--precision": ("full", "mixed"),
    "--targets": ("hard", "soft", "smoothed", "shard"),
    "--calibrate-by": ("best", "fusion", "one_vote", "votes", "posterior"),
    "--device": ("auto", "cpu", "cuda"),
}  # fmt: skip


@pytest.mark.parametrize("option", CHOSEN)
def test_a_choice_is_offered_as_its_help_tells_it(option: str, complete: Complete) -> None:
    offered = complete(f"crowdpilot train votes.csv {option} ")
    assert tuple(offered) == CHOSEN[option]
    help = next(p.help for p in commands()["train"].params if option in p.opts)
    assert [name for name in offered if name not in help] == []


def test_methods_are_offered_without_waiting_for_torch(here: Path, start: Start) -> None:
    line = "crowdpilot aggregate-deep votes.csv -s c"
    env = {"_CROWDPILOT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "4"}
    out, imported = start(**env, PYTHONPROFILEIMPORTTIME="1").communicate()
    assert out.split() == ["conal", "crowdlayer", "confidence"]
    assert "crowdpilot.cli.shared.completion" in imported
    assert "torch" not in imported


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
