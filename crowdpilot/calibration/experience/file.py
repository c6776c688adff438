"""The file of experience: a versioned JSON file of a few numbers with the crowds that they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.calibration.experience.crowd_map import CrowdMap
from crowdpilot.calibration.experience.evidence import FEATURES

FORMAT, VERSION = "crowdpilot-experience", 1


@lru_cache(maxsize=1)
def load_experience() -> CrowdMap:
    """The experience that comes with the package."""
    return read_experience(json.loads(files(__package__).joinpath("experience.json").read_text()))


def read_experience(data: Mapping[str, Any]) -> CrowdMap:
    """The experience that `write_experience` described.

    Raises
    ------
    ValueError
        If the data are something else, of a newer version, or about other features.
    """
    if data.get("format") != FORMAT:
        raise ValueError("the data are not a file of experience")
    if data["version"] > VERSION:
        raise ValueError(f"the experience has version {data['version']}, expected {VERSION} or less")
    if tuple(data["features"]) != FEATURES:
        raise ValueError(f"the experience is about {', '.join(data['features'])}, not {', '.join(FEATURES)}")
    return CrowdMap(np.asarray(data["mean"], np.float64), np.asarray(data["covariance"], np.float64))


def write_experience(experience: CrowdMap, path: Path, source: Mapping[str, Any]) -> None:
    """Write the experience to a JSON file, with a description of the crowds that it comes from."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "features": list(FEATURES),
        "mean": [round(x, 6) for x in experience.mean.tolist()],
        "covariance": [[round(x, 6) for x in row] for row in experience.covariance.tolist()],
        "source": dict(source),
    }
    path.write_text(json.dumps(data, indent=2) + "\n")
