"""Value: how much the expected loss of an item falls through a few more votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.costs import Costs

AHEAD = 5  # votes that are looked ahead, unless told
FEW = 4  # with more classes than this, several votes are looked at through the likeliest ones
LIKELIEST = 3  # classes that are kept then; the others are one class, their labels one label
CELLS = 2**18  # numbers in the largest array of a block of items


class Outcomes(NamedTuple):
    """The counts of each label that n votes may give, for n = 0 to some number, one after another."""

    parent: NDArray[np.intp]  # the outcome without its last vote
    last: NDArray[np.intp]  # the label of that vote
    ratio: Floats  # orders in which the votes may come, over those of the parent
    size: NDArray[np.intp]  # votes


def look_ahead(
    probs: Floats, said: Floats, errors: Floats, *, ahead: int = AHEAD, floor: float = 0.0
) -> Floats:
    """The largest over n <= ahead of (L(P) - E[L(P | n votes)]) / n for each item, (items,).

    L(P) = min_d sum_k P_k errors[k, d] is the expected loss of the best decision. With more than
    `FEW` classes one vote is looked at exactly, and several through a model that keeps the
    `LIKELIEST` classes of each item and takes the others for one; it says too little rather than
    too much. The largest array made has `CELLS` numbers, and the beliefs times the decisions.

    Parameters
    ----------
    probs
        What is believed of each item, (items, classes); rows sum to one.
    said
        How often voters give each label to items of each class, (true, said). Votes are taken as
        independent once the class is known.
    errors
        Cost of each decision about each class, (classes, decisions), or for each item one such matrix.
    ahead
        Votes to look ahead at most.
    floor
        A value up to this is of no interest: where it cannot be exceeded any number up to it is given.

    Examples
    --------
    >>> look_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2)).round(4)
    array([0.0147])
    >>> look_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2), ahead=1)
    array([0.])
    """
    P, C, said = _checked(probs, said, errors, ahead)
    now = _loss(P, C)
    value = np.minimum(now, floor)
    open_ = np.flatnonzero(now > floor)
    if len(open_):
        value[open_] = _best(P[open_], said, _of(C, open_), ahead, floor)
    return value


def expected_after(probs: Floats, said: Floats, errors: Floats, n: int) -> Floats:
    """E[L(P | n votes)] for each item, (items,): never more after more votes; as for `look_ahead`."""
    P, C, said = _checked(probs, said, errors, n)
    after = _expected(P, said, C, [n])[:, 0]
    return after if n == 1 or P.shape[1] <= FEW else np.minimum(after, _expected(P, said, C, [1])[:, 0])


def best_kind(
    probs: Floats, said_by_kind: Mapping[str, Floats], costs: Costs, *, ahead: int = AHEAD
) -> tuple[NDArray[np.intp], Floats]:
    """Whom to ask about each item, (items,), and how much loss that saves for each unit of cost.

    The kind is a place in `said_by_kind`, the first of equals. A vote that costs nothing and is of
    use is worth infinitely much; one that is of no use is worth nothing.
    """
    if not said_by_kind:
        raise ValueError("there is no kind of worker to choose from")
    gains = np.stack([look_ahead(probs, s, costs.errors, ahead=ahead) for s in said_by_kind.values()])
    prices = np.array([costs.price(kind) for kind in said_by_kind])[:, None]
    free = np.where(gains > 0, np.inf, 0.0)
    value = np.divide(gains, prices, out=free, where=prices > 0)
    # Between kinds that cost nothing, the one that saves most.
    kind = np.lexsort((gains, value), axis=0)[-1] if len(gains) > 1 else np.zeros(gains.shape[1], np.intp)
    return kind, value.max(axis=0)


def _best(P: Floats, said: Floats, C: Floats, ahead: int, floor: float) -> Floats:
    """The value of items that may be worth a vote."""
    now = _loss(P, C)
    if P.shape[1] <= FEW or ahead == 1:
        return _slope(now, _expected(P, said, C, range(1, ahead + 1)), 1)
    value = _slope(now, _expected(P, said, C, [1]), 1)
    more = np.flatnonzero(now / 2 > np.maximum(value, floor))
    if len(more):
        far = _expected(P[more], said, _of(C, more), range(2, ahead + 1))
        value[more] = np.maximum(value[more], _slope(now[more], far, 2))
    return value


def _slope(now: Floats, after: Floats, first: int) -> Floats:
    votes = np.arange(first, first + after.shape[1])
    best: Floats = ((now[:, None] - after) / votes).max(axis=1)
    return np.maximum(best, 0)


def _expected(P: Floats, said: Floats, C: Floats, sizes: Sequence[int]) -> Floats:
    """Expected loss after each number of votes, (items, sizes), in blocks of items."""
    exact = P.shape[1] <= FEW or max(sizes) < 2
    labels = said.shape[1] if exact else LIKELIEST + 1
    outcomes = enumerate_outcomes(labels, max(sizes))
    wanted = np.concatenate([np.flatnonzero(outcomes.size == n) for n in sizes])
    starts = np.cumsum([0, *(int((outcomes.size == n).sum()) for n in sizes[:-1])])
    chances = likelihoods(said, outcomes)[:, wanted] if exact else None
    rows = max(1, CELLS // (len(wanted) * (1 if exact else LIKELIEST + 1)))
    after = np.empty((len(P), len(sizes)))
    for start in range(0, len(P), rows):
        part = slice(start, start + rows)
        p, c = P[part], _of(C, part)
        if chances is None:
            p, c, s = _reduced(p, c, said)
            heard = likelihoods(s, outcomes)[..., wanted]
        else:
            heard = chances
        after[part] = np.add.reduceat(_least(p, c, heard), starts, axis=1)
    return after


def _least(P: Floats, C: Floats, heard: Floats) -> Floats:
    """Chance of each outcome times the loss after it, (items, outcomes).

    By Bayes' rule the chance of an outcome is what its posterior is divided by, so that none of
    them is computed: sum_k P_k heard[k, o] C[k, d] is the chance times the loss of deciding *d*.
    """
    weights = P[:, :, None] * C  # (items, classes, decisions)
    least = _heard(weights[:, :, 0], heard)
    for d in range(1, weights.shape[2]):
        np.minimum(least, _heard(weights[:, :, d], heard), out=least)
    return least


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
    # What is best for one of the classes kept, or now.
    best = C.argmin(axis=-1)
    choices = np.concatenate(
        [(best[top] if C.ndim == 2 else best[items, top]), _risk(P, C).argmin(axis=1)[:, None]], axis=1
    )
    each = items[:, :, None]
    if C.ndim == 2:
        kept, others = C[top[:, :, None], choices[:, None, :]], (share @ C)[items, choices]
    else:
        kept = C[each, top[:, :, None], choices[:, None, :]]
        others = np.einsum("ik,ikd->id", share, C)[items, choices]
    c = np.concatenate([kept, others[:, None, :]], axis=1)
    s = np.empty((len(P), LIKELIEST + 1, LIKELIEST + 1))
    s[:, :-1, :-1] = said[top[:, :, None], top[:, None, :]]
    s[:, -1, :-1] = (share @ said)[items, top]
    s[:, :, -1] = np.maximum(1 - s[:, :, :-1].sum(axis=2), 0)
    return p, c, s


def likelihoods(said: Floats, outcomes: Outcomes) -> Floats:
    """Chance of each outcome for each class, (..., classes, outcomes), for voters (..., true, said)."""
    heard = np.ones((*said.shape[:-1], len(outcomes.last)))
    for n in range(1, int(outcomes.size[-1]) + 1):
        now = outcomes.size == n
        before = heard[..., outcomes.parent[now]]
        heard[..., now] = before * said[..., outcomes.last[now]] * outcomes.ratio[now]
    return heard


@lru_cache(maxsize=64)
def enumerate_outcomes(labels: int, most: int) -> Outcomes:
    """All counts of labels that 0 to `most` votes may give, with those of fewer votes first."""
    counts = [np.zeros((1, labels), np.intp)]
    parent, last, ratio, size = [np.zeros(1, np.intp)], [np.zeros(1, np.intp)], [np.ones(1)], [0]
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
        size += [n] * len(row)
        begin += len(before)
    return Outcomes(np.concatenate(parent), np.concatenate(last), np.concatenate(ratio), np.array(size))


def _risk(P: Floats, C: Floats) -> Floats:
    """Expected cost of each decision, (items, decisions)."""
    risk: Floats = P @ C if C.ndim == 2 else np.einsum("ik,ikd->id", P, C)
    return risk


def _loss(P: Floats, C: Floats) -> Floats:
    least: Floats = _risk(P, C).min(axis=1)
    return least


def _of(C: Floats, part: slice | NDArray[np.intp]) -> Floats:
    """The errors of some items."""
    return C if C.ndim == 2 else C[part]


def _checked(probs: ArrayLike, said: ArrayLike, errors: ArrayLike, n: int) -> tuple[Floats, Floats, Floats]:
    P, S, C = (np.asarray(a, np.float64) for a in (probs, said, errors))
    if P.ndim != 2:
        raise ValueError(f"the beliefs have shape {P.shape}, expected (items, classes)")
    K = P.shape[1]
    if S.ndim != 2 or S.shape[0] != K or S.shape[1] < (K if K > FEW else 1):
        raise ValueError(f"the voters have shape {S.shape}, expected (true, said) for {K} classes")
    if C.ndim not in (2, 3) or C.shape[-2] != K or (C.ndim == 3 and len(C) != len(P)):
        raise ValueError(f"the errors have shape {C.shape}, expected (classes, decisions) for {K} classes")
    if n < 1:
        raise ValueError(f"{n} votes are looked ahead, expected 1 or more")
    return P, C, S
