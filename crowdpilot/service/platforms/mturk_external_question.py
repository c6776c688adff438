"""Amazon Mechanical Turk: our pages in a frame of theirs, and a form posted back to them at the end.

Parameters, preview and form: https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/
ApiReference_ExternalQuestionArticle.html. Nothing in the address is signed; who submitted an assignment
is what `mturk_client.submitted` says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

from crowdpilot.service.errors import InvalidLinkError
from crowdpilot.service.platforms.platform import Arrival, Platform, parameter

HOSTS = ("www.mturk.com", "workersandbox.mturk.com")  # the only ones to which a form is posted
ORIGINS = tuple(f"https://{host}" for host in HOSTS)
PLATFORM = Platform("Amazon Mechanical Turk", ("https://worker.mturk.com", *ORIGINS), ORIGINS)
PREVIEW_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
XML_NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
)
ID_PATTERN = re.compile(r"[0-9A-Za-z]{1,255}", re.ASCII)


def external_question(url: str, height: int = 0) -> str:
    """The XML of a HIT that shows our page in a frame.

    Parameters
    ----------
    url
        Of the page, which has to be reached over https.
    height
        Of the frame in pixels; with 0 it fills the worker's window.
    """
    if urlsplit(url).scheme != "https" or not urlsplit(url).hostname:
        raise ValueError(f"MTurk shows only pages over https; give such an address instead of {url!r}")
    if height < 0:
        raise ValueError("the height of the frame is a number of pixels, or 0 to fill the window")
    root = Element("ExternalQuestion", xmlns=XML_NAMESPACE)
    SubElement(root, "ExternalURL").text = url
    SubElement(root, "FrameHeight").text = str(height)
    return tostring(root, encoding="unicode")


def arrive(query: Mapping[str, str], *, hits: Collection[str] = ()) -> Arrival:
    """The arrival of a worker from MTurk; a preview if the HIT is not accepted yet.

    Parameters
    ----------
    query
        The parameters of the address.
    hits
        The only HITs that are accepted, if there are any.
    """
    if parameter(query, "assignmentId", "MTurk") == PREVIEW_ASSIGNMENT:
        return Arrival("mturk", "", preview=True)
    hit, assignment, worker = (_identifier(query, name) for name in ("hitId", "assignmentId", "workerId"))
    if hits and hit not in hits:
        raise InvalidLinkError("the link belongs to another HIT; open the HIT on MTurk again")
    return Arrival("mturk", worker, assignment, submit=submit_url(parameter(query, "turkSubmitTo", "MTurk")))


def submit_url(address: str) -> str:
    """Where the form at the end is posted: on a host of MTurk, whatever the address says.

    Examples
    --------
    >>> submit_url("https://www.mturk.com/")
    'https://www.mturk.com/mturk/externalSubmit'
    """
    for origin in ORIGINS:
        if address in (origin, f"{origin}/"):
            return f"{origin}/mturk/externalSubmit"
    raise InvalidLinkError(
        "the address would send the answer to a host that is not of MTurk; open the HIT there again"
    )


def form_fields(arrival: Arrival, code: str) -> dict[str, str]:
    """The fields of the form at the end: the assignment, and one more, without which MTurk refuses it."""
    if arrival.preview or not arrival.assignment or not code:
        raise ValueError("there is nothing to submit before the HIT is accepted and its items are done")
    return {"assignmentId": arrival.assignment, "code": code}


def _identifier(query: Mapping[str, str], name: str) -> str:
    value = parameter(query, name, "MTurk")
    if not ID_PATTERN.fullmatch(value):
        raise InvalidLinkError(
            "the %(name)s in the address is not an id of MTurk; open the HIT there again", name=name
        )
    return value
