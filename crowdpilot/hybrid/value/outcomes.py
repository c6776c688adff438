"""Outcomes: what a few more votes may say of an item, and the loss that is left after each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb, gammaln

from crowdpilot.arrays import Floats, share_best

FEW = 4  # with more labels than this, several votes are looked at through the likeliest classes
LIKELIEST = 3  # classes that are kept then; the others are one class, their labels one label
CELLS = 2**18  # numbers in the largest array of a block of items


class Outcomes(NamedTuple):
    """The counts of each label that n votes may give, for n = 0 to some number, one after another."""

    counts: NDArray[np.intp]  # (outcomes, labels)
    parent: NDArray[np.intp]  # the outcome without its last vote
    last: NDArray[np.intp]  # the label of that vote
    ratio: Floats  # orders in which the votes may come, over those of the parent
    size: NDArray[np.intp]  # votes


class Left(NamedTuple):
    """What is left to lose after each outcome, for a block of items; both are (items, outcomes)."""

    items: slice
    chance: Floats  # of the outcome
    loss: Floats  # that of the best decision after it, times the chance


def losses_left(P: Floats, said: Floats, C: Floats, sizes: Sequence[int]) -> Iterator[Left]:
    """For blocks of items, all outcomes of each number of votes, one number after the other.

    With more than `FEW` labels and more than one vote, each item is seen as of one of its `LIKELIEST`
    classes or of "another", and so is each vote: "another" is never decided, and its voters and
    errors are the mean of those of the classes it stands for. The largest array has `CELLS` numbers.
    There may be other classes than labels, such as every class once for easy and once for hard items.

    Parameters
    ----------
    P
        Beliefs, (items, classes).
    said
        Voters, (true, said).
    C
        Errors, (classes, decisions) or (items, classes, decisions).
    sizes
        Numbers of votes, rising.
    """
    exact = seen_whole(said) or max(sizes) < 2
    outcomes = enumerate_outcomes(said.shape[1] if exact else LIKELIEST + 1, max(sizes))
    wanted = np.flatnonzero(np.isin(outcomes.size, sizes))
    heard = chances(said, outcomes.counts[wanted]) if exact else np.empty(0)
    rows = max(1, CELLS // (len(wanted) * (1 if exact else LIKELIEST + 1)))
    for start in range(0, len(P), rows):
        items = slice(start, start + rows)
        p, c = P[items], C if C.ndim == 2 else C[items]
        if not exact:
            p, c, s = _reduced(p, c, said)
            heard = chances_of_each(s, outcomes)[..., wanted]
        # By Bayes' rule the chance of an outcome is what its posterior is divided by, so that no
        # posterior is needed: sum_k P_k heard[k, o] C[k, d] is the chance times the loss of *d*.
        weights = p[:, :, None] * c
        loss = _heard(weights[:, :, 0], heard)
        for d in range(1, weights.shape[2]):
            np.minimum(loss, _heard(weights[:, :, d], heard), out=loss)
        yield Left(items, _heard(p, heard), loss)


def seen_whole(said: Floats) -> bool:
    """Whether all outcomes of several votes are looked at, with all labels and classes."""
    classes, labels = said.shape
    return bool(labels <= FEW or classes <= LIKELIEST)


def _heard(weights: Floats, heard: Floats) -> Floats:
    if heard.ndim == 2:
        return weights @ heard
    total: Floats = (weights[:, None, :] @ heard)[:, 0]
    return total


def _reduced(P: Floats, C: Floats, said: Floats) -> tuple[Floats, Floats, Floats]:
    """The likeliest classes of each item and one for the others: beliefs, errors and voters."""
    items = np.arange(len(P))[:, None]
    top = np.argpartition(-P, LIKELIEST - 1, axis=1)[:, :LIKELIEST]
    rest = P.copy()
    rest[items, top] = 0
    mass = rest.sum(axis=1)
    p = np.concatenate([P[items, top], mass[:, None]], axis=1)
    share = rest / np.where(mass > 0, mass, 1)[:, None]
    share[mass <= 0, 0] = 1  # of no weight, but a distribution
    errors = np.broadcast_to(C, (len(P), *C.shape[-2:]))
    # Decisions that are best for one of the classes kept, or now.
    best = errors.argmin(axis=2) if C.ndim == 3 else np.broadcast_to(C.argmin(axis=1), P.shape)
    choices = np.concatenate([best[items, top], risk(P, C).argmin(axis=1)[:, None]], axis=1)
    kept = errors[items[:, :, None], top[:, :, None], choices[:, None, :]]
    c = np.concatenate([kept, risk(share, C)[items, choices][:, None, :]], axis=1)
    # The labels of the likeliest classes; a class of which all labels are equal speaks for none.
    labels = np.argpartition(-(P @ share_best(said)), LIKELIEST - 1, axis=1)[:, :LIKELIEST]
    s = np.empty((len(P), LIKELIEST + 1, LIKELIEST + 1))
    s[:, :-1, :-1] = said[top[:, :, None], labels[:, None, :]]
    s[:, -1, :-1] = (share @ said)[items, labels]
    s[:, :, -1] = np.maximum(1 - s[:, :, :-1].sum(axis=2), 0)
    return p, c, s


def risk(P: Floats, C: Floats) -> Floats:
    """Expected cost of each decision, (items, decisions)."""
    expected: Floats = P @ C if C.ndim == 2 else np.einsum("ik,ikd->id", P, C)
    return expected


def chances(said: Floats, counts: NDArray[np.intp]) -> Floats:
    """Chance of each outcome for each class, (classes, outcomes): the multinomial law."""
    orders = np.exp(gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1))
    heard: Floats = orders * np.prod(said[:, None, :] ** counts, axis=2)
    return heard


def chances_of_each(said: Floats, outcomes: Outcomes) -> Floats:
    """The same for voters of each item, (items, true, said), vote by vote since powers are slow."""
    heard = np.ones((*said.shape[:-1], len(outcomes.last)))
    ends = np.searchsorted(outcomes.size, np.arange(1, outcomes.size[-1] + 2)).tolist()
    for start, end in pairwise(ends):
        now = slice(start, end)
        before = heard[..., outcomes.parent[now]]
        heard[..., now] = before * said[..., outcomes.last[now]] * outcomes.ratio[now]
    return heard


@lru_cache(maxsize=64)
def enumerate_outcomes(labels: int, most: int) -> Outcomes:
    """All counts of labels that 0 to `most` votes may give, with those of fewer votes first."""
    counts = [np.zeros((1, labels), np.intp)]
    parent, last, ratio = [np.zeros(1, np.intp)], [np.zeros(1, np.intp)], [np.ones(1)]
    begin = 0
    for n in range(1, most + 1):
        before = counts[-1]
        # Every outcome is reached once: its last vote has the highest of its labels.
        highest = np.where(before > 0, np.arange(labels), 0).max(axis=1)
        row, label = np.nonzero(np.arange(labels) >= highest[:, None])
        now = before[row]
        now[np.arange(len(row)), label] += 1
        counts.append(now)
        parent.append(begin + row)
        last.append(label)
        ratio.append(n / now[np.arange(len(row)), label])
        begin += len(before)
    every = np.concatenate(counts)
    return Outcomes(
        every, np.concatenate(parent), np.concatenate(last), np.concatenate(ratio), every.sum(axis=1)
    )


@lru_cache(maxsize=64)
def before(labels: int, few: int, many: int) -> Floats:
    """Chance that the first few of many votes have some counts, given the counts of all, (many, few).

    It is that of drawing balls from an urn without putting them back, and the same for all voters.
    """
    counts, _, _, _, size = enumerate_outcomes(labels, many)
    all_, first = counts[size == many], counts[size == few]
    ways: Floats = np.prod(comb(all_[:, None, :], first[None, :, :]), axis=2)
    return ways / comb(many, few)
