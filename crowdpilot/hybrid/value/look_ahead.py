"""Value: how much the expected loss of an item falls with a few more votes, for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.value.outcomes import LIKELIEST, Left, before, losses_left, risk, seen_whole

AHEAD = 5  # votes that are looked ahead, unless told
FAR = {2: 89, 3: 21, 4: 8}  # votes of a plan at most, for each number of labels; within 1 % of the optimum
FARTHEST = 5  # the same for more labels: the outcomes of more votes are too many
ROUNDS = 30  # of looking for the best plan; three to six are usual
SETTLED = 1e-9  # share of the loss by which a value may still rise


def look_ahead(
    probs: Floats, said: Floats, errors: Floats, *, ahead: int = AHEAD, floor: float = 0.0
) -> Floats:
    """The largest over n <= ahead of (L(P) - E[L(P | n votes)]) / n for each item, (items,).

    L(P) = min_d sum_k P_k errors[k, d] is the expected loss of the best decision. All n votes are
    bought at once: who may stop in between gets more for the same money; see `plan_ahead`.

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
        A value up to this is of no interest: instead of it, any number from 0 to the value is given.

    Examples
    --------
    >>> look_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2)).round(4)
    array([0.0147])
    >>> look_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2), ahead=1)
    array([0.])
    """
    P, C, said = _checked(probs, said, errors, ahead)
    now: Floats = risk(P, C).min(axis=1)
    value = np.zeros(len(P))
    for sizes in _in_one_go(said, range(1, ahead + 1)):
        more = np.flatnonzero(now / sizes[0] > np.maximum(value, floor))
        after = _expected(P[more], said, _of(C, more), sizes)
        value[more] = np.maximum(value[more], ((now[more, None] - after) / sizes).max(axis=1))
    return value


def plan_ahead(
    probs: Floats, said: Floats, errors: Floats, *, ahead: int | None = None, floor: float = 0.0
) -> Floats:
    """The largest over plans of (L(P) - E[L(P | votes of the plan)]) / E[votes] for each item, (items,).

    A plan asks one voter, and goes on or stops as the votes come in. It is worth more than `look_ahead`,
    which cannot stop, and to ask while it exceeds the price is what costs least of all: the value of
    the best plan is the highest price at which the dynamic programme would ask. To see far with little
    work, a plan decides after 1, 2, 3, 5, 8, ... votes only; whoever looks again after each vote is not
    bound to that.

    The farther a plan looks, the more it counts on votes being independent. Where items are hard for all
    voters alike, plan a few votes ahead only; or, better, let every class be there twice, once for easy
    items and once for hard ones: contested items are then believed to be hard, and left alone.

    Parameters
    ----------
    probs, said, errors, floor
        As for `look_ahead`.
    ahead
        Votes of a plan at most; if not given as many as workers of little skill call for, see `FAR`.

    References
    ----------
    Wald, Sequential Analysis, Wiley, 1947. Dinkelbach, On nonlinear fractional programming, Management
    Science 13(7), 1967, for the best ratio. https://doi.org/10.1287/mnsc.13.7.492

    Examples
    --------
    >>> plan_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2)).round(4)
    array([0.0364])
    """
    sizes = ladder(FAR.get(np.shape(said)[-1], FARTHEST) if ahead is None else ahead)
    P, C, said = _checked(probs, said, errors, sizes[-1])
    now: Floats = risk(P, C).min(axis=1)
    value = np.zeros(len(P))
    more = np.flatnonzero(now > floor)
    P, C, now = P[more], _of(C, more), now[more]
    one = np.maximum(now - _expected(P, said, C, [1])[:, 0], 0)
    rate = np.maximum(one, floor)
    if len(sizes) > 1:
        labels = said.shape[1] if seen_whole(said) else LIKELIEST + 1
        for left in losses_left(P, said, C, sizes):
            rate[left.items] = _best_rate(left, now[left.items], rate[left.items], sizes, labels)
    value[more] = np.where(rate > floor, rate, one)
    return value


def ladder(ahead: int) -> tuple[int, ...]:
    """Numbers of votes after which a plan decides: those of Fibonacci, and the last one."""
    sizes = [1, 2]
    while sizes[-1] < ahead:
        sizes.append(sizes[-1] + sizes[-2])
    return (*(n for n in sizes if n < ahead), ahead)


def _best_rate(left: Left, now: Floats, rate: Floats, sizes: Sequence[int], labels: int) -> Floats:
    """The best saving of a plan for each of its votes, if above a rate that is known to be reached.

    At each round, every item has the plan that is best if a vote costs the rate, found backwards from
    the last votes; what this plan saves for each vote is the next rate. It never falls.
    """
    urns = [before(labels, few, many) for few, many in pairwise(sizes)]
    cuts = np.cumsum([urn.shape[1] for urn in urns])
    losses, chances = np.split(left.loss, cuts, axis=1), np.split(left.chance, cuts, axis=1)
    rate, open_ = rate.copy(), np.arange(len(now))
    for _ in range(ROUNDS):
        loss, votes = losses[-1], np.zeros_like(losses[-1])
        for n in reversed(range(len(urns))):
            later = loss @ urns[n]
            asked = votes @ urns[n] + (sizes[n + 1] - sizes[n]) * chances[n]
            goes_on = later + rate[open_, None] * asked < losses[n]
            loss, votes = np.where(goes_on, later, losses[n]), np.where(goes_on, asked, 0)
        found = (now[open_] - loss.sum(axis=1)) / (sizes[0] + votes.sum(axis=1))
        rises = found > rate[open_] + SETTLED * now[open_]
        if not rises.any():
            break
        losses, chances = [part[rises] for part in losses], [part[rises] for part in chances]
        open_ = open_[rises]
        rate[open_] = found[rises]
    return rate


def expected_after(probs: Floats, said: Floats, errors: Floats, n: int) -> Floats:
    """E[L(P | n votes)] for each item, (items,): never more after more votes; as for `look_ahead`."""
    P, C, said = _checked(probs, said, errors, n)
    parts = [_expected(P, said, C, sizes) for sizes in _in_one_go(said, sorted({1, n}))]
    after: Floats = np.concatenate(parts, axis=1).min(axis=1)
    return after


def best_kind(
    probs: Floats, said_by_kind: Mapping[str, Floats], costs: Costs, ahead: int | None = None
) -> tuple[NDArray[np.intp], Floats]:
    """Whom to ask about each item, (items,), and how much loss that saves for each unit of cost.

    The kind is a place in `said_by_kind`, the first of equals. A vote that costs nothing and is of
    use is worth infinitely much, one that is of no use nothing. Each kind is asked on its own: the
    value of asking a second kind after the first is not counted.

    Parameters
    ----------
    probs
        (items, classes)
    said_by_kind
        The confusion matrix, (true, said), of each kind of worker.
    costs
        With a price for each kind.
    ahead
        As for `plan_ahead`.
    """
    if not said_by_kind:
        raise ValueError("there is no kind of worker to choose from")
    saved = np.stack([plan_ahead(probs, s, costs.errors, ahead=ahead) for s in said_by_kind.values()])
    value = per_cost(saved, np.array([costs.price(kind) for kind in said_by_kind]))
    best = value.max(axis=0)
    return np.where(value == best, saved, -1).argmax(axis=0), best  # of those for free, the most useful


def per_cost(saved: Floats, prices: Floats) -> Floats:
    """What each kind of worker saves, (kinds, items), for each unit of their price; infinite if for free."""
    price = prices[:, None]
    value: Floats = np.divide(saved, price, out=np.where(saved > 0, np.inf, 0.0), where=price > 0)
    return value


def _in_one_go(said: Floats, sizes: Sequence[int]) -> list[Sequence[int]]:
    """Numbers of votes that are looked at in one go: with many labels, one vote is exact, not more."""
    return [sizes] if seen_whole(said) else [part for part in (sizes[:1], sizes[1:]) if len(part)]


def _expected(P: Floats, said: Floats, C: Floats, sizes: Sequence[int]) -> Floats:
    """Expected loss after each number of votes, (items, sizes)."""
    labels = said.shape[1] if seen_whole(said) or max(sizes) < 2 else LIKELIEST + 1
    starts = np.cumsum([0, *(len(before(labels, 0, n)) for n in sizes[:-1])])
    after = np.empty((len(P), len(sizes)))
    for left in losses_left(P, said, C, sizes):
        after[left.items] = np.add.reduceat(left.loss, starts, axis=1)
    return after


def _of(C: Floats, items: NDArray[np.intp]) -> Floats:
    """The errors of some items."""
    return C if C.ndim == 2 else C[items]


def _checked(probs: ArrayLike, said: ArrayLike, errors: ArrayLike, n: int) -> tuple[Floats, Floats, Floats]:
    P, S, C = (np.asarray(a, np.float64) for a in (probs, said, errors))
    if P.ndim != 2:
        raise ValueError(f"the beliefs have shape {P.shape}, expected (items, classes)")
    K = P.shape[1]
    if S.ndim != 2 or S.shape[0] != K:
        raise ValueError(f"the voters have shape {S.shape}, expected (true, said) for {K} classes")
    if C.ndim not in (2, 3) or C.shape[-2] != K or (C.ndim == 3 and len(C) != len(P)):
        raise ValueError(f"the errors have shape {C.shape}, expected (classes, decisions) for {K} classes")
    if n < 1:
        raise ValueError(f"{n} votes are looked ahead, expected 1 or more")
    return P, C, S
