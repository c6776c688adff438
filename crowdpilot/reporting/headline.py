"""The headline of the report: how many labels are right, what checks would gain, and caveats."""

from __future__ import annotations

from typing import NamedTuple

from crowdpilot.aggregation import Aggregate, GoldSuggestion
from crowdpilot.aggregation.accuracy.statements import state_gain, state_gold, state_range
from crowdpilot.calibration.experience import AccuracyEstimate
from crowdpilot.reporting.formatting import BLANK, percent


class Headline(NamedTuple):
    """What a reader should know before all else."""

    claim: str
    estimate: AccuracyEstimate
    details: list[str]  # sentences
    caveats: list[str]  # sentences


def make_headline(result: Aggregate, suggestion: GoldSuggestion) -> Headline:
    """The headline about a result.

    Parameters
    ----------
    result
        Of any model.
    suggestion
        The tasks to check next.
    """
    estimate = result.expected_accuracy
    details = [
        f"{percent(round(estimate.mean, 2))} are expected to be right. The range holds for "
        f"{percent(estimate.level)} of crowds like those that it was learned from."
    ]
    if check := result.params.get("gold_check"):
        details.append(f"{state_gold(check)}.")
    if gain := state_gain(suggestion):
        details.append(f"{gain.capitalize()}.")
    return Headline(_keep_together(state_range(estimate)), estimate, details, result.caveats)


def _keep_together(text: str) -> str:
    """The text without a line break before a percent sign."""
    return text.replace(" %", f"{BLANK}%")
