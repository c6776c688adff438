"""Submissions of a study on Prolific, beside what the service knows of them: approved, rejected, paid more.

Prolific pays a bonus each time that it is asked to: it is asked once for each token, and never again if its
answer was lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, NamedTuple

from pydantic import Field

from crowdpilot.service.errors import ConflictError, InvalidRequestError, NotFoundError
from crowdpilot.service.platforms.prolific import submissions as prolific
from crowdpilot.service.platforms.prolific.client import Client, UncertainError
from crowdpilot.service.platforms.prolific.submissions import CATEGORIES, MIN_MESSAGE_CHARACTERS
from crowdpilot.service.requesters.recruiting import prolific_studies as studies
from crowdpilot.service.requesters.recruiting import submissions
from crowdpilot.service.schemas.fields import Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import prolific_studies as stored
from crowdpilot.service.store.arrivals import submissions as assignments
from crowdpilot.service.store.engine import Row, Store

SubmissionId = Annotated[Plain, Field(pattern=r"^[0-9a-f]{24}$")]
MAX_REVIEWED = 500
UNKNOWN_PAYMENT = (
    "it is not known whether Prolific has paid this bonus, because its answer was lost; look at the "
    "submission on Prolific before you pay it again"
)
ANOTHER_BONUS = "another bonus was paid with this token; load the page again, or use a new token"


class ApprovalIn(Strict):
    """Submissions that are approved: their participants are paid the reward."""

    submissions: Annotated[list[SubmissionId], Field(min_length=1, max_length=MAX_REVIEWED)]


class RejectionIn(ApprovalIn):
    """Submissions that are rejected, and what their participants read."""

    category: Plain
    message: Annotated[Plain, Field(max_length=2000)]


class BonusIn(Strict):
    """A bonus for a submission; the same token pays once."""

    amount: studies.Amount
    token: studies.Token
    confirm_total: studies.Total = ""


class Reviewed(NamedTuple):
    """A submission on Prolific, what the service knows of it, and what speaks for or against it.

    Parameters
    ----------
    submission, ours
        As Prolific and as the service knows it; the latter is None if nobody came with its id.
    is_right
        Whether it was done here, and the code that was typed there is the one that was given here.
    words
        The same in words.
    """

    submission: prolific.Submission
    ours: submissions.Submission | None
    is_right: bool
    words: str

    @property
    def waits(self) -> bool:
        """Whether it waits for a review."""
        return self.submission.status == prolific.AWAITING_REVIEW


def list_all(
    store: Store, settings: Settings, project: str, study: str, *, quick: bool = False
) -> list[Reviewed]:
    """The submissions of a study: those that wait for a review first, then the newest."""
    studies.find(store, project, study)
    with store.reading() as c:
        row = projects.find(c, project)
        known = {one.external: one
                 for one in submissions.list_submissions(c, settings.secret, row, "prolific")}  # fmt: skip
    found = prolific.list_all(Client(quick=quick), study)
    reviewed = [_reviewed(one, known.get(one.id)) for one in found]
    return sorted(reviewed, key=lambda one: (not one.waits, -(one.submission.started or 0)))


def _reviewed(submission: prolific.Submission, ours: submissions.Submission | None) -> Reviewed:
    if ours is None:
        return Reviewed(submission, None, is_right=False, words="Nobody came here with this submission")
    if not ours.code:
        return Reviewed(submission, ours, is_right=False, words=f"{ours.outcome} here")
    if not submission.code:
        return Reviewed(submission, ours, is_right=False, words="No code was typed on Prolific")
    if submission.code != ours.code:
        return Reviewed(submission, ours, is_right=False, words="The code is not the one that was given here")
    is_done = ours.outcome == submissions.OUTCOMES["done"]
    return Reviewed(submission, ours, is_done, "Done, and the code is right" if is_done else ours.outcome)


def approve(
    store: Store, settings: Settings, project: str, actor: str, study: str, ids: Sequence[str]
) -> int:
    """Approve submissions: their participants are paid. Those that are approved stay so; how many are new."""
    found = _own(store, settings, project, study, ids)
    waiting = _waiting(found, prolific.APPROVED)
    if waiting:
        about = store, actor, "approve on Prolific", project, study
        with studies.lost_answers(*about, submissions=len(waiting)):
            prolific.approve(Client(), [one.submission.id for one in waiting])
    _note(store, project, actor, study, found, assignments.APPROVED, len(waiting))
    return len(waiting)


def reject(
    store: Store, settings: Settings, project: str, actor: str, study: str, rejection: RejectionIn
) -> int:
    """Reject submissions: their participants are not paid, and read why. How many are new."""
    message = " ".join(rejection.message.split())
    if rejection.category not in CATEGORIES:
        raise InvalidRequestError(f"there is no such category; there are {', '.join(CATEGORIES)}")
    if len(message) < MIN_MESSAGE_CHARACTERS:
        raise InvalidRequestError(
            f"the message has {len(message)} characters; Prolific wants {MIN_MESSAGE_CHARACTERS}, so say more"
        )
    found = _own(store, settings, project, study, rejection.submissions)
    waiting, client = _waiting(found, prolific.REJECTED), Client()
    for done, one in enumerate(waiting):
        try:
            prolific.reject(client, one.submission.id, rejection.category, message)
        except ValueError as error:
            _note(store, project, actor, study, waiting[:done], assignments.REJECTED, done, message)
            before = f"{done} of {len(waiting)} are rejected; " if done else ""
            raise ValueError(f"{before}{error}") from None
    _note(store, project, actor, study, found, assignments.REJECTED, len(waiting), message)
    return len(waiting)


def _own(store: Store, settings: Settings, project: str, study: str, ids: Sequence[str]) -> list[Reviewed]:
    """The submissions with these ids; the token of the server pays for this study only."""
    found = {one.submission.id: one for one in list_all(store, settings, project, study)}
    if unknown := [id for id in ids if id not in found]:
        raise NotFoundError(f"the submission {unknown[0]} is not of this study; choose one of the list")
    return [found[id] for id in dict.fromkeys(ids)]


def _waiting(found: Sequence[Reviewed], wanted: str) -> list[Reviewed]:
    """Those that wait for a review; an error if another is not reviewed as is wanted already."""
    for one in found:
        if not one.waits and one.submission.status != wanted:
            state = one.submission.status.lower()
            raise ConflictError(
                f"the submission of {one.submission.participant} is {state}; it can be reviewed no more"
            )
    return [one for one in found if one.waits]


def _note(
    store: Store, project: str, actor: str, study: str, found: Sequence[Reviewed], verdict: str, n: int,
    reason: str = "",
) -> None:  # fmt: skip
    with store.writing() as c:
        for one in found:
            assignments.review_external(c, project, one.submission.id, verdict, reason)
        if n:
            action = "approve on Prolific" if verdict == assignments.APPROVED else "reject on Prolific"
            studies.log_study(c, actor, action, project, study, submissions=n, reason=reason)


def pay_bonus(
    store: Store, settings: Settings, project: str, actor: str, study: str, submission: str, bonus: BonusIn
) -> bool:
    """Pay the participant of a submission more, once for each token; False if it was paid before."""
    row, client = studies.find(store, project, study), Client()
    if not Decimal(bonus.amount):
        raise InvalidRequestError("a bonus of nothing cannot be paid; write an amount")
    wanted = {"study": study, "submission": submission, "amount": bonus.amount}
    with store.writing() as c:
        known = stored.claim_bonus(c, project, bonus.token, **wanted)
    if known.state != stored.NEW:
        return _again(known, wanted)
    _own(store, settings, project, study, [submission])
    studies.confirm(int(Decimal(bonus.amount) * 100), bonus.confirm_total, row.currency)
    prepared = prolific.set_up_bonus(client, study, submission, bonus.amount)
    with store.writing() as c:  # that Prolific is asked is written down before
        begin = project, bonus.token, stored.NEW, stored.PAYING
        if not stored.move_bonus(c, *begin, payment=prepared.id, **wanted):
            raise ConflictError("this bonus is being paid by another request; load the page again")
    about = {"amount": bonus.amount, "currency": row.currency}
    try:
        with studies.lost_answers(store, actor, "pay bonus on Prolific", project, study, **about):
            _pay(store, client, project, bonus.token, prepared.id)
    except UncertainError:
        raise ConflictError(UNKNOWN_PAYMENT) from None
    with store.writing() as c:
        studies.log_study(c, actor, "pay bonus on Prolific", project, study, **about)
    return True


def _again(known: Row, wanted: Mapping[str, str]) -> bool:
    """False: a bonus is paid already; an error if that is not known, or if it was another one."""
    if any(getattr(known, name) != wanted[name] for name in ("study", "submission")):
        raise ConflictError(ANOTHER_BONUS)
    if Decimal(known.amount) != Decimal(wanted["amount"]):
        raise ConflictError(ANOTHER_BONUS)
    if known.state == stored.PAYING:
        raise ConflictError(UNKNOWN_PAYMENT)
    return False


def _pay(store: Store, client: Client, project: str, token: str, payment: str) -> None:
    """Ask Prolific to pay; if its answer gets lost, it is not asked again."""
    try:
        prolific.pay_bonus(client, payment)
    except UncertainError:
        raise
    except ValueError:  # it refuses, and has paid nothing
        with store.writing() as c:
            stored.move_bonus(c, project, token, stored.PAYING, stored.NEW)
        raise
    with store.writing() as c:
        stored.move_bonus(c, project, token, stored.PAYING, stored.PAID)
