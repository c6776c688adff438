"""The result of a demonstration in words, kept in the database for the page of its project."""

from __future__ import annotations

from pathlib import Path

from crowdpilot.service.demo.demonstration import DemoResult
from crowdpilot.service.store import jobs
from crowdpilot.service.store.engine import Store

KIND = "demo"  # of the job that holds it


def record_result(store: Store, outcome: DemoResult, report: Path) -> None:
    """Write what was saved, and where the report is, beside the jobs of the project."""
    with store.writing() as c:
        result = {**describe(outcome), "kept": f"The report stays in {report}."}
        jobs.record_done(c, outcome.project, KIND, result)


def describe(outcome: DemoResult) -> dict[str, str]:
    """The saved share of the votes, and the comparison in a sentence or two."""
    saving, N = outcome.saving, outcome.items
    ours = f"{N:,} images got {outcome.votes:,} votes, {saving.votes:.1f} each; {outcome.wrong:,} are wrong."
    fixed = f"With {saving.fixed} votes on every image, {saving.fixed * N:,} in all, "
    if saving.reached:
        fixed += "the majority would be wrong about as rarely."
    else:
        fixed += f"the majority would be wrong about {saving.fixed_error * N:.0f} images."
    return {"saved": f"{saving.share:.0%}", "words": f"{ours} {fixed}"}
