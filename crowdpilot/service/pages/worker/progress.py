"""The journey of a worker: how far they are, and what the page for that needs to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.platforms import PLATFORMS, Platform
from crowdpilot.service.store import projects, votes, workers
from crowdpilot.service.store.row import Record

BLOCKED, FINISHED, FAILED = "blocked", "finished", "failed"
CONSENT, QUIZ, LABEL = "consent", "quiz", "label"  # as `reception.step` calls them


class Visit(NamedTuple):
    """A worker on a page of a project."""

    session: Session
    project: Record
    worker: Record
    token: str  # that forms and scripts of this worker send along
    done: int  # answers they have given

    @property
    def spec(self) -> dict[str, Any]:
        """What the requester asked for."""
        return dict(self.project.spec)

    @property
    def home(self) -> str:
        """The address of the worker's pages."""
        return f"/w/{self.session.project}"

    @property
    def platform(self) -> Platform:
        """Where the worker comes from."""
        return PLATFORMS[self.session.platform]


def visit(c: Connection, session: Session, token: str) -> Visit:
    """The worker and the project of a session as they are now."""
    project, worker = projects.find(c, session.project), workers.find(c, session.project, session.worker)
    return Visit(session, project, worker, token, votes.count_of(c, session.worker))


def stage(now: Visit) -> str:
    """How far a worker is: blocked, finished, paused, closed, consent, quiz, failed or label."""
    if now.worker.state in (workers.BLOCKED, workers.ERASED):
        return BLOCKED
    if now.worker.finished is not None:
        return FINISHED
    if now.project.state != projects.OPEN:
        return str(now.project.state)
    step = onboarding.step(now.worker, now.spec)
    return FAILED if step == QUIZ and now.worker.tries >= now.spec["quiz_tries"] else step


def steps(spec: Mapping[str, Any]) -> list[str]:
    """The names of the pages before the items, and of the items."""
    asked = {"Consent": spec["consent"], "Instructions": True, "Quiz": spec["quiz"], "Label": True}
    return [name for name, there in asked.items() if there]


def questions(spec: Mapping[str, Any]) -> list[str]:
    """What is asked of every item: one question for each criterion, or just one."""
    plain = spec["question"].strip() or "Which answer fits best?"
    return [criterion["question"].strip() or criterion["name"] for criterion in spec["criteria"]] or [plain]


def taught(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What workers are told before they start, and can read again later."""
    same = {name: spec[name] for name in ("instructions", "examples", "classes")}
    return {**same, "questions": questions(spec), "steps": steps(spec)}


def quiz(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The quiz as a worker sees it: with the question asked, without the answers."""
    asked, names = questions(spec), [criterion["name"] for criterion in spec["criteria"]]
    number = {name: n for n, name in enumerate(names)}
    return [
        {"text": item["text"], "image": item["image"], "question": asked[number.get(item["criterion"], 0)]}
        for item in spec["quiz"]
    ]


def needed(spec: Mapping[str, Any]) -> int:
    """How many answers of the quiz have to be right: all, if nothing is said."""
    return len(spec["quiz"]) if spec["quiz_pass"] is None else int(spec["quiz_pass"])


def count_right(spec: Mapping[str, Any], labels: Sequence[str]) -> int:
    """How many answers of a quiz are right."""
    return sum(given == item["label"] for given, item in zip(labels, spec["quiz"], strict=False))
