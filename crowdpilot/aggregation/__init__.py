"""Aggregation of votes into labels with probabilities: models, the EM loop, and streams."""

from __future__ import annotations

from typing import Any

from crowdpilot.aggregation.accuracy.comparison import Comparison, compare
from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion, suggest_gold
from crowdpilot.aggregation.auto import Auto
from crowdpilot.aggregation.base import Aggregate, Aggregator, NotConverged, TooManyClasses
from crowdpilot.aggregation.em.loop import EM
from crowdpilot.aggregation.fusion import Fusion
from crowdpilot.aggregation.honest import Honest
from crowdpilot.aggregation.label_quality import Consensus, consensus
from crowdpilot.aggregation.models.bwa import BWA
from crowdpilot.aggregation.models.catd import CATD
from crowdpilot.aggregation.models.common_mistakes import CommonMistakes
from crowdpilot.aggregation.models.crowdlab import Crowdlab
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.dawid_skene_clust import DawidSkeneClust
from crowdpilot.aggregation.models.ebcc import EBCC
from crowdpilot.aggregation.models.fast_dawid_skene import FastDawidSkene, HybridDawidSkene
from crowdpilot.aggregation.models.glad import GLAD
from crowdpilot.aggregation.models.gold_majority import GoldMajority
from crowdpilot.aggregation.models.hierarchical_dawid_skene import HierarchicalDawidSkene
from crowdpilot.aggregation.models.ibcc import IBCC
from crowdpilot.aggregation.models.iwmv import IWMV
from crowdpilot.aggregation.models.kos import KOS
from crowdpilot.aggregation.models.mace import MACE
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.minimax_entropy import MinimaxEntropy
from crowdpilot.aggregation.models.mmsr import MMSR
from crowdpilot.aggregation.models.naive_soft import NaiveSoft
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.models.plantnet import PlantNet
from crowdpilot.aggregation.models.pm import PM
from crowdpilot.aggregation.models.tied_dawid_skene import TiedDawidSkene
from crowdpilot.aggregation.models.two_third import TwoThird
from crowdpilot.aggregation.models.wawa import Wawa
from crowdpilot.aggregation.models.wds import WDS
from crowdpilot.aggregation.models.weighted_majority import WeightedMajority
from crowdpilot.aggregation.models.zencrowd import ZenCrowd
from crowdpilot.aggregation.models.zero_based_skill import ZeroBasedSkill
from crowdpilot.aggregation.online.stream import Stream
from crowdpilot.aggregation.registry import MODELS, OF_OTHER_DATA, aggregate, find_model, parse_strategy
from crowdpilot.option_strings import did_you_mean

__all__ = [
    "BWA",
    "CATD",
    "EBCC",
    "EM",
    "GLAD",
    "IBCC",
    "IWMV",
    "KOS",
    "MACE",
    "MMSR",
    "MODELS",
    "PM",
    "WDS",
    "Aggregate",
    "Aggregator",
    "Auto",
    "CommonMistakes",
    "Comparison",
    "Consensus",
    "Crowdlab",
    "DawidSkene",
    "DawidSkeneClust",
    "FastDawidSkene",
    "Fusion",
    "GoldMajority",
    "GoldSuggestion",
    "HierarchicalDawidSkene",
    "Honest",
    "HybridDawidSkene",
    "MajorityVoting",
    "MinimaxEntropy",
    "NaiveSoft",
    "NotConverged",
    "OneCoin",
    "PlantNet",
    "Stream",
    "TiedDawidSkene",
    "TooManyClasses",
    "TwoThird",
    "Wawa",
    "WeightedMajority",
    "ZenCrowd",
    "ZeroBasedSkill",
    "aggregate",
    "compare",
    "consensus",
    "parse_strategy",
    "suggest_gold",
]


def __getattr__(name: str) -> Any:
    """A model by another of its names, such as `MajorityVote` and `OneCoinDawidSkene` of crowd-kit."""
    if name[:1].isupper() and (model := find_model(name)) is not None:
        return model
    hint = did_you_mean(name, reversed(__all__), otherwise="MODELS has all models")
    reason = "; Crowdpilot aggregates classes only" if name in OF_OTHER_DATA else hint
    error = ImportError if name[:1].isupper() else AttributeError  # whose text `from ... import` hides
    raise error(f"crowdpilot.aggregation has no {name!r}{reason}")
