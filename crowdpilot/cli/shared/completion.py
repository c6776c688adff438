"""What a shell offers for options that take one of several names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

SELF_TRAINING = ("dasc", "confidence", "random")


def one_of(*names: str) -> Callable[[str], list[str]]:
    """What completes one of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def complete_network(incomplete: str) -> list[str]:
    """Networks that begin like this."""
    return one_of(*_names("networks/__init__.py", r'^    "(\w+)": '))(incomplete)


def complete_method(incomplete: str) -> list[str]:
    """Methods that begin like this, self-training included."""
    return one_of(*_names("methods/*.py", r'^    name = "(\w+)"'), *SELF_TRAINING)(incomplete)


def complete_map(incomplete: str) -> list[str]:
    """Maps of probabilities that begin like this."""
    from crowdpilot.calibration import MAPS

    return one_of(*MAPS)(incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Data sets that begin like this."""
    from crowdpilot.datasets import DATASETS

    return one_of(*DATASETS)(incomplete)


def complete_policy(incomplete: str) -> list[tuple[str, str]]:
    """Policies that begin like this, each with its one line."""
    from crowdpilot.hybrid.policies import POLICIES

    found = {name: policy for name, policy in POLICIES.items() if name.startswith(incomplete)}
    return [(name, (policy.__doc__ or "").partition("\n")[0]) for name, policy in found.items()]


def complete_fusion(incomplete: str) -> list[str]:
    """Rules to combine crowd and classifier that begin like this."""
    from crowdpilot.hybrid.value.posterior import FUSIONS

    return one_of(*FUSIONS)(incomplete)


def complete_format(incomplete: str) -> list[tuple[str, str]]:
    """Formats that begin like this, each with its one line."""
    from crowdpilot.io import FORMATS

    return [(name, format.summary) for name, format in FORMATS.items() if name.startswith(incomplete)]


def complete_strategy(incomplete: str) -> list[tuple[str, str]]:
    """Strategies that begin like this, each with its one line."""
    from crowdpilot.aggregation import MODELS

    found = {name: model for name, model in MODELS.items() if name.startswith(incomplete)}
    return [(name, describe(model)["summary"]) for name, model in found.items()]


def describe(model: Any) -> dict[str, Any]:
    """Names, options, summary and paper of a model or method, from its class and docstring."""
    text = inspect.getdoc(model) or ""
    parameters = inspect.signature(model).parameters.values()
    paper = re.search(r"\nReferences\n-+\n(.+?)(?:\n\n\S+\n-+\n|\Z)", text, re.DOTALL)
    return {
        "strategy": model.name,
        "aliases": list(model.aliases),
        "options": {p.name: repr(p.default) for p in parameters if p.default is not p.empty},
        "summary": " ".join(text.split("\n\n")[0].split()),
        "paper": " ".join(paper[1].split()) if paper else "",
    }


def _names(files: str, pattern: str) -> list[str]:
    """Names as they stand in the source of the room that trains, which takes seconds to load."""
    sources = sorted((Path(__file__).parents[2] / "learning").glob(files))
    return [name for file in sources for name in re.findall(pattern, file.read_text("utf-8"), re.MULTILINE)]
