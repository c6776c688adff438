"""IBCC, independent Bayesian classifier combination: variational Bayes for Dawid and Skene's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation.models.dawid_skene import DawidSkene


@dataclass(frozen=True)
class IBCC(DawidSkene):
    """Dawid and Skene's model, averaged over all confusion matrices by mean-field variational Bayes.

    Each row of a matrix has a Dirichlet prior: `smoothing` in every cell, `diagonal` more on the
    diagonal. q(k) is proportional to exp(E log prior[k] + sum_j E log confusion[j, k, vote_j]).

    References
    ----------
    Kim and Ghahramani, Bayesian classifier combination, AISTATS 2012.
    https://proceedings.mlr.press/v22/kim12.html
    Simpson, Roberts, Psorakis and Smith, 2013. https://arxiv.org/abs/1206.1831

    Examples
    --------
    Few votes leave it less certain than the posterior mode of Dawid-Skene:

    >>> from crowdpilot.votes import Votes
    >>> votes = Votes.of([1, 1, 1, 2, 2, 2, 3, 3, 3], list("xyz") * 3, list("aabbbaaab"))
    >>> IBCC().fit(votes).confidence.round(2).tolist()
    [0.98, 0.95, 0.98]
    """

    smoothing: float = 1.0
    diagonal: float = 1.0
    variational: bool = True

    name: ClassVar[str] = "ibcc"
    aliases: ClassVar[tuple[str, ...]] = ("bcc", "vb")
