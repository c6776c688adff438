"""Fitted maps that earlier versions have saved are still read, and map as they did.

`python -m tests.calibration.test_base` writes the file, once for each version of the format.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdpilot.calibration import MAPS, FittedMap, find_map, load_map

FILE = Path(__file__).parent / "saved" / "maps-1.json"
PROBS = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.01, 0.01, 0.98]])
NAMES = [name for name in MAPS if name != "best"]


def fitted(name: str) -> FittedMap:
    """A map fitted to overconfident probabilities of 60 tasks."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 1, 1], 60)
    truth = (probs.cumsum(axis=1) > rng.random((60, 1))).argmax(axis=1)
    sharp = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    return find_map(name).fit(sharp, truth)


def main() -> None:
    maps = {name: {"saved": (m := fitted(name)).to_dict(), "mapped": m(PROBS).tolist()} for name in NAMES}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(maps) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_map_gives_the_pinned_probabilities(name: str) -> None:
    case: dict[str, Any] = json.loads(FILE.read_text())[name]
    loaded = load_map(case["saved"])
    assert loaded.name == name
    np.testing.assert_allclose(loaded(PROBS), case["mapped"], rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_map_that_is_saved_now_has_the_names_of_version_1(name: str) -> None:
    """Renaming an attribute changes no file; a new name in the file is a new version."""
    was, now = json.loads(FILE.read_text())[name]["saved"], fitted(name).to_dict()
    assert now.keys() == was.keys()
    assert [now[k] for k in ("format", "version", "kind")] == [was[k] for k in ("format", "version", "kind")]


def test_a_map_of_a_newer_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 2 of the format"):
        load_map({**fitted("temperature").to_dict(), "version": 2})


def test_a_map_without_its_numbers_is_refused() -> None:
    saved = fitted("temperature").to_dict()
    del saved["weights"]
    with pytest.raises(ValueError, match="the fitted map has no weights"):
        load_map(saved)


if __name__ == "__main__":
    main()
