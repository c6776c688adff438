"""HITs on Amazon Mechanical Turk, through a client of boto3: publish, extend, approve, reject, pay a bonus.

Calls: https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/ApiReference_OperationsArticle.html;
ids of qualifications: ApiReference_QualificationRequirementDataStructureArticle.html in the same place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from importlib import import_module
from time import time
from typing import Any, NamedTuple

from crowdpilot.optional_packages import load
from crowdpilot.service.platforms.mturk_external_question import external_question
from crowdpilot.service.platforms.platform import parse_xml

ENDPOINTS = {
    True: "https://mturk-requester-sandbox.{region}.amazonaws.com",
    False: "https://mturk-requester.{region}.amazonaws.com",
}
OWN_ENDPOINT = "AWS_ENDPOINT_URL_MTURK"  # a variable of boto3, for a server that stands in for MTurk
ALREADY_THERE = re.compile(  # in the code or message of the error about a token that was used
    "HITAlreadyExists|already been processed", re.IGNORECASE
)
EXPIRED_SECONDS = 60  # ago: MTurk takes a moment that is too near for a new time of expiry
HIT_ID = re.compile(r"\b[0-9A-Z]{20,64}\b")
SUBMITTED, APPROVED, REJECTED = STATUSES = "Submitted", "Approved", "Rejected"  # of an assignment
WORKER_SITES = {True: "https://workersandbox.mturk.com", False: "https://worker.mturk.com"}
NO_CREDENTIALS = (
    "the server has no AWS credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where it runs, or "
    "use another way of boto3"
)
PERCENT_APPROVED_TYPE, NUMBER_APPROVED_TYPE = "000000000000000000L0", "00000000000000000040"
LOCALE_TYPE = "00000000000000000071"


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The offer of a HIT to workers.

    Parameters
    ----------
    title, description, keywords
        What workers see in the list of HITs.
    reward
        Dollars for an assignment.
    assignments
        How many workers may take it.
    lifetime, duration, approval
        Seconds for which the HIT can be found, an assignment may take, and after which it is approved
        if nobody says anything.
    qualifications
        Of workers, such as those of `qualified`.
    height
        Of the frame in pixels; with 0 it fills the window.
    token
        The same token makes one HIT in a day.
    """

    title: str
    description: str
    reward: Decimal | str
    keywords: str = ""
    assignments: int = 1
    lifetime: int = 7 * 24 * 3600
    duration: int = 3600
    approval: int = 3 * 24 * 3600
    qualifications: Sequence[Mapping[str, Any]] = ()
    height: int = 0
    token: str = ""


class Hit(NamedTuple):
    """A HIT that was published, and the page on which workers find it.

    The other fields are filled in where it was published by an earlier request, perhaps with another offer.
    """

    id: str
    type: str
    page: str
    title: str = ""
    reward: str = ""
    assignments: int = 0


class HitState(NamedTuple):
    """Where a HIT stands on MTurk: its status, and how many of its assignments are free, taken and done."""

    hit: str
    status: str
    free: int
    taken: int
    done: int


class Submitted(NamedTuple):
    """An assignment that a worker has handed in, the completion code in it (empty if none), its status."""

    assignment: str
    worker: str
    code: str
    time: float
    status: str = SUBMITTED


def connect(sandbox: bool = True, region: str = "us-east-1", *, quick: bool = False) -> Any:
    """A client of MTurk, or of its sandbox, where no money is paid; a quick one gives up after seconds."""
    boto3 = load("boto3", "MTurk")
    endpoint = None if os.environ.get(OWN_ENDPOINT) else ENDPOINTS[sandbox].format(region=region)
    patience = (3, 6, 0) if quick else (10, 20, 2)
    limits = dict(zip(("connect_timeout", "read_timeout"), patience[:2], strict=True))
    config = import_module("botocore.config").Config(**limits, retries={"max_attempts": patience[2]})
    try:
        session = boto3.session.Session()
        return session.client("mturk", region_name=region, endpoint_url=endpoint, config=config)
    except import_module("botocore.exceptions").BotoCoreError as error:  # such as a profile that is not there
        raise ValueError(f"the AWS settings of the server cannot be used: {error}") from None


def qualified(*, percent: int = 0, approved: int = 0, countries: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Requirements: percent and number of a worker's assignments that were approved, and where they live."""
    requirements: list[dict[str, Any]] = [
        {"QualificationTypeId": kind, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [minimum]}
        for kind, minimum in ((PERCENT_APPROVED_TYPE, percent), (NUMBER_APPROVED_TYPE, approved))
        if minimum
    ]
    if countries:
        locales = [{"Country": country} for country in countries]
        requirements.append({"QualificationTypeId": LOCALE_TYPE, "Comparator": "In", "LocaleValues": locales})
    return requirements


def publish(client: Any, url: str, offer: Offer) -> Hit:
    """Publish a HIT that shows the page at this address."""
    fields = {
        "Title": offer.title,
        "Description": offer.description,
        "Keywords": offer.keywords,
        "Reward": dollars(offer.reward),
        "MaxAssignments": offer.assignments,
        "LifetimeInSeconds": offer.lifetime,
        "AssignmentDurationInSeconds": offer.duration,
        "AutoApprovalDelayInSeconds": offer.approval,
        "QualificationRequirements": [dict(one) for one in offer.qualifications],
        "Question": external_question(url, offer.height),
        "UniqueRequestToken": offer.token,
    }
    filled = {name: value for name, value in fields.items() if value != ""}
    hit = _call(client, client.create_hit, **filled)["HIT"]
    page = WORKER_SITES["sandbox" in client.meta.endpoint_url]
    return Hit(hit["HITId"], hit["HITTypeId"], f"{page}/mturk/preview?groupId={hit['HITTypeId']}")


def publish_once(client: Any, url: str, offer: Offer, *, sandbox: bool) -> Hit:
    """The same, with a token: where a HIT was made with it before, that one."""
    site = WORKER_SITES[sandbox]
    try:
        made = publish(client, url, offer)
    except AlreadyThereError as error:
        known = _call(client, client.get_hit, HITId=error.hit)["HIT"]
        offered = (known.get("Title", ""), known.get("Reward", ""), known.get("MaxAssignments", 0))
        made = Hit(known["HITId"], known["HITTypeId"], "", *offered)
    return made._replace(page=f"{site}/mturk/preview?groupId={made.type}")


class AlreadyThereError(ValueError):
    """The token of a request was used before."""

    def __init__(self, message: str, hit: str) -> None:
        super().__init__(message)
        self.hit = hit


def state_of(client: Any, hit: str) -> HitState:
    """Where a HIT stands now."""
    known = _call(client, client.get_hit, HITId=hit)["HIT"]
    counts = (known.get(f"NumberOfAssignments{name}", 0) for name in ("Available", "Pending", "Completed"))
    return HitState(hit, known.get("HITStatus", ""), *counts)


def extend(client: Any, hit: str, *, assignments: int = 0, until: float | None = None, token: str) -> int:
    """More assignments for a HIT, once for each token, or another time at which it ends; all it has then."""
    if assignments:
        more = {"NumberOfAdditionalAssignments": assignments, "UniqueRequestToken": token}
        with suppress(AlreadyThereError):
            _call(client, client.create_additional_assignments_for_hit, HITId=hit, **more)
    if until is not None:
        _end_at(client, hit, until)
    return int(_call(client, client.get_hit, HITId=hit)["HIT"]["MaxAssignments"])


def expire(client: Any, hit: str) -> None:
    """Nobody can take a HIT any more; who has it can hand it in."""
    _end_at(client, hit, time() - EXPIRED_SECONDS)


def _end_at(client: Any, hit: str, moment: float) -> None:
    """Set when a HIT ends; MTurk refuses the same second twice, and has it then."""
    with suppress(AlreadyThereError):
        ends = datetime.fromtimestamp(moment, UTC)
        _call(client, client.update_expiration_for_hit, HITId=hit, ExpireAt=ends)


def find_assignment(client: Any, hit: str, assignment: str) -> Submitted:
    """An assignment that was handed in; a `ValueError` if it is not of this HIT."""
    found = _call(client, client.get_assignment, AssignmentId=assignment)["Assignment"]
    if found.get("HITId") != hit:
        raise ValueError("this assignment belongs to another HIT; choose one of the list")
    return _submitted(found)


def submitted(client: Any, hit: str, statuses: Sequence[str] = (SUBMITTED,)) -> list[Submitted]:
    """The assignments of a HIT with one of these statuses; those that wait for a review, if none is given."""
    pages = client.get_paginator("list_assignments_for_hit").paginate
    found = _call(client, lambda **query: list(pages(**query)), HITId=hit, AssignmentStatuses=[*statuses])
    return [_submitted(record) for page in found for record in page.get("Assignments", ())]


def approve(client: Any, assignment: str, feedback: str = "") -> None:
    """Approve an assignment: its worker is paid the reward."""
    more = {"RequesterFeedback": feedback} if feedback else {}
    _call(client, client.approve_assignment, AssignmentId=assignment, **more)


def reject(client: Any, assignment: str, reason: str) -> None:
    """Reject an assignment: its worker is not paid and reads why."""
    if not reason.strip():
        raise ValueError("a worker who is not paid is told why; give a reason")
    _call(client, client.reject_assignment, AssignmentId=assignment, RequesterFeedback=reason)


def bonus(
    client: Any, worker: str, assignment: str, amount: Decimal | str, reason: str, *, token: str = ""
) -> bool:
    """Pay a worker more for an assignment, once for each token; without one, once for the assignment.

    False if it was paid before with the same token. MTurk forgets tokens after a day.
    """
    paid = {"WorkerId": worker, "AssignmentId": assignment, "BonusAmount": dollars(amount), "Reason": reason}
    try:
        _call(client, client.send_bonus, **paid, UniqueRequestToken=token or f"bonus-{assignment}")
    except AlreadyThereError:
        return False
    return True


def dollars(amount: Decimal | str) -> str:
    """An amount of money as MTurk writes it.

    Examples
    --------
    >>> dollars("0.5")
    '0.50'
    """
    try:
        exact = Decimal(amount)
        cents = exact.quantize(Decimal("0.01"))
    except InvalidOperation:
        raise ValueError(f"{amount!r} is not an amount of dollars; give one such as 0.05") from None
    if cents != exact or exact < 0:
        raise ValueError(f"{amount} is not an amount of whole cents; give one such as 0.05")
    return str(cents)


def _submitted(record: Mapping[str, Any]) -> Submitted:
    root = parse_xml(record["Answer"], "the answer of an assignment") if record.get("Answer") else None
    answers = [] if root is None else root.findall("{*}Answer")
    fields = {answer.findtext("{*}QuestionIdentifier"): answer.findtext("{*}FreeText") for answer in answers}
    code = (fields.get("code") or "").strip()
    status, moment = record.get("AssignmentStatus", SUBMITTED), record["SubmitTime"].timestamp()
    return Submitted(record["AssignmentId"], record["WorkerId"], code, moment, status)


def _call(client: Any, method: Callable[..., Any], **fields: Any) -> Any:
    """Call MTurk; an error of MTurk is a `ValueError` of one sentence."""
    try:
        return method(**fields)
    except client.exceptions.ClientError as error:
        about = error.response.get("Error", {})
        message = about.get("Message", error)
        if ALREADY_THERE.search(f"{about.get('Code')} {message}"):
            found = HIT_ID.search(str(message))
            raise AlreadyThereError(str(message), found[0] if found else "") from error
        raise ValueError(f"MTurk refused {error.operation_name}: {message}") from error
    except import_module("botocore.exceptions").NoCredentialsError:
        raise ValueError(NO_CREDENTIALS) from None
    except import_module("botocore.exceptions").BotoCoreError as error:
        raise ValueError(f"MTurk cannot be reached: {error}") from None
