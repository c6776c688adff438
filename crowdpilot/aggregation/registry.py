"""Registry of the aggregation models by name, and the parser of strategy strings."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from crowdpilot.aggregation.auto import Auto
from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.classifier_probs import ClassifierAggregator, join_probs
from crowdpilot.aggregation.fusion import Fusion
from crowdpilot.aggregation.honest import Honest, without_honesty
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
from crowdpilot.data_frames import library_of
from crowdpilot.io import as_votes
from crowdpilot.option_strings import parse_named
from crowdpilot.votes import Votes

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
        Honest,
    )
}

Aggregator.many_classes_fallback = CommonMistakes  # fitted where another model would need too much memory

OF_OTHER_DATA = frozenset(
    ("BradleyTerry", "NoisyBradleyTerry", "BinaryRelevance", "ROVER", "RASA", "HRRASA", "TextRASA",
     "TextHRRASA", "ClosestToAverage", "SegmentationMajorityVote", "SegmentationRASA", "SegmentationEM")
)  # fmt: skip  # crowd-kit's models of pairs, texts, embeddings and segmentations
MODELS_OF_SHARES = ("naive_soft", "majority_voting")  # do not estimate the skill of workers


def parse_strategy(text: str) -> Aggregator:
    """The model that a strategy string names, such as `dawid_skene` or `DSWC[L=5]`.

    Examples
    --------
    >>> print(parse_strategy("DS[smoothing=.5]"), parse_strategy("honest[DS]"))
    dawid_skene[smoothing=0.5] honest[dawid_skene]
    """
    inside = re.fullmatch(r"\s*honest\s*\[(?!model\s*=)(.+)\]\s*", text, re.DOTALL | re.IGNORECASE)
    if inside is not None:
        return Honest(parse_strategy(inside[1]))
    known: list[type[Aggregator]] = [*MODELS.values(), Fusion]
    return parse_named(text, known, "strategy")


def find_model(name: str) -> type[Aggregator] | None:
    """The class of a model by any of its names, such as crowd-kit's `MajorityVote`."""
    try:
        return type(parse_strategy(name))
    except ValueError:
        return None


def as_model(strategy: Any) -> Aggregator:
    """A model from its name, from itself, or from its class, which gives the usual settings."""
    model = parse_strategy(strategy) if isinstance(strategy, str) else strategy
    model = model() if isinstance(model, type) and issubclass(model, Aggregator) else model
    if isinstance(model, Aggregator):
        return model
    found = f"{type(strategy).__module__}.{type(strategy).__qualname__}".removeprefix("builtins.")
    raise ValueError(f"the strategy is of type {found}, expected a name or a model such as DawidSkene()")


def aggregate(
    votes: Any,
    strategy: str | Aggregator | type[Aggregator] = "auto",
    *,
    probs: Any = None,
    gold: Any = None,
    calibrated: bool | None = None,
) -> Aggregate:
    """Labels with probabilities from votes, by a model or the name of one; `Aggregator.fit` has more options.

    Parameters
    ----------
    votes
        `Votes`, or a data frame, records, an array, a file and whatever else `crowdpilot.read` takes.
    strategy
        A name of `MODELS` with options in brackets, such as "dawid_skene[smoothing=.5]", or a model.
    probs
        Probabilities of a classifier, as for `Fusion.fit`; labels are those of both together.
    gold
        True labels of some tasks, as for `Aggregator.fit`.
    calibrated
        True gives the labels of any model honest probabilities, as `honest[dawid_skene]` does; False gives
        `auto` those of its models, which are too sure. By default `auto` alone is honest.

    Examples
    --------
    >>> votes = Votes.of(["a", "a", "b"], ["ann", "bob", "ann"], ["cat", "cat", "dog"])
    >>> aggregate(votes, "majority_voting").labels.tolist()
    ['cat', 'dog']
    """
    model, joined = as_model(strategy), votes
    if probs is not None:
        model, joined = with_classifier(model, as_votes(votes), probs)
    if calibrated is True and not isinstance(model, Auto | Honest):
        model = Honest(model)
    if calibrated is False and isinstance(model, Honest):
        model = model.model
    result = replace(model.fit(joined, gold=gold), frames=library_of(votes))
    return without_honesty(result) if calibrated is False else result


def with_classifier(model: Aggregator, votes: Votes, probs: Any) -> tuple[Aggregator, Votes]:
    """The model that takes a classifier beside the votes, fusion for auto, and the votes with its tasks."""
    if model == Auto(seed=model.seed):
        model = Fusion(seed=model.seed)
    if not isinstance(model, ClassifierAggregator):
        raise ValueError(f"{model} takes no classifier, expected fusion or crowdlab")
    joined, found = join_probs(votes, probs)
    return replace(model, probs=found), joined


def as_result(source: Any) -> Aggregate:
    """The result itself, or that of `auto` for votes of any kind."""
    return source if isinstance(source, Aggregate) else aggregate(source)


def check_shares(model: Aggregator, votes: Votes) -> None:
    """Refuse a model that estimates the skill of workers for votes that are shares of a whole crowd."""
    if model.name not in MODELS_OF_SHARES and votes.are_shares:
        raise ValueError(
            f"{model.name} cannot learn what workers are like from the shares of a whole crowd; "
            f"choose {' or '.join(MODELS_OF_SHARES)}"
        )
