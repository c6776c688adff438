"""Names that are written down for help texts are those of the rooms."""

from __future__ import annotations

from crowdpilot import votes
from crowdpilot.cli.shared import choices
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import POLICIES
from crowdpilot.hybrid.value.posterior import FUSIONS
from crowdpilot.simulation import STRATEGIES


def test_the_names_are_those_of_the_rooms() -> None:
    assert choices.Repeats == votes.Repeats
    assert tuple(sorted(POLICIES)) == choices.POLICIES
    assert tuple(FUSIONS) == choices.FUSIONS
    assert tuple(STRATEGIES) == choices.SIMULATED_CROWDS


def test_the_defaults_are_those_of_a_plan() -> None:
    assert (Plan().policy, Plan().fusion) == (choices.DEFAULT_POLICY, choices.DEFAULT_FUSION)
