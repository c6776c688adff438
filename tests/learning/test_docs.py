"""The page about classifiers agrees with the registries."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import crowdpilot
from crowdpilot.learning import METHODS, NETWORKS, SCORES
from crowdpilot.option_strings import choose

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "learning.md"


@pytest.mark.parametrize("name", [*METHODS, *NETWORKS, *SCORES])
def test_every_registered_name_is_on_the_page(name: str) -> None:
    assert f"`{name}" in PAGE.read_text()


@pytest.mark.parametrize(("kinds", "name"), [(k, name) for k in (METHODS, NETWORKS) for name in k])
def test_options_in_its_tables_are_the_defaults(kinds: dict[str, Any], name: str) -> None:
    (shown,) = re.findall(rf"^\| `({name}(?:\[.*?\])?)` \|", PAGE.read_text(), re.MULTILINE)
    factory, options = choose(shown, kinds, "name")
    defaults = {p.name: p.default for p in inspect.signature(factory).parameters.values()}
    assert options == {option: defaults[option] for option in options}
