"""Routes for requesters about studies on Prolific; what costs money needs to write."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel

from crowdpilot.service.http.auth import LabelOps, ProjectId, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.platforms.prolific.studies import Study
from crowdpilot.service.project_changes import change_settings
from crowdpilot.service.requesters.recruiting import prolific_drafts, prolific_studies, prolific_submissions
from crowdpilot.service.requesters.recruiting.prolific_drafts import StudyIn
from crowdpilot.service.requesters.recruiting.prolific_studies import Move, PublishIn, SizeIn
from crowdpilot.service.requesters.recruiting.prolific_submissions import ApprovalIn, BonusIn, RejectionIn
from crowdpilot.service.store.arrivals import prolific_studies as stored
from crowdpilot.service.store.engine import Row

ERRORS = error_schemas(401, 403, 404, 409, 413, 422, 429, 503)
routes = APIRouter(prefix="/api/projects/{id}/studies", tags=["requester"], responses=ERRORS)
StudyId = Annotated[str, Path(pattern=r"^[0-9a-f]{24}$")]
SubmissionId = Annotated[str, Path(pattern=r"^[0-9a-f]{24}$")]


class StudyOut(BaseModel):
    """A study that was created for a project; the reward is in its currency."""

    study: str
    title: str
    reward: str
    places: int
    currency: str
    created: float


class StudiesOut(BaseModel):
    """The studies of a project, the newest first."""

    studies: list[StudyOut]


class StateOut(BaseModel):
    """Where a study stands on Prolific."""

    study: str
    status: str
    places: int
    taken: int
    reward: str
    currency: str
    page: str


class DetailOut(StateOut):
    """The same, with what its places cost: for participants, for Prolific, and tax."""

    rewards: str
    fees: str
    tax: str
    total: str


class SubmissionOut(BaseModel):
    """A submission: what Prolific knows, what was done here, and whether the code fits."""

    id: str
    participant: str
    status: str
    code: str
    is_right: bool
    words: str
    answers: int | None
    minutes: float | None
    gold_answers: int | None
    gold_right: int | None


class SubmissionsOut(BaseModel):
    """The submissions of a study, those that wait for a review first."""

    submissions: list[SubmissionOut]


class ReviewedOut(BaseModel):
    """How many submissions were reviewed that had waited for it."""

    reviewed: int


class BonusOut(BaseModel):
    """Whether a bonus was paid now; false if it was paid before with the same token."""

    paid: bool


def _row(row: Row) -> StudyOut:
    return StudyOut.model_validate({**row._mapping, "reward": prolific_studies.units(row.reward)})


def _state(study: Study) -> StateOut:
    values = {**study._asdict(), "study": study.id, "reward": prolific_studies.units(study.reward)}
    return StateOut.model_validate({**values, "page": study.page})


@routes.get("")
def get_studies(id: ProjectId, store: StoreOf, requester: LabelOps) -> StudiesOut:
    """The studies that were created for a project."""
    with store.reading() as c:
        return StudiesOut(studies=[_row(row) for row in stored.list_all(c, id)])


@routes.post("", status_code=201)
def post_study(
    id: ProjectId, body: StudyIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> StudyOut:
    """Draft a study that leads to the project; the same token makes one study. It costs nothing yet."""
    return _row(prolific_drafts.create(store, settings, id, requester.actor, body, change_settings))


@routes.get("/{study}")
def get_study(id: ProjectId, study: StudyId, store: StoreOf, requester: LabelOps) -> DetailOut:
    """A study as Prolific knows it now, and what it costs with the fee."""
    _, seen, cost = prolific_studies.read(store, id, study)
    amounts = zip(("rewards", "fees", "tax", "total"), cost, strict=True)
    values = {name: prolific_studies.units(amount) for name, amount in amounts}
    return DetailOut.model_validate({**_state(seen).model_dump(), **values})


@routes.post("/{study}/publish")
def post_publication(
    id: ProjectId, study: StudyId, body: PublishIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> StateOut:
    """Publish a draft: participants see it, and what they will get is set aside."""
    return _state(prolific_studies.publish(store, settings, id, requester.actor, study, body))


@routes.post("/{study}/places")
def post_places(
    id: ProjectId, study: StudyId, body: SizeIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> StateOut:
    """Raise the number of places."""
    about = store, settings, id, requester.actor, study, body
    return _state(prolific_studies.set_places(*about, change_settings))


@routes.get("/{study}/submissions")
def get_submissions(
    id: ProjectId, study: StudyId, store: StoreOf, settings: SettingsOf, requester: LabelOps
) -> SubmissionsOut:
    """The submissions of a study, beside what was done here."""
    found = prolific_submissions.list_all(store, settings, id, study)
    return SubmissionsOut(submissions=[_submission(one) for one in found])


def _submission(one: prolific_submissions.Reviewed) -> SubmissionOut:
    names = "answers", "minutes", "gold_answers", "gold_right"
    ours = {name: getattr(one.ours, name, None) for name in names}
    there = {name: getattr(one.submission, name) for name in ("id", "participant", "status", "code")}
    return SubmissionOut.model_validate({**there, "is_right": one.is_right, "words": one.words, **ours})


@routes.post("/{study}/submissions/approve")
def post_approval(
    id: ProjectId, study: StudyId, body: ApprovalIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> ReviewedOut:
    """Approve submissions: their participants are paid the reward."""
    chosen = body.submissions
    n = prolific_submissions.approve(store, settings, id, requester.actor, study, chosen)
    return ReviewedOut(reviewed=n)


@routes.post("/{study}/submissions/reject")
def post_rejection(
    id: ProjectId, study: StudyId, body: RejectionIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> ReviewedOut:
    """Reject submissions: their participants are not paid, and read why."""
    n = prolific_submissions.reject(store, settings, id, requester.actor, study, body)
    return ReviewedOut(reviewed=n)


@routes.post("/{study}/submissions/{submission}/bonus")
def post_bonus(
    id: ProjectId, study: StudyId, submission: SubmissionId, body: BonusIn, store: StoreOf,
    settings: SettingsOf, requester: Writer,
) -> BonusOut:  # fmt: skip
    """Pay the participant of a submission more, once for each token."""
    about = store, settings, id, requester.actor, study, submission
    return BonusOut(paid=prolific_submissions.pay_bonus(*about, body))


@routes.post("/{study}/{move}")
def post_move(id: ProjectId, study: StudyId, move: Move, store: StoreOf, requester: Writer) -> StateOut:
    """Pause a study, start it again, or stop it."""
    return _state(prolific_studies.move(store, id, requester.actor, study, move))
