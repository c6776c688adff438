"""One name for one thing, over all commands."""

from __future__ import annotations

import shlex
from collections import defaultdict
from typing import Any

import pytest
import typer

from crowdpilot.cli import COMMANDS
from tests.cli.listing import commands

ALL = commands()
SHORT = {  # what a letter stands for, in every command that has it
    "-o": "--output", "-s": "--strategy", "-l": "--labels", "-p": "--policy", "-d": "--database",
    "-K": "--n-classes", "-m": "--milestones", "-q": "--quiet", "-v": "--verbose",
    "-V": "--version", "-optim": "--optimizer",
}  # fmt: skip
OWN_WORDS = {  # options of which a command says in its own words what it does with them
    "--output", "--strategy", "--policy", "--labels", "--machine", "--json", "--x", "--folder", "--items",
    "--seconds", "--shards", "--classes", "--gold", "--device", "--n-classes", "--level", "--abstain",
    "--truth", "--force", "--name", "--project", "--votes", "--batch",
}  # fmt: skip
OWN_TYPES = {  # options that are not of one type, and why
    "--policy": "`replay` tries several",
    "--strategy": "`compare` tries several",
    "--machine": "`replay` has one for each criterion",
    "--labels": "`next` writes them; elsewhere they may be a strategy",
    "--project": "that of `connect` is the number of a project in another program",
    "--abstain": "that of `simulate` is a setting of its crowd, under the name that metadata.json has",
}


def options(command: Any) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "option"]


def name_of(option: Any) -> str:
    return str(next(name for name in option.opts if name.startswith("--")))


USES: dict[str, list[tuple[str, Any]]] = defaultdict(list)
for _name, _command in ALL.items():
    for _option in (option for option in options(_command) if not option.hidden):
        USES[name_of(_option)].append((_name, _option))
SHARED = {name: uses for name, uses in USES.items() if len(uses) > 1}


def test_all_commands_are_looked_at() -> None:
    listed = {name for panel in COMMANDS.values() for name in panel}
    assert {name.split()[0] for name in ALL} == listed
    assert len(SHARED) > 30
    assert SHARED.keys() >= OWN_WORDS | OWN_TYPES.keys()


@pytest.mark.parametrize("name", SHARED)
def test_an_option_of_several_commands_means_the_same_in_all(name: str) -> None:
    types = {option.type_descriptor.annotation for _, option in SHARED[name]}
    words = {option.help for _, option in SHARED[name]}
    assert (len(types) > 1) == (name in OWN_TYPES), types
    assert (len(words) > 1) == (name in OWN_WORDS), words


@pytest.mark.parametrize("name", SHARED)
def test_an_option_has_the_same_letter_everywhere(name: str) -> None:
    assert len({tuple(letters(option)) for _, option in SHARED[name]}) == 1


@pytest.mark.parametrize("command", ALL)
def test_a_letter_stands_for_one_thing(command: str) -> None:
    assert [
        (letter, name_of(option))
        for option in options(ALL[command])
        for letter in letters(option)
        if SHORT[letter] not in option.opts
    ] == []


def letters(option: Any) -> list[str]:
    return sorted(name for name in option.opts if not name.startswith("--"))


@pytest.mark.parametrize("command", ALL)
def test_every_parameter_says_what_it_is(command: str) -> None:
    shown = [p for p in ALL[command].params if not getattr(p, "hidden", False)]
    assert [p.name for p in shown if not (p.help or "").strip().endswith((".", "…"))] == []


@pytest.mark.parametrize("command", ALL)
def test_the_examples_of_a_command_can_be_parsed_by_it(command: str) -> None:
    found = [line[3:-1] for line in ALL[command].epilog.splitlines() if line.startswith("* `")]
    assert found
    for example in found:
        program, *words = shlex.split(example)
        name = command.split()
        assert [program, *words[: len(name)]] == ["crowdpilot", *name]
        context = typer.Context(ALL[command], info_name=command)
        ALL[command].parse_args(context, words[len(name) :])
