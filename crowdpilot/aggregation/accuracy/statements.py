"""Statements about the accuracy of labels in plain words, the same in terminal, report and dashboard."""

from __future__ import annotations

from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion
from crowdpilot.calibration.experience import AccuracyEstimate, GoldCheck

MIN_WIDTH = 0.05  # of an interval that is worth narrowing
MIN_GAIN = 0.2  # by which its width should fall, as a share of it


def state_range(estimate: AccuracyEstimate) -> str:
    """How many labels are right, as a range.

    Examples
    --------
    >>> state_range(AccuracyEstimate(0.79, 0.716, 0.852))
    'About 72 to 85 % of these labels are right'
    """
    low, high = _percent(estimate.low), _percent(estimate.high)
    return f"About {high if low == high else f'{low} to {high}'} % of these labels are right"


def state_accuracy(estimate: AccuracyEstimate) -> str:
    """How many labels are right, as a range with its mean.

    Examples
    --------
    >>> state_accuracy(AccuracyEstimate(0.79, 0.716, 0.852))
    'About 72 to 85 % of these labels are right (79 % expected)'
    """
    is_range = _percent(estimate.low) != _percent(estimate.high)
    return state_range(estimate) + (f" ({_percent(estimate.mean)} % expected)" if is_range else "")


def state_gold(check: GoldCheck) -> str:
    """How gold labels were used.

    Examples
    --------
    >>> state_gold(GoldCheck(50, 41, AccuracyEstimate(0.8, 0.6, 0.9), 0.0))
    '50 gold labels are used: by the votes alone 41 of them would be right'
    """
    if check.tasks == 1:
        return f"1 gold label is used: by the votes alone it would be {'right' if check.right else 'wrong'}"
    return f"{check.tasks:,} gold labels are used: by the votes alone {check.right:,} of them would be right"


def state_gain(suggestion: GoldSuggestion, noun: str = "task") -> str:
    """What checking these tasks gains; empty if there are too few tasks, or too little is gained.

    Examples
    --------
    >>> now, then = AccuracyEstimate(0.79, 0.716, 0.852), AccuracyEstimate(0.8, 0.75, 0.83)
    >>> import numpy as np
    >>> tasks = np.arange(50)
    >>> state_gain(GoldSuggestion(tasks, tasks, now, then, by_count={50: then}, how_many=50))
    'check 50 tasks to narrow this range of 14 points to about 8'
    """
    now, then = (each.high - each.low for each in (suggestion.now, suggestion.predicted))
    if not suggestion.by_count or now < MIN_WIDTH or now - then < MIN_GAIN * now:
        return ""
    number = f"{len(suggestion):,} {noun}{'' if len(suggestion) == 1 else 's'}"
    return f"check {number} to narrow this range of {100 * now:.0f} points to about {100 * then:.0f}"


def _percent(share: float) -> str:
    """In whole percent; 0 and 100 only if it is exactly so."""
    whole = round(100 * share)
    return str(min(max(whole, 0 if share == 0 else 1), 100 if share == 1 else 99))
