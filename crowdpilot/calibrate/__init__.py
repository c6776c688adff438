"""Maps that make probabilities honest: one file each, one list."""

from __future__ import annotations

from crowdpilot.calibrate.map import Fitted, Map, load_map
from crowdpilot.calibrate.none import NoMap
from crowdpilot.calibrate.temperature import Temperature
from crowdpilot.naming import choose

MAPS: dict[str, type[Map]] = {map.name: map for map in (NoMap, Temperature)}

__all__ = [
    "MAPS",
    "Fitted",
    "Map",
    "NoMap",
    "Temperature",
    "find_map",
    "load_map",
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
