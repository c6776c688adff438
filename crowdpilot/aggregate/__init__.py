"""Votes to probabilities: one file per model, one EM loop, one list."""

from __future__ import annotations

from crowdpilot.aggregate.aggregator import Aggregate, Aggregator, TooManyClasses
from crowdpilot.aggregate.auto import Auto
from crowdpilot.aggregate.bwa import BWA
from crowdpilot.aggregate.catd import CATD
from crowdpilot.aggregate.common_mistakes import CommonMistakes
from crowdpilot.aggregate.crowdlab import Crowdlab
from crowdpilot.aggregate.dawid_skene import DawidSkene
from crowdpilot.aggregate.dawid_skene_clust import DawidSkeneClust
from crowdpilot.aggregate.ebcc import EBCC
from crowdpilot.aggregate.em import EM, NotConverged
from crowdpilot.aggregate.fast_dawid_skene import FastDawidSkene, HybridDawidSkene
from crowdpilot.aggregate.glad import GLAD
from crowdpilot.aggregate.gold_majority import GoldMajority
from crowdpilot.aggregate.hierarchical_dawid_skene import HierarchicalDawidSkene
from crowdpilot.aggregate.ibcc import IBCC
from crowdpilot.aggregate.iwmv import IWMV
from crowdpilot.aggregate.kos import KOS
from crowdpilot.aggregate.mace import MACE
from crowdpilot.aggregate.majority_voting import MajorityVoting
from crowdpilot.aggregate.minimax_entropy import MinimaxEntropy
from crowdpilot.aggregate.mmsr import MMSR
from crowdpilot.aggregate.naive_soft import NaiveSoft
from crowdpilot.aggregate.one_coin import OneCoin
from crowdpilot.aggregate.online import Stream
from crowdpilot.aggregate.plantnet import PlantNet
from crowdpilot.aggregate.pm import PM
from crowdpilot.aggregate.strategy import parse
from crowdpilot.aggregate.tied_dawid_skene import TiedDawidSkene
from crowdpilot.aggregate.two_third import TwoThird
from crowdpilot.aggregate.wawa import Wawa
from crowdpilot.aggregate.wds import WDS
from crowdpilot.aggregate.weighted_majority import WeightedMajority
from crowdpilot.aggregate.zencrowd import ZenCrowd
from crowdpilot.aggregate.zero_based_skill import ZeroBasedSkill

MODELS: dict[str, type[Aggregator]] = {
    model.name: model
    for model in (
        Auto,
        MajorityVoting,
        WeightedMajority,
        NaiveSoft,
        Wawa,
        ZeroBasedSkill,
        IWMV,
        TwoThird,
        GoldMajority,
        OneCoin,
        ZenCrowd,
        CommonMistakes,
        DawidSkene,
        FastDawidSkene,
        HybridDawidSkene,
        DawidSkeneClust,
        HierarchicalDawidSkene,
        TiedDawidSkene,
        IBCC,
        EBCC,
        BWA,
        GLAD,
        MACE,
        KOS,
        MMSR,
        MinimaxEntropy,
        CATD,
        PM,
        WDS,
        PlantNet,
        Crowdlab,
    )
}

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
    "Crowdlab",
    "DawidSkene",
    "DawidSkeneClust",
    "FastDawidSkene",
    "GoldMajority",
    "HierarchicalDawidSkene",
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
    "parse_strategy",
]


def parse_strategy(text: str) -> Aggregator:
    """The model that a strategy string names, such as `dawid_skene` or `DSWC[L=5]`.

    Examples
    --------
    >>> print(parse_strategy("DS[smoothing=.5]"))
    dawid_skene[smoothing=0.5]
    """
    return parse(text, MODELS)
