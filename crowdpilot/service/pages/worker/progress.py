"""Progress of a worker: the stage they have reached, and the data of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.labelling import finishing, onboarding
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.platforms import PLATFORMS, Platform
from crowdpilot.service.store import projects, votes, workers
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.votes import AnswerCounts

BLOCKED, FINISHED, FAILED = "blocked", "finished", "failed"
CONSENT, QUIZ, LABEL = "consent", "quiz", "label"  # as in `onboarding.step`


class Visit(NamedTuple):
    """A request of a worker for a page of a project."""

    session: Session
    project: Row
    worker: Row
    assignment: Row  # with the state of the worker, of the module `assignments`
    token: str  # the CSRF token of forms and scripts
    answers: AnswerCounts  # of the assignment

    @property
    def spec(self) -> dict[str, Any]:
        """The description of the project."""
        return dict(self.project.spec)

    @property
    def done(self) -> int:
        """The number of answers, "can't tell" included."""
        return self.answers.total

    @property
    def needed(self) -> int:
        """How many labelled answers are missing until the worker can finish."""
        return max(0, finishing.answers_needed(self.spec) - self.answers.labelled)

    @property
    def home(self) -> str:
        """The address of the worker's pages."""
        return f"/w/{self.session.project}"

    @property
    def platform(self) -> Platform:
        """The platform that the worker comes from."""
        return PLATFORMS[self.session.platform]


def visit(c: Connection, session: Session, token: str) -> Visit:
    """The worker and the project of a session as they are now; `AuthenticationError` if it has ended."""
    assignment = finishing.find_session(c, session)
    project, worker = projects.find(c, session.project), workers.find(c, session.project, session.worker)
    answers = votes.count_answers(c, session.worker, session.assignment)
    return Visit(session, project, worker, assignment, token, answers)


def stage(now: Visit) -> str:
    """The stage of a worker: blocked, finished, paused, closed, consent, quiz, failed or label."""
    if now.worker.state in (workers.BLOCKED, workers.ERASED):
        return BLOCKED
    if now.assignment.finished is not None:
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
    """The questions about every item: one for each criterion, or just one."""
    plain = spec["question"].strip() or "Which answer fits best?"
    return [criterion["question"].strip() or criterion["name"] for criterion in spec["criteria"]] or [plain]


def instructions_data(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the instructions, which workers read before they start and again later."""
    copied = {name: spec[name] for name in ("instructions", "examples", "classes")}
    return {**copied, "questions": questions(spec), "steps": steps(spec)}


def quiz_questions(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The quiz as a worker sees it: with the question asked, without the answers."""
    asked, names = questions(spec), [criterion["name"] for criterion in spec["criteria"]]
    number = {name: n for n, name in enumerate(names)}
    return [
        {"text": item["text"], "image": item["image"], "question": asked[number.get(item["criterion"], 0)]}
        for item in spec["quiz"]
    ]
