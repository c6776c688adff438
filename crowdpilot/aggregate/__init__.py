"""Votes to probabilities: one file per model, one EM loop, one list."""

from __future__ import annotations

from crowdpilot.aggregate.aggregator import Aggregate, Aggregator
from crowdpilot.aggregate.dawid_skene import DawidSkene
from crowdpilot.aggregate.em import EM, NotConverged
from crowdpilot.aggregate.majority_voting import MajorityVoting
from crowdpilot.aggregate.one_coin import OneCoin
from crowdpilot.aggregate.strategy import parse

MODELS: dict[str, type[Aggregator]] = {
    model.name: model
    for model in (
        MajorityVoting,
        DawidSkene,
        OneCoin,
    )
}


def parse_strategy(text: str) -> Aggregator:
    """The model that a strategy string names, such as `dawid_skene` or `DSWC[L=5]`.

    Examples
    --------
    >>> parse_strategy("DS[smoothing=.1]")
    DawidSkene(prior='estimated', max_iter=200, tol=1e-06, smoothing=0.1, diagonal=0.0, variational=False)
    """
    return parse(text, MODELS)


__all__ = ["EM", "MODELS", "Aggregate", "Aggregator", "NotConverged", "parse_strategy", *(m.__name__ for m in MODELS.values())]
