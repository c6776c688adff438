"""Lines on standard error about the accuracy of labels: the expected one, gold labels, checks, caveats."""

from __future__ import annotations

from crowdpilot.aggregation import Aggregate
from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion, suggest_gold
from crowdpilot.aggregation.accuracy.statements import state_accuracy, state_gain, state_gold
from crowdpilot.cli.shared.output import print_message


def print_accuracy(
    result: Aggregate, suggestion: GoldSuggestion | None = None, *, may_be_too_sure: bool = False
) -> None:
    """Print how many labels are right, what checks would gain, how gold was used, and each caveat.

    Parameters
    ----------
    result
        Of any model.
    suggestion
        The tasks that will be checked, if the user has asked for them.
    may_be_too_sure
        Whether to warn of probabilities that are far above the expected accuracy.
    """
    if not result.has_accuracy_estimate:
        return
    estimate = result.expected_accuracy
    gain = state_gain(suggest_gold(result, None) if suggestion is None else suggestion)
    if gain and suggestion is None:
        gain += " (--to-check FILE writes them)"
    print_message("; ".join(filter(None, [_lower(state_accuracy(estimate)), gain])))
    if check := result.params.get("gold_check"):
        print_message(state_gold(check))
    for caveat in result.caveats:
        print_message(f"warning: {_lower(caveat)}")
    confidence = float(result.confidence.mean())
    if may_be_too_sure and confidence > estimate.high:
        print_message(
            f"warning: {result.model} is {confidence:.0%} sure on average, which is too much; "
            "--calibrated gives honest probabilities"
        )


def _lower(sentence: str) -> str:
    """A sentence as the beginning of a line after a name."""
    return sentence[0].lower() + sentence[1:]
