"""The page about calibration agrees with the registry of maps."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.calibration import MAPS
from crowdpilot.option_strings import choose

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "calibration.md"


@pytest.mark.parametrize("name", MAPS)
def test_options_in_its_table_are_the_defaults(name: str) -> None:
    (shown,) = re.findall(rf"^\| `({name}(?:\[.*?\])?)` \|", PAGE.read_text(), re.MULTILINE)
    factory, options = choose(shown, MAPS, "map")
    defaults = {p.name: p.default for p in inspect.signature(factory).parameters.values()}
    assert options == {option: defaults[option] for option in options}
