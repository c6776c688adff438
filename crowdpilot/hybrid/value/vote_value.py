"""Value of a vote: how much the expected loss of an item falls per further vote, looking n votes ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.value.vote_outcomes import (
    LIKELIEST_CLASSES,
    OutcomeLosses,
    all_outcomes_enumerated,
    first_votes_probability,
    outcome_losses,
    risk,
)

VOTES_AHEAD = 5  # default of `look_ahead`
MAX_PLAN_VOTES = {2: 89, 3: 21, 4: 8}  # of `plan_ahead` by number of labels; within 1 % of the optimum
MAX_PLAN_VOTES_MANY_LABELS = 5  # the same for more labels, where the outcomes of more votes are too many
MAX_DINKELBACH_ITERATIONS = 30  # three to six are usual
VALUE_TOLERANCE = 1e-9  # share of the loss by which a value may still rise


def look_ahead(
    probs: Floats, confusion: Floats, errors: Floats, *, ahead: int = VOTES_AHEAD, floor: float = 0.0
) -> Floats:
    """The value of the best number of further votes, max over n <= ahead of G_n, (items,).

    G_n = (L(P) - E[L(P | n votes)]) / n, where L(P) = min_d sum_k P_k errors[k, d] is the expected loss
    of the best decision. All n votes are bought at once; a plan that may stop in between gains more
    for the same money, see `plan_ahead`.

    Parameters
    ----------
    probs
        Posterior of each item, (items, classes); rows sum to one.
    confusion
        Confusion matrix of the next workers, (true, said). Votes are taken as independent given the class.
    errors
        Cost of each decision about each class, (classes, decisions), or one such matrix for each item.
    ahead
        Largest n.
    floor
        Values up to this are not computed exactly: instead, any number from 0 to the value is returned.

    Examples
    --------
    >>> look_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2)).round(4)
    array([0.0147])
    >>> look_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2), ahead=1)
    array([0.])
    """
    P, C, M = _checked(probs, confusion, errors, ahead)
    now: Floats = risk(P, C).min(axis=1)
    value = np.zeros(len(P))
    for sizes in _enumerated_together(M, range(1, ahead + 1)):
        more = np.flatnonzero(now / sizes[0] > np.maximum(value, floor))
        after = _expected_loss(P[more], M, _of_items(C, more), sizes)
        value[more] = np.maximum(value[more], ((now[more, None] - after) / sizes).max(axis=1))
    return value


def plan_ahead(
    probs: Floats, confusion: Floats, errors: Floats, *, ahead: int | None = None, floor: float = 0.0
) -> Floats:
    """The value of the best sequential plan, (items,): its fall of the loss per expected vote.

    G = max over plans of (L(P) - E[L(P | votes of the plan)]) / E[votes]. A plan asks one worker, and
    goes on or stops as the votes come in. It is worth more than `look_ahead`, which cannot stop.
    Asking while G exceeds the price is the optimal policy: G is the highest price at which the dynamic
    program asks. To look far with little work, a plan decides after 1, 2, 3, 5, 8, ... votes only; a
    caller who recomputes the value after each vote is not bound to that.

    The farther a plan looks, the more it relies on votes being independent. Where items are hard for all
    workers alike, plan a few votes ahead only; or, better, have every class twice, once for easy
    items and once for hard ones: contested items then get a high posterior of being hard, and a low value.

    Parameters
    ----------
    probs, confusion, errors, floor
        As for `look_ahead`.
    ahead
        Maximum votes of a plan; by default `MAX_PLAN_VOTES`, enough for workers of little skill.

    References
    ----------
    Wald, Sequential Analysis, Wiley, 1947. Dinkelbach, On nonlinear fractional programming, Management
    Science 13(7), 1967, for the best ratio. https://doi.org/10.1287/mnsc.13.7.492

    Examples
    --------
    >>> plan_ahead(np.array([[0.9, 0.1]]), np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2)).round(4)
    array([0.0364])
    """
    farthest = MAX_PLAN_VOTES.get(np.shape(confusion)[-1], MAX_PLAN_VOTES_MANY_LABELS)
    sizes = decision_points(farthest if ahead is None else ahead)
    P, C, M = _checked(probs, confusion, errors, sizes[-1])
    now: Floats = risk(P, C).min(axis=1)
    value = np.zeros(len(P))
    more = np.flatnonzero(now > floor)
    P, C, now = P[more], _of_items(C, more), now[more]
    one = np.maximum(now - _expected_loss(P, M, C, [1])[:, 0], 0)
    rate = np.maximum(one, floor)
    if len(sizes) > 1:
        labels = M.shape[1] if all_outcomes_enumerated(M) else LIKELIEST_CLASSES + 1
        for block in outcome_losses(P, M, C, sizes):
            rate[block.items] = _best_rate(block, now[block.items], rate[block.items], sizes, labels)
    value[more] = np.where(rate > floor, rate, one)
    return value


def decision_points(ahead: int) -> tuple[int, ...]:
    """Numbers of votes after which a plan decides whether to go on: Fibonacci numbers, and the last."""
    sizes = [1, 2]
    while sizes[-1] < ahead:
        sizes.append(sizes[-1] + sizes[-2])
    return (*(n for n in sizes if n < ahead), ahead)


def _best_rate(block: OutcomeLosses, now: Floats, rate: Floats, sizes: Sequence[int], labels: int) -> Floats:
    """The best fall of the loss per vote over plans, by Dinkelbach's algorithm, (items,).

    It starts from a rate that is known to be attained. In each iteration, backward induction finds the
    plan of each item that is best if a vote costs the current rate; what this plan saves per
    vote is the next rate. It never falls.
    """
    first = [first_votes_probability(labels, few, many) for few, many in pairwise(sizes)]
    cuts = np.cumsum([part.shape[1] for part in first])
    losses, probabilities = np.split(block.loss, cuts, axis=1), np.split(block.probability, cuts, axis=1)
    rate, rising = rate.copy(), np.arange(len(now))
    for _ in range(MAX_DINKELBACH_ITERATIONS):
        loss, votes = losses[-1], np.zeros_like(losses[-1])
        for n in reversed(range(len(first))):
            later = loss @ first[n]
            asked = votes @ first[n] + (sizes[n + 1] - sizes[n]) * probabilities[n]
            goes_on = later + rate[rising, None] * asked < losses[n]
            loss, votes = np.where(goes_on, later, losses[n]), np.where(goes_on, asked, 0)
        next_rate = (now[rising] - loss.sum(axis=1)) / (sizes[0] + votes.sum(axis=1))
        rises = next_rate > rate[rising] + VALUE_TOLERANCE * now[rising]
        if not rises.any():
            break
        losses, probabilities = [part[rises] for part in losses], [part[rises] for part in probabilities]
        rising = rising[rises]
        rate[rising] = next_rate[rises]
    return rate


def expected_loss_after(probs: Floats, confusion: Floats, errors: Floats, n: int) -> Floats:
    """E[L(P | n votes)] of each item, (items,), never more after more votes; arguments of `look_ahead`."""
    P, C, M = _checked(probs, confusion, errors, n)
    parts = [_expected_loss(P, M, C, sizes) for sizes in _enumerated_together(M, sorted({1, n}))]
    after: Floats = np.concatenate(parts, axis=1).min(axis=1)
    return after


def best_worker_kind(
    probs: Floats, confusion_by_kind: Mapping[str, Floats], costs: Costs, ahead: int | None = None
) -> tuple[NDArray[np.intp], Floats]:
    """The kind of worker to ask about each item, and the fall of the loss per unit of cost, both (items,).

    The kind is an index into `confusion_by_kind`, the first of equals. A vote that costs nothing and is of
    use has an infinite value, one that is of no use has none. Each kind is valued on its own: asking a
    second kind after the first is not considered.

    Parameters
    ----------
    probs
        Posterior, (items, classes).
    confusion_by_kind
        The confusion matrix, (true, said), of each kind of worker.
    costs
        With a price for each kind.
    ahead
        As for `plan_ahead`.
    """
    if not confusion_by_kind:
        raise ValueError("there is no kind of worker to choose from")
    saved = np.stack([plan_ahead(probs, m, costs.errors, ahead=ahead) for m in confusion_by_kind.values()])
    value = value_per_cost(saved, np.array([costs.price(kind) for kind in confusion_by_kind]))
    best = value.max(axis=0)
    return np.where(value == best, saved, -1).argmax(axis=0), best  # of free kinds, the most useful


def value_per_cost(saved: Floats, prices: Floats) -> Floats:
    """Values of a vote, (kinds, items), divided by the prices, (kinds,); infinite where a vote is free."""
    price = prices[:, None]
    value: Floats = np.divide(saved, price, out=np.where(saved > 0, np.inf, 0.0), where=price > 0)
    return value


def _enumerated_together(confusion: Floats, sizes: Sequence[int]) -> list[Sequence[int]]:
    """Numbers of votes whose outcomes are enumerated together: with many labels only one vote is exact."""
    if all_outcomes_enumerated(confusion):
        return [sizes]
    return [part for part in (sizes[:1], sizes[1:]) if len(part)]


def _expected_loss(P: Floats, confusion: Floats, C: Floats, sizes: Sequence[int]) -> Floats:
    """Expected loss after each number of votes, (items, sizes)."""
    exact = all_outcomes_enumerated(confusion) or max(sizes) < 2
    labels = confusion.shape[1] if exact else LIKELIEST_CLASSES + 1
    starts = np.cumsum([0, *(len(first_votes_probability(labels, 0, n)) for n in sizes[:-1])])
    after = np.empty((len(P), len(sizes)))
    for block in outcome_losses(P, confusion, C, sizes):
        after[block.items] = np.add.reduceat(block.loss, starts, axis=1)
    return after


def _of_items(C: Floats, items: NDArray[np.intp]) -> Floats:
    """The error costs of some items."""
    return C if C.ndim == 2 else C[items]


def _checked(
    probs: ArrayLike, confusion: ArrayLike, errors: ArrayLike, n: int
) -> tuple[Floats, Floats, Floats]:
    """Posterior, error costs and confusion matrix as arrays of matching shapes."""
    P, M, C = (np.asarray(a, np.float64) for a in (probs, confusion, errors))
    if P.ndim != 2:
        raise ValueError(f"the posterior has shape {P.shape}, expected (items, classes)")
    K = P.shape[1]
    if M.ndim != 2 or M.shape[0] != K:
        raise ValueError(f"the confusion matrix has shape {M.shape}, expected (true, said) for {K} classes")
    if C.ndim not in (2, 3) or C.shape[-2] != K or (C.ndim == 3 and len(C) != len(P)):
        raise ValueError(f"the errors have shape {C.shape}, expected (classes, decisions) for {K} classes")
    if n < 1:
        raise ValueError(f"{n} votes are looked ahead, expected 1 or more")
    return P, C, M
