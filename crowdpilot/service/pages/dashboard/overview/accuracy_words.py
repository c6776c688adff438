"""The accuracy of labels in words: the range, where it comes from, and what it gains to check items."""

from __future__ import annotations

from typing import NamedTuple

from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion
from crowdpilot.aggregation.accuracy.statements import state_gain, state_range
from crowdpilot.arrays import Codes
from crowdpilot.calibration.experience import AccuracyEstimate, GoldCheck
from crowdpilot.service.pages.dashboard.formatting import count, percent
from crowdpilot.service.status.label_caveats import Circumstances
from crowdpilot.votes import Votes


class Scope(NamedTuple):
    """What the labels are about, and what is known of them besides the votes."""

    names: tuple[str, ...]  # of the item of each question with votes
    override: Codes  # class that an expert decided on for each of these, -1 where none has
    gold_items: int  # with a known class, also without votes
    gold_share: float  # of the items that a worker gets
    has_criteria: bool


def state_claim(estimate: AccuracyEstimate, about: Circumstances) -> str:
    """The range, of the labels that it is about."""
    claim = state_range(estimate).replace(" %", "%")
    if about.is_classified and about.without_votes:
        return claim.replace("these labels", f"the labels of {about.noun}s that people answered")
    return claim if about.noun == "item" else claim.replace("these labels", "the labels of single questions")


def state_gain_of_checks(suggestion: GoldSuggestion, n_items: int) -> str:
    """What it gains to check items; empty where it gains too little."""
    if not state_gain(suggestion):
        return ""
    now, then = (100 * (each.high - each.low) for each in (suggestion.now, suggestion.predicted))
    return (f"Check {count(n_items, 'item')} yourself. Then we know it more exactly: the range is "
            f"{now:.0f} percentage points wide now, and would be about {max(then, 1):.0f}")  # fmt: skip


def state_source(
    votes: Votes, estimate: AccuracyEstimate, check: GoldCheck | None, scope: Scope, about: Circumstances
) -> str:
    """Where the range comes from, and what it does not cover."""
    source = f"{count(len(votes), 'answer')} on {count(len(votes.tasks), about.noun)}"
    if scope.has_criteria:
        source += f" about {count(len(set(scope.names)), 'item')}"
    notes = [f"Our best guess is {percent(estimate.mean)}, from {source}."]
    notes.append(_known(check, about.noun) if check else _nothing_known(scope))
    if by_hand := int((scope.override >= 0).sum()):
        notes.append(f"What you decided by hand ({count(by_hand, 'label')}) counts as right.")
    if about.is_classified and about.without_votes:
        notes.append(f"The other {count(about.without_votes, 'label')} come from the classifier alone: only "
                     "an audit can tell how many of them are right.")  # fmt: skip
    elif about.is_classified:
        notes.append("The classifier helps to decide, so that somewhat more may be right.")
    return " ".join(notes).replace(" %", "%")


def _known(check: GoldCheck, noun: str) -> str:
    """How known answers were used."""
    if check.tasks == 1:
        return f"You know the answer of 1 {noun}: the workers have it {'right' if check.right else 'wrong'}."
    return f"You know the answers of {check.tasks:,} {noun}s: the workers have {check.right:,} of them right."


def _nothing_known(scope: Scope) -> str:
    """Why no known answer was used."""
    so = "so the range rests on how good other crowds were."
    if not scope.gold_items:
        return f"You have given no known answers, {so}"
    known = f"You know the answers of {count(scope.gold_items, 'item')}, but nobody has answered "
    known += "it yet" if scope.gold_items == 1 else "these yet"
    why = "" if scope.gold_share else ": by your settings, workers get no items with known answers"
    return f"{known}{why}. {so[0].upper()}{so[1:]}"
