"""Outcomes of further votes: label counts, their probabilities, and the expected loss after each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb, gammaln

from crowdpilot.arrays import Floats, share_best

MAX_LABELS_ENUMERATED = 4  # with more labels, several votes are enumerated for the likeliest classes only
LIKELIEST_CLASSES = 3  # that are kept then; all others are merged into one class, their labels into one label
MAX_CELLS_PER_BLOCK = 2**18  # numbers in the largest array of a block of items


class Outcomes(NamedTuple):
    """All label counts that n votes may give, for n = 0, 1, ..., in this order."""

    counts: NDArray[np.intp]  # (outcomes, labels)
    parent: NDArray[np.intp]  # the outcome without its last vote, (outcomes,)
    last: NDArray[np.intp]  # the label of that vote
    ratio: Floats  # multinomial coefficient of the outcome over that of its parent
    size: NDArray[np.intp]  # number of votes


class OutcomeLosses(NamedTuple):
    """Probability and expected loss of each outcome for a block of items, both (items, outcomes)."""

    items: slice
    probability: Floats
    loss: Floats  # of the best decision after the outcome, times the probability of the outcome


def outcome_losses(
    posterior: Floats, confusion: Floats, errors: Floats, sizes: Sequence[int]
) -> Iterator[OutcomeLosses]:
    """Probability and loss of all outcomes of each number of votes, for one block of items after another.

    With more than `MAX_LABELS_ENUMERATED` labels and more than one vote, each item has one of its
    `LIKELIEST_CLASSES` classes or "another", and so has each vote: "another" is never decided, and its
    confusions and error costs are the means of those of the classes it stands for. The largest array has
    `MAX_CELLS_PER_BLOCK` numbers. There may be other classes than labels, such as every class once for
    easy and once for hard items.

    Parameters
    ----------
    posterior
        (items, classes).
    confusion
        Of the next workers, (true, said).
    errors
        Error costs, (classes, decisions) or (items, classes, decisions).
    sizes
        Numbers of votes, rising.
    """
    exact = all_outcomes_enumerated(confusion) or max(sizes) < 2
    outcomes = enumerate_outcomes(confusion.shape[1] if exact else LIKELIEST_CLASSES + 1, max(sizes))
    selected = np.flatnonzero(np.isin(outcomes.size, sizes))
    likelihood = outcome_likelihood(confusion, outcomes.counts[selected]) if exact else np.empty(0)
    block = max(1, MAX_CELLS_PER_BLOCK // (len(selected) * (1 if exact else LIKELIEST_CLASSES + 1)))
    for start in range(0, len(posterior), block):
        items = slice(start, start + block)
        P, C = posterior[items], errors if errors.ndim == 2 else errors[items]
        if not exact:
            P, C, reduced = _reduced(P, C, confusion)
            likelihood = outcome_likelihood_by_item(reduced, outcomes)[..., selected]
        # By Bayes' rule the probability of an outcome is what its posterior is divided by, so that no
        # posterior is needed: sum_k P_k likelihood[k, o] C[k, d] is the probability times the loss of d.
        loss = _over_classes(P * C[..., 0], likelihood)
        for d in range(1, C.shape[-1]):
            np.minimum(loss, _over_classes(P * C[..., d], likelihood), out=loss)
        yield OutcomeLosses(items, _over_classes(P, likelihood), loss)


def all_outcomes_enumerated(confusion: Floats) -> bool:
    """Whether the outcomes of several votes are enumerated with all labels and classes."""
    classes, labels = confusion.shape
    return bool(labels <= MAX_LABELS_ENUMERATED or classes <= LIKELIEST_CLASSES)


def _over_classes(weights: Floats, likelihood: Floats) -> Floats:
    """sum_k weights[i, k] likelihood[k, o], (items, outcomes), for one likelihood or one for each item."""
    if likelihood.ndim == 2:
        return weights @ likelihood
    total: Floats = (weights[:, None, :] @ likelihood)[:, 0]
    return total


def _reduced(posterior: Floats, errors: Floats, confusion: Floats) -> tuple[Floats, Floats, Floats]:
    """Posterior, error costs and confusions of the likeliest classes of each item and one for all others."""
    items = np.arange(len(posterior))[:, None]
    top = np.argpartition(-posterior, LIKELIEST_CLASSES - 1, axis=1)[:, :LIKELIEST_CLASSES]
    rest = posterior.copy()
    rest[items, top] = 0
    mass = rest.sum(axis=1)
    P = np.concatenate([posterior[items, top], mass[:, None]], axis=1)
    share = rest / np.where(mass > 0, mass, 1)[:, None]
    share[mass <= 0, 0] = 1  # of no weight, but a distribution
    each = np.broadcast_to(errors, (len(posterior), *errors.shape[-2:]))
    # Decisions that are best for one of the likeliest classes, or now.
    best = (
        each.argmin(axis=2) if errors.ndim == 3 else np.broadcast_to(errors.argmin(axis=1), posterior.shape)
    )
    decisions = np.concatenate([best[items, top], risk(posterior, errors).argmin(axis=1)[:, None]], axis=1)
    top_errors = each[items[:, :, None], top[:, :, None], decisions[:, None, :]]
    C = np.concatenate([top_errors, risk(share, errors)[items, decisions][:, None, :]], axis=1)
    # The labels of the likeliest classes; a class whose labels are all equally likely points to none.
    labels = np.argpartition(-(posterior @ share_best(confusion)), LIKELIEST_CLASSES - 1, axis=1)
    labels = labels[:, :LIKELIEST_CLASSES]
    reduced = np.empty((len(posterior), LIKELIEST_CLASSES + 1, LIKELIEST_CLASSES + 1))
    reduced[:, :-1, :-1] = confusion[top[:, :, None], labels[:, None, :]]
    reduced[:, -1, :-1] = (share @ confusion)[items, labels]
    reduced[:, :, -1] = np.maximum(1 - reduced[:, :, :-1].sum(axis=2), 0)
    return P, C, reduced


def risk(posterior: Floats, errors: Floats) -> Floats:
    """Expected cost of each decision, sum_k P_k C[k, d], (items, decisions)."""
    expected: Floats = posterior @ errors if errors.ndim == 2 else np.einsum("ik,ikd->id", posterior, errors)
    return expected


def outcome_likelihood(confusion: Floats, counts: NDArray[np.intp]) -> Floats:
    """P(outcome | class) by the multinomial distribution, (classes, outcomes)."""
    votes = counts.sum(axis=1)
    if votes.max() <= 1:  # without an array (classes, outcomes, labels)
        return np.where(votes > 0, confusion[:, counts.argmax(axis=1)], 1.0)
    coefficient = np.exp(gammaln(votes + 1) - gammaln(counts + 1).sum(axis=1))
    likelihood: Floats = coefficient * np.prod(confusion[:, None, :] ** counts, axis=2)
    return likelihood


def outcome_likelihood_by_item(confusion: Floats, outcomes: Outcomes) -> Floats:
    """The same for confusions of each item, (items, true, said), vote by vote as powers are slow."""
    likelihood = np.ones((*confusion.shape[:-1], len(outcomes.last)))
    ends = np.searchsorted(outcomes.size, np.arange(1, outcomes.size[-1] + 2)).tolist()
    for start, end in pairwise(ends):
        now = slice(start, end)
        parent = likelihood[..., outcomes.parent[now]]
        likelihood[..., now] = parent * confusion[..., outcomes.last[now]] * outcomes.ratio[now]
    return likelihood


@lru_cache(maxsize=64)
def enumerate_outcomes(labels: int, votes: int) -> Outcomes:
    """All label counts of 0 to `votes` votes, those of fewer votes first."""
    counts = [np.zeros((1, labels), np.intp)]
    parent, last, ratio = [np.zeros(1, np.intp)], [np.zeros(1, np.intp)], [np.ones(1)]
    start = 0
    for n in range(1, votes + 1):
        fewer = counts[-1]
        # Every outcome is reached once: its last vote has the highest of its labels.
        highest = np.where(fewer > 0, np.arange(labels), 0).max(axis=1)
        row, label = np.nonzero(np.arange(labels) >= highest[:, None])
        more = fewer[row]
        more[np.arange(len(row)), label] += 1
        counts.append(more)
        parent.append(start + row)
        last.append(label)
        ratio.append(n / more[np.arange(len(row)), label])
        start += len(fewer)
    every = np.concatenate(counts)
    return Outcomes(
        every, np.concatenate(parent), np.concatenate(last), np.concatenate(ratio), every.sum(axis=1)
    )


@lru_cache(maxsize=64)
def first_votes_probability(labels: int, few: int, many: int) -> Floats:
    """P(label counts of the first `few` votes | counts of all `many` votes), (outcomes of many, of few).

    This is the multivariate hypergeometric distribution; it does not depend on the workers.
    """
    counts, _, _, _, size = enumerate_outcomes(labels, many)
    all_, first = counts[size == many], counts[size == few]
    ways: Floats = np.prod(comb(all_[:, None, :], first[None, :, :]), axis=2)
    return ways / comb(many, few)
