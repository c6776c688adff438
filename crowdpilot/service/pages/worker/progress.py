"""Progress of a worker: the stage they have reached, and the data of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import translatable
from crowdpilot.service.labelling import finishing, onboarding
from crowdpilot.service.labelling.assignment import presence
from crowdpilot.service.labelling.assignment.share import Share, answer_seconds, read_share, share_size
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.pages.languages import format_money, ngettext
from crowdpilot.service.pages.languages import gettext as _
from crowdpilot.service.pages.worker.answer_buttons import item_data
from crowdpilot.service.platforms import PLATFORMS, Platform
from crowdpilot.service.store import projects, votes, workers
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.votes import AnswerCounts

BLOCKED, FAILED = "blocked", "failed"
FINISHED, SHARE_DONE, COMPLETE = (
    "finished",
    "share done",
    "complete",
)  # has the code; may have it; no more work
PAUSED = projects.PAUSED
CONSENT, QUIZ, LABEL = "consent", "quiz", "label"  # as in `onboarding.step`


class Visit(NamedTuple):
    """A request of a worker for a page of a project."""

    session: Session
    project: Row
    worker: Row
    assignment: Row  # with the state of the worker, of the module `assignments`
    token: str  # the CSRF token of forms and scripts
    answers: AnswerCounts  # of the assignment
    share: int  # answers with a label that the assignment needs

    @property
    def spec(self) -> dict[str, Any]:
        """The description of the project."""
        return dict(self.project.spec)

    @property
    def done(self) -> int:
        """The number of answers, "can't tell" included."""
        return self.answers.total

    @property
    def labelled(self) -> int:
        """The number of answers with a label."""
        return self.answers.labelled

    @property
    def is_resumed(self) -> bool:
        """Whether the worker carries on after their share is done."""
        return self.assignment.resumed is not None

    @property
    def needed(self) -> int:
        """How many labelled answers are missing until the share is done."""
        return 0 if self.is_resumed else max(0, self.share - self.labelled)

    @property
    def wanted_items(self) -> int:
        """How many items the worker may hold now: few at first, and no more than are missing."""
        most = presence.items_at_once(self.project.spec, self.done)
        return min(most, self.needed) if self.needed else most

    @property
    def home(self) -> str:
        """The address of the worker's pages."""
        return f"/w/{self.session.project}"

    @property
    def platform_name(self) -> str:
        """The name of the platform in code."""
        return self.session.platform

    @property
    def platform(self) -> Platform:
        """The platform that the worker comes from."""
        return PLATFORMS[self.session.platform]


class Newcomer(NamedTuple):
    """Somebody who has opened a link and is not let in, as messages see them."""

    project: Row
    platform_name: str
    done: int = 0
    labelled: int = 0
    needed: int = 0

    @property
    def spec(self) -> dict[str, Any]:
        """The description of the project."""
        return dict(self.project.spec)

    @property
    def home(self) -> str:
        """The address of the worker's pages."""
        return f"/w/{self.project.id}"


def visit(c: Connection, session: Session, token: str) -> Visit:
    """The worker and the project of a session as they are now; `AuthenticationError` if it has ended."""
    assignment = finishing.find_session(c, session)
    project, worker = projects.find(c, session.project), workers.find(c, session.project, session.worker)
    answers = votes.count_answers(c, session.worker, session.assignment)
    return Visit(session, project, worker, assignment, token, answers, share_size(c, project))


def stage(now: Visit) -> str:
    """The stage of a worker, from being blocked to the items; `complete` if the project itself says so."""
    if now.worker.state in (workers.BLOCKED, workers.ERASED):
        return BLOCKED
    if now.assignment.finished is not None and not now.is_resumed:
        return FINISHED
    if now.labelled and not now.needed and not now.is_resumed:
        return SHARE_DONE
    step = onboarding.step(now.worker, now.spec)
    if step == QUIZ and now.worker.tries >= now.spec["quiz_tries"]:
        return FAILED
    if now.project.done or now.project.state == projects.CLOSED:
        return COMPLETE
    return PAUSED if now.project.state == projects.PAUSED else step


def steps(spec: Mapping[str, Any]) -> list[str]:
    """The names of the pages before the items, and of the items; templates translate them."""
    asked = {
        translatable("Consent"): spec["consent"], translatable("Instructions"): True,
        translatable("Quiz"): spec["quiz"], translatable("Label"): True,
    }  # fmt: skip
    return [name for name, there in asked.items() if there]


def questions(spec: Mapping[str, Any]) -> list[str]:
    """The questions about every item: one for each criterion, or just one."""
    plain = spec["question"].strip() or _("Which answer fits best?")
    return [criterion["question"].strip() or criterion["name"] for criterion in spec["criteria"]] or [plain]


def instructions_data(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the instructions, which workers read before they start and again later."""
    copied = {name: spec[name] for name in ("instructions", "examples", "classes")}
    return {**copied, "questions": questions(spec), "steps": steps(spec), **item_data(spec)}


def share_of(c: Connection, now: Visit) -> list[str]:
    """What is asked of a worker, and in return, in words."""
    return share_words(read_share(c, now.project, now.platform_name, now.worker.kind), now.spec)


def share_words(share: Share, spec: Mapping[str, Any]) -> list[str]:
    """The same in words: how many items, how long, and the pay where there is a currency."""
    asked = (
        ngettext("%(num)s question", "%(num)s questions", share.answers)
        if spec["criteria"]
        else ngettext("%(num)s item", "%(num)s items", share.answers)
    )
    minutes = ngettext("about %(num)s minute", "about %(num)s minutes", share.minutes)
    paid = [] if share.pay is None else [format_money(share.pay, share.currency)]
    return [asked, minutes, *paid]


def label_data(c: Connection, now: Visit | Newcomer) -> dict[str, Any]:
    """The data of the labelling page besides its items: how far the worker is, and signs of life."""
    spec = now.spec
    times = {
        "home": now.home,
        "beat": presence.beat_seconds(spec),
        "quiet": presence.quiet_seconds(spec),
        "idle": presence.idle_seconds(answer_seconds(c, now.project)),
        "hidden": presence.HIDDEN_SECONDS,
    }
    return {"done": now.done, "needed": now.needed, "presence": times}


def quiz_questions(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The quiz as a worker sees it: with the question asked, without the answers."""
    asked, names = questions(spec), [criterion["name"] for criterion in spec["criteria"]]
    number = {name: n for n, name in enumerate(names)}
    return [
        {"text": item["text"], "image": item["image"], "question": asked[number.get(item["criterion"], 0)]}
        for item in spec["quiz"]
    ]
