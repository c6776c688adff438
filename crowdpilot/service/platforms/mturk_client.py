"""HITs on Amazon Mechanical Turk, through a client of boto3: publish, approve, reject, pay a bonus.

Calls: https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/ApiReference_OperationsArticle.html;
ids of qualifications: ApiReference_QualificationRequirementDataStructureArticle.html in the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib import import_module
from typing import Any, NamedTuple

from crowdpilot.service.platforms.mturk_external_question import external_question
from crowdpilot.service.platforms.platform import parse_xml

ENDPOINTS = {
    True: "https://mturk-requester-sandbox.{region}.amazonaws.com",
    False: "https://mturk-requester.{region}.amazonaws.com",
}
WORKER_SITES = {True: "https://workersandbox.mturk.com", False: "https://worker.mturk.com"}
PERCENT_APPROVED_TYPE, NUMBER_APPROVED_TYPE, LOCALE_TYPE = (
    "000000000000000000L0",
    "00000000000000000040",
    "00000000000000000071",
)


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
        The same token never makes two HITs.
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
    """A HIT that was published, and the page on which workers find it."""

    id: str
    type: str
    page: str


class Submitted(NamedTuple):
    """An assignment that a worker has handed in, and the completion code in it (empty if none)."""

    assignment: str
    worker: str
    code: str
    time: float


def connect(sandbox: bool = True, region: str = "us-east-1") -> Any:
    """A client of MTurk, or of its sandbox, where no money is paid."""
    try:
        boto3 = import_module("boto3")
    except ModuleNotFoundError:
        raise ValueError('MTurk needs boto3: pip install "crowdpilot[mturk]"') from None
    endpoint = ENDPOINTS[sandbox].format(region=region)
    return boto3.client("mturk", region_name=region, endpoint_url=endpoint)


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


def submitted(client: Any, hit: str) -> list[Submitted]:
    """The assignments of a HIT that wait to be approved or rejected."""
    pages = client.get_paginator("list_assignments_for_hit").paginate
    found = _call(client, lambda **query: list(pages(**query)), HITId=hit, AssignmentStatuses=["Submitted"])
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
) -> None:
    """Pay a worker more for an assignment, once for each token; without one, once for the assignment."""
    _call(
        client,
        client.send_bonus,
        WorkerId=worker,
        AssignmentId=assignment,
        BonusAmount=dollars(amount),
        Reason=reason,
        UniqueRequestToken=token or f"bonus-{assignment}",
    )


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
    return Submitted(record["AssignmentId"], record["WorkerId"], code, record["SubmitTime"].timestamp())


def _call(client: Any, method: Callable[..., Any], **fields: Any) -> Any:
    """Call MTurk; an error of MTurk is a `ValueError` of one sentence."""
    try:
        return method(**fields)
    except client.exceptions.ClientError as error:
        message = error.response.get("Error", {}).get("Message", error)
        raise ValueError(f"MTurk refused {error.operation_name}: {message}") from error
