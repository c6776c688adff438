"""The index of public names: each with one sentence, from its docstring, and where it is explained."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import crowdpilot
from docs.hooks.tables import ROOT, parts_of, reference_rooms

PLAIN_VALUES = {  # what has no docstring of its own
    "CALIBRATION_METRICS": "The metrics of calibration by their names.",
    "CROWD": "The kind of a worker of the crowd.",
    "Columns": "The columns of a table by their names.",
    "DATASETS": "The public data sets by their names.",
    "EXPERT": "The kind of an expert, whose votes cost more and count more.",
    "FORMATS": "The formats that are read, by their names.",
    "FUSIONS": "The ways to combine a classifier with votes, by their names.",
    "IDENTIFICATIONS": "What `crowdpilot identify` can compute, by name.",
    "LABEL_METRICS": "The metrics of labels by their names.",
    "MAPS": "The calibration maps by their names.",
    "MEASURES": "The measures of agreement by their names.",
    "Metric": "The type of a metric: true codes and predictions in, a number out.",
    "METHODS": "The methods of learning from votes by their names.",
    "METRICS": "The metrics that `crowdpilot score` computes, by their names.",
    "MODELS": "The strategies by their names.",
    "NETWORKS": "The networks by their names.",
    "POLICIES": "The policies of campaigns by their names.",
    "PROBABILITY_METRICS": "The metrics of probabilities by their names.",
    "SCORES": "The scores of tasks by which some are left out, by their names.",
    "SHOWN_METRICS": "The metrics that reports show, by their names.",
    "SOFT_LABEL_METRICS": "The metrics that compare probabilities with shares of votes, by their names.",
    "STRATEGIES": "The simulated crowds by their names.",
    "TABLES": "The formats of tables by their suffixes.",
    "VoteSource": "The type of what answers in a replay: recorded or simulated votes.",
}
WITHOUT_ANCHOR = {*PLAIN_VALUES, "plots"}  # on the page of their room


class Name(NamedTuple):
    """A public name: the module that lists it, its sentence, and the file that holds it."""

    module: str
    name: str
    sentence: str
    file: str

    @property
    def source(self) -> str:
        """A link to the code, for a reader of the tree."""
        return f"../{self.file}"

    @property
    def reference(self) -> str:
        """A link to the reference, for a reader of the site."""
        page = f"reference/{self.module.split('.')[1]}.md"
        return page if self.name in WITHOUT_ANCHOR else f"{page}#{self.module}.{self.name}"


def modules() -> list[str]:
    """The modules with public names, from the bottom up."""
    return [f"crowdpilot.{part}" for room in reference_rooms() for part in (room, *parts_of(room))]


def names_of(module: str) -> list[Name]:
    """The public names of a module, sorted as people read: without regard to capitals."""
    room = import_module(module)
    public = getattr(room, "__all__", None) or defined_in(room)
    return [describe(module, name) for name in sorted(public, key=str.lower)]


def defined_in(module: Any) -> list[str]:
    """The public classes and functions that a module without `__all__` defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def verbs_and_nouns() -> list[Name]:
    """What `import crowdpilot as cp` has, described where it is defined."""
    homes = {name: room for room, names in crowdpilot._NAMES_OF.items() for name in names}
    return [describe(f"crowdpilot.{homes[name]}", name) for name in sorted(homes, key=str.lower)]


def describe(module: str, name: str) -> Name:
    """A name with the first sentence of its docstring."""
    value = getattr(import_module(module), name)
    if name in PLAIN_VALUES:
        return Name(module, name, PLAIN_VALUES[name], file_of(import_module(module)))
    return Name(module, name, first_sentence(inspect.getdoc(value) or ""), file_of(value))


def file_of(value: Any) -> str:
    """The file of the project that holds something."""
    return Path(inspect.getsourcefile(inspect.unwrap(value)) or "").relative_to(ROOT).as_posix()


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.?]) (?=[A-Z`])", paragraph)[0]


def index(link: Callable[[Name], str] = lambda name: name.source) -> str:
    """The lists of all modules, as Markdown; links lead to the code, or where `link` says."""
    parts = [section("crowdpilot", verbs_and_nouns(), link)]
    parts += [section(module, names_of(module), link) for module in modules()]
    return "\n\n".join(parts)


def section(title: str, names: list[Name], link: Callable[[Name], str]) -> str:
    """A heading and a line for each name."""
    return "\n".join([f"## {title}\n", *lines(names, link)])


def lines(names: list[Name], link: Callable[[Name], str]) -> Iterator[str]:
    """The lines of a list."""
    for name in names:
        yield f"- [`{name.name}`]({link(name)}): {name.sentence}"
