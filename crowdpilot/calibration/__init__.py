"""Calibration of probabilities: maps, their selection, and fusion of a classifier with votes."""

from __future__ import annotations

from crowdpilot.calibration.base import FittedMap, Map, load_map
from crowdpilot.calibration.from_votes import fit_on_votes, sample_one_vote_per_task
from crowdpilot.calibration.fusion import FusionWeights, fit_fusion, fit_fusion_on_votes, fit_held_out_votes
from crowdpilot.calibration.maps.beta import Beta
from crowdpilot.calibration.maps.dirichlet import Dirichlet
from crowdpilot.calibration.maps.histogram import Histogram
from crowdpilot.calibration.maps.isotonic import Isotonic
from crowdpilot.calibration.maps.matrix import Matrix
from crowdpilot.calibration.maps.none import NoMap
from crowdpilot.calibration.maps.platt import Platt
from crowdpilot.calibration.maps.temperature import Temperature
from crowdpilot.calibration.maps.vector import Vector
from crowdpilot.calibration.selection import SINGLE_MAPS, Best, Trial, best_map, compare_maps
from crowdpilot.option_strings import parse_named

MAPS: dict[str, type[Map]] = {**SINGLE_MAPS, Best.name: Best}

__all__ = [
    "MAPS",
    "Best",
    "Beta",
    "Dirichlet",
    "FittedMap",
    "FusionWeights",
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
    "compare_maps",
    "find_map",
    "fit_fusion",
    "fit_fusion_on_votes",
    "fit_held_out_votes",
    "fit_on_votes",
    "load_map",
    "sample_one_vote_per_task",
]


def find_map(text: str) -> Map:
    """The map that a text stands for, such as `temperature` or `dirichlet[strength=.01]`."""
    return parse_named(text, MAPS.values(), "map")
