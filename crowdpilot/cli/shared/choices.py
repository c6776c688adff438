"""Names that options accept, as the rooms have them: a help text must not wait for a room to load."""

from __future__ import annotations

from typing import Literal

Repeats = Literal["last", "first", "all", "error"]
POLICIES = (
    "value", "fixed", "classifier_threshold", "posterior_threshold", "first_agree", "shortest_run",
    "switch_point",
)  # fmt: skip
DEFAULT_POLICY = "value"
FUSIONS = ("bayes", "tempered", "average", "classifier_as_worker", "crowd")
DEFAULT_FUSION = "bayes"
SIMULATED_CROWDS = ("hammer-spammer", "student-teacher", "independent-confusion", "discrete-difficulty")
