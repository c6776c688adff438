"""What all platforms share: arrival of a worker, origins of the platform, and safe parsing of XML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from crowdpilot.service.errors import InvalidLinkError

MAX_XML_CHARACTERS = 1 << 20


class Arrival(NamedTuple):
    """A worker who opened the link of a project on a platform.

    Parameters
    ----------
    platform
        One of `PLATFORMS`.
    external
        The id of the worker on the platform; empty in a preview.
    assignment
        The id of this piece of work on the platform; empty where it has none.
    kind
        The kind of worker, such as crowd or expert.
    preview
        Whether this is a preview: no item may be shown.
    submit
        Where the browser has to post a form at the end; empty where that is not needed.
    invitation
        The id of the invitation they came through; empty where that is not needed.
    guest
        Whether anybody may come this way, each time as a new worker.
    """

    platform: str
    external: str
    assignment: str = ""
    kind: str = "crowd"
    preview: bool = False
    submit: str = ""
    invitation: str = ""
    guest: bool = False


@dataclass(frozen=True)
class Platform:
    """A platform: its name for people, and the hosts that a content security policy has to allow.

    Parameters
    ----------
    title
        The name that people know.
    frames
        Origins that may show our pages in a frame.
    forms
        Origins to which a form on our pages may be posted.
    """

    title: str
    frames: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()

    @property
    def policy(self) -> str:
        """The two directives of the policy that differ between platforms."""
        frames, forms = " ".join(self.frames) or "'none'", " ".join(("'self'", *self.forms))
        return f"frame-ancestors {frames}; form-action {forms}"


def parameter(query: Mapping[str, str], name: str, platform: str) -> str:
    """A parameter that the platform puts in the address; a `ValueError` if it is not there."""
    if value := query.get(name, ""):
        return value
    raise InvalidLinkError(
        "the address has no %(name)s; open the link on %(platform)s again", name=name, platform=platform
    )


def parse_xml(text: str, what: str) -> Element:
    """The root of a document; a `ValueError` if it is not well formed, very long or declares entities."""
    if len(text) > MAX_XML_CHARACTERS or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError(
            f"{what} is longer than {MAX_XML_CHARACTERS} characters or declares a document type; "
            "send it without"
        )
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{what} is not well-formed XML ({error}); mend it there") from None
