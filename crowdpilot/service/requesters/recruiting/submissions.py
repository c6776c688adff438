"""Submissions: what workers of a platform have done, and whether they are approved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from sqlalchemy import Connection

from crowdpilot.service.errors import InvalidRequestError, NotFoundError
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.sessions import code_to_show
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import submissions
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log

MAX_REASON_CHARACTERS = 1000
OUTCOMES = {"done": "Done", "complete": "Study was complete", "failed": "Failed the quiz"}
VERDICTS: Mapping[str, str | None] = {
    "approve": submissions.APPROVED, "reject": submissions.REJECTED, "undecide": None,
}  # fmt: skip


class Submission(NamedTuple):
    """One submission: who, how it ended, how long it took, and how good it is as far as that is known."""

    id: int
    worker: int
    participant: str
    external: str
    outcome: str
    code: str
    answers: int
    minutes: float | None
    gold_answers: int
    gold_right: int
    review: str
    reason: str


def list_submissions(c: Connection, secret: str, project: Row, platform: str) -> list[Submission]:
    """The submissions of a platform, the newest first."""
    rows = submissions.list_all(c, project.id, platform)
    counts = submissions.answers(c, project.id)
    records = trust.read_records(c, project.spec, sorted({row.worker for row in rows}))
    return [
        _submission(secret, project, row, counts.get(row.id, submissions.AnswersOf()),
                    records.get(row.worker, trust.GoldRecord()))
        for row in rows
    ]  # fmt: skip


def _submission(
    secret: str, project: Row, row: Row, answers: submissions.AnswersOf, gold: trust.GoldRecord
) -> Submission:
    minutes = None if row.finished is None else max(row.finished - row.started, 0.0) / 60
    return Submission(
        row.id, row.worker, row.worker_name or "", row.external,
        OUTCOMES.get(row.outcome or "", "Not finished"), _code(secret, project, row), answers.labelled,
        minutes, gold.answers, gold.right, row.review or "", row.review_reason or "",
    )  # fmt: skip


class _CodeOwner(NamedTuple):
    id: int
    platform: str
    external: str


def _code(secret: str, project: Row, row: Row) -> str:
    """The completion code that the worker has seen; empty if there was none."""
    study = project.spec["prolific"] or {}
    if row.outcome == "failed":
        return str(study.get("code_failed", ""))
    if row.outcome == "complete" and study.get("code_complete"):
        return str(study["code_complete"])
    if row.finished is None:
        return ""
    owner: Any = _CodeOwner(row.worker, row.platform, row.external)
    return code_to_show(secret, project.id, owner, project.spec)


def review(store: Store, project: str, actor: str, ids: Sequence[int], verdict: str, reason: str = "") -> int:
    """Note that submissions are approved or rejected; how many. The platform itself is not told.

    `verdict` is approve, reject or undecide; who is rejected is told why, so a reason is needed.
    """
    if verdict not in VERDICTS:
        raise NotFoundError(f"there is no such review; there are {', '.join(VERDICTS)}")
    if not ids:
        raise InvalidRequestError("no submission is chosen; tick one or more")
    if verdict == "reject" and not reason.strip():
        raise InvalidRequestError("a worker who is not paid is told why; give a reason")
    if len(reason) > MAX_REASON_CHARACTERS:
        raise InvalidRequestError(f"the reason has more than {MAX_REASON_CHARACTERS} characters")
    with store.writing() as c:
        projects.find(c, project)
        n = submissions.review(c, project, ids, VERDICTS[verdict], reason.strip())
        action_log.write(
            c, actor, f"{verdict} submissions", project, category=action_log.WORKER, submissions=n,
            reason=reason.strip(),
        )  # fmt: skip
    return n


def participants(found: Sequence[Submission], verdict: str) -> list[str]:
    """Ids of participants with this review, each once, as the bulk forms of Prolific take them."""
    return list(dict.fromkeys(one.participant for one in found if one.review == verdict and one.participant))


def to_table(found: Sequence[Submission]) -> pa.Table:
    """A row for each submission."""
    types: dict[str, Any] = {
        "participant": pa.string(), "external": pa.string(), "outcome": pa.string(), "code": pa.string(),
        "answers": pa.int64(), "minutes": pa.float64(), "gold_answers": pa.int64(), "gold_right": pa.int64(),
        "review": pa.string(), "reason": pa.string(),
    }  # fmt: skip
    return pa.table({
        {"external": "submission"}.get(name, name): pa.array([getattr(one, name) for one in found], type)
        for name, type in types.items()
    })  # fmt: skip


def read_ids(texts: Sequence[Any]) -> list[int]:
    """Ids of submissions as a form sends them; what is none is left out."""
    return [int(text) for text in texts if isinstance(text, str) and re.fullmatch(r"[0-9]{1,18}", text)]
