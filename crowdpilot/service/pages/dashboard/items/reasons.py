"""Reasons: why an item is decided as it is, from the contributions to its posterior, in words and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from crowdpilot.arrays import Floats, softmax
from crowdpilot.hybrid import Campaign, Contribution
from crowdpilot.service.pages.dashboard.formatting import percent

PRIOR, CLASSIFIER, VOTE = "prior", "classifier", "vote"  # sources of contributions
HARDLY = 0.1  # log-odds below which a reason makes hardly a difference
MAX_TIMES = 1000.0  # that are written as a number


class Reason(NamedTuple):
    """One reason for or against the likeliest class, in words."""

    title: str
    words: str
    log_odds: float  # for the likeliest class, against the second likeliest
    worker: int | None = None


class Reasons(NamedTuple):
    """All reasons about one question of an item; none where the policy decides by a rule of its own."""

    criterion: str
    best: str
    rival: str
    prob: float  # of the likeliest class
    probs: list[tuple[str, float]]
    reasons: list[Reason]


def find_reasons(campaign: Campaign, item: str) -> list[Reasons]:
    """The reasons about each question of an item, whether its class is known or not."""
    names = campaign.view.worker_names
    classes = [str(name) for name in campaign.classes]
    return [
        _of_question(criterion, *_posterior(campaign, item, criterion), classes, names)
        for criterion in campaign.criteria
    ]


def _posterior(campaign: Campaign, item: str, criterion: str) -> tuple[Floats, list[Contribution]]:
    """The posterior of an item, (classes,), and what adds up to it; nothing with a rule of its own."""
    parts = campaign.view.contributions(item, criterion)
    if parts:
        return softmax(np.sum([part.log_probs for part in parts], axis=0)[None])[0], parts
    row = int(campaign.view.item_rows([item])[0])
    return campaign.view.estimates(criterion).posterior[row], []


def _of_question(
    criterion: str, posterior: Floats, parts: list[Contribution], classes: Sequence[str],
    workers: Sequence[Any],
) -> Reasons:  # fmt: skip
    best, rival = (int(k) for k in np.argsort(-posterior, kind="stable")[:2])
    odds = [float(part.log_probs[best] - part.log_probs[rival]) for part in parts]
    reasons = [_reason(part, x, classes, (best, rival), workers) for part, x in zip(parts, odds, strict=True)]
    probs = [(classes[k], float(posterior[k])) for k in range(len(classes))]
    return Reasons(criterion, classes[best], classes[rival], float(posterior[best]), probs, reasons)


def _reason(
    part: Contribution, x: float, classes: Sequence[str], pair: tuple[int, int], workers: Sequence[Any]
) -> Reason:
    best, rival = classes[pair[0]], classes[pair[1]]
    words = effect(x, best, rival)
    if part.source == VOTE:
        worker = workers[part.worker]
        skill = f"right about {percent(part.accuracy)} of the time"
        title = f"Worker {worker}, {skill}, answered {classes[part.label]}"
        return Reason(title, words, x, worker)
    if part.source == PRIOR:
        shares = np.exp(part.log_probs)
        return Reason(
            f"How common the labels are in this project: {_compare(shares, classes, pair)}", words, x
        )
    if part.source == CLASSIFIER:
        return Reason("What the classifier, a program, guesses from the content", words, x)
    return Reason(
        "Workers can all be wrong about the same item", "so we are less sure than these answers suggest", x
    )


def _compare(shares: Floats, classes: Sequence[str], pair: tuple[int, int]) -> str:
    return " and ".join(f"{classes[k]} {percent(float(shares[k]))}" for k in pair)


def effect(log_odds: float, best: str, rival: str) -> str:
    """What a reason does to the odds of two classes, in words.

    Examples
    --------
    >>> effect(1.1, "cat", "dog"), effect(-3.0, "cat", "dog"), effect(0.05, "cat", "dog")
    ('makes cat 3 times as likely', 'makes dog 20 times as likely', 'makes hardly a difference')
    """
    if abs(log_odds) < HARDLY:
        return "makes hardly a difference"
    times = math.exp(min(abs(log_odds), 20.0))
    if times > MAX_TIMES:
        number = f"more than {MAX_TIMES:,.0f}"
    else:
        number = f"{times:.0f}" if times >= 2.95 else f"{times:.1f}"
    return f"makes {best if log_odds > 0 else rival} {number} times as likely"


def drawing(log_odds: float, most: float) -> Markup:
    """A bar from the middle to the right (for) or left (against); the words are beside it."""
    size = 50 * min(abs(log_odds) / max(most, 1e-9), 1.0)
    x = 50.0 if log_odds > 0 else 50 - size
    side = "for" if log_odds > 0 else "against"
    return Markup(
        '<svg class="why-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="span-ground" x="0" y="4.5" width="100" height="1"/>'
        '<rect class="why-bar--{}" x="{}" y="1" width="{}" height="8"/>'
        '<rect class="span-value" x="49.7" y="0" width="0.6" height="10"/></svg>'
    ).format(side, f"{x:.2f}", f"{size:.2f}")
