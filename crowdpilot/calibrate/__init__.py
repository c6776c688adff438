"""Maps that make probabilities honest: one file each, one list."""

from __future__ import annotations

from crowdpilot.calibrate.best import SINGLE, Best, Trial, best_map, try_maps
from crowdpilot.calibrate.beta import Beta
from crowdpilot.calibrate.crowd import fit_on_votes, one_vote_each
from crowdpilot.calibrate.dirichlet import Dirichlet
from crowdpilot.calibrate.fusion import Fusion, fit_fusion, fit_fusion_on_votes
from crowdpilot.calibrate.histogram import Histogram
from crowdpilot.calibrate.isotonic import Isotonic
from crowdpilot.calibrate.map import Fitted, Map, load_map
from crowdpilot.calibrate.matrix import Matrix
from crowdpilot.calibrate.none import NoMap
from crowdpilot.calibrate.platt import Platt
from crowdpilot.calibrate.temperature import Temperature
from crowdpilot.calibrate.vector import Vector
from crowdpilot.naming import choose

MAPS: dict[str, type[Map]] = {**SINGLE, Best.name: Best}

__all__ = [
    "MAPS",
    "Best",
    "Beta",
    "Dirichlet",
    "Fitted",
    "Fusion",
    "Histogram",
    "Isotonic",
    "Map",
    "Matrix",
    "NoMap",
    "Platt",
    "Temperature",
    "Trial",
    "Vector",
    "best_map",
    "find_map",
    "fit_fusion",
    "fit_fusion_on_votes",
    "fit_on_votes",
    "load_map",
    "one_vote_each",
    "try_maps",
]


def find_map(text: str) -> Map:
    """The map that a text names, such as `temperature` or `dirichlet[strength=.01]`.

    Examples
    --------
    >>> print(find_map("Temperature[strength=0]"))
    temperature[strength=0]
    """
    known = {n: m for m in MAPS.values() for n in (m.name, m.__name__, *m.aliases)}
    map, options = choose(text, known, "map")
    return map(**options)
