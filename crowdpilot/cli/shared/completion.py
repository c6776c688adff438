"""Shell completion of options that take one of several names, and the description of strategies."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SELF_TRAINING = ("dasc", "confidence", "random")


def one_of(*names: str) -> Callable[[str], list[str]]:
    """The completion of an option that takes one of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def with_summaries(summaries: Mapping[str, str], incomplete: str) -> list[tuple[str, str]]:
    """The names that begin like this, in upper or lower case, each with its summary."""
    return [(n, summary) for n, summary in summaries.items() if n.lower().startswith(incomplete.lower())]


def complete_network(incomplete: str) -> list[str]:
    """Networks."""
    return one_of(*_names_in_source("networks/__init__.py", r'^    "(\w+)": '))(incomplete)


def complete_method(incomplete: str) -> list[str]:
    """Learning methods, self-training included."""
    return one_of(*_names_in_source("methods/*.py", r'^    name = "(\w+)"'), *SELF_TRAINING)(incomplete)


def complete_map(incomplete: str) -> list[str]:
    """Calibration maps."""
    from crowdpilot.calibration import MAPS

    return one_of(*MAPS)(incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Data sets."""
    from crowdpilot.datasets import DATASETS

    return one_of(*DATASETS)(incomplete)


def complete_measure(incomplete: str) -> list[str]:
    """Measures of agreement."""
    from crowdpilot.diagnosis.agreement import MEASURES

    return one_of(*MEASURES)(incomplete)


def complete_crowd(incomplete: str) -> list[str]:
    """Strategies of simulation."""
    from crowdpilot.simulation import STRATEGIES

    return one_of(*STRATEGIES)(incomplete)


def complete_fusion(incomplete: str) -> list[str]:
    """Rules that combine crowd and classifier."""
    from crowdpilot.hybrid.value.posterior import FUSIONS

    return one_of(*FUSIONS)(incomplete)


def complete_policy(incomplete: str) -> list[tuple[str, str]]:
    """Policies, each with its summary."""
    from crowdpilot.hybrid.policies import POLICIES

    summaries = {name: (policy.__doc__ or "").partition("\n")[0] for name, policy in POLICIES.items()}
    return with_summaries(summaries, incomplete)


def complete_format(incomplete: str) -> list[tuple[str, str]]:
    """Formats of votes, each with its summary."""
    from crowdpilot.io import FORMATS

    return with_summaries({name: format.summary for name, format in FORMATS.items()}, incomplete)


def complete_strategy(incomplete: str) -> list[tuple[str, str]]:
    """Strategies of aggregation, each with its summary."""
    from crowdpilot.aggregation import MODELS

    return with_summaries({name: describe(model)["summary"] for name, model in MODELS.items()}, incomplete)


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


def _names_in_source(files: str, pattern: str) -> list[str]:
    """Names in the source of `crowdpilot.learning`, which takes seconds to import."""
    sources = sorted((Path(__file__).parents[2] / "learning").glob(files))
    return [name for file in sources for name in re.findall(pattern, file.read_text("utf-8"), re.MULTILINE)]
