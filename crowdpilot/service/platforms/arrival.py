"""What all platforms have in common: a worker arrives, and the platform says where its pages are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Arrival(NamedTuple):
    """Someone who opened the link of a project on a platform.

    Parameters
    ----------
    platform
        One of `PLATFORMS`.
    external
        How the platform calls the worker; empty in a preview.
    assignment
        How the platform calls this piece of work; empty where it has no name for it.
    kind
        What kind of worker it is, such as crowd or expert.
    preview
        Someone is only looking: no item may be shown and nobody is at work.
    submit
        Where the browser has to post a form at the end; empty where there is no such place.
    """

    platform: str
    external: str
    assignment: str = ""
    kind: str = "crowd"
    preview: bool = False
    submit: str = ""


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
    raise ValueError(f"the address has no {name}; open the link on {platform} again")
