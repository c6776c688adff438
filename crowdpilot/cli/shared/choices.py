"""Names that options accept, as the rooms have them: a help text must not wait for a room to load."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).parents[2]
Repeats = Literal["last", "first", "all", "error"]
POLICIES = tuple(sorted(file.stem for file in (PACKAGE / "hybrid" / "policies").glob("[!_]*.py")))
DEFAULT_POLICY = "value"
FUSIONS = ("bayes", "tempered", "average", "classifier_as_worker", "crowd")
DEFAULT_FUSION = "bayes"
SIMULATED_CROWDS = ("hammer-spammer", "student-teacher", "independent-confusion", "discrete-difficulty")
