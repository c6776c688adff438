"""Links by which workers come to a project, ready to be copied: invitations, Prolific, MTurk."""

from __future__ import annotations

from typing import Any, NamedTuple

from crowdpilot.service.platforms import mturk_external_question, prolific
from crowdpilot.service.platforms.invitation_links import invitation_url
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.engine import Row


class Link(NamedTuple):
    """A link to copy, or why there is none."""

    id: str
    name: str
    words: str
    text: str = ""


def links_of(settings: Settings, project: Row) -> list[Link]:
    """All links to this project."""
    base, spec = f"{settings.address}/w/{project.id}", project.spec
    everybody = "For everybody whom you send it to. Each browser counts as one worker."
    links = [_invitation(settings, project.id, "crowd", "Link for workers", everybody)]
    if "expert" in (spec["costs"]["prices"] or {}):
        experts = "Who comes through it counts as an expert, at the price of one."
        links.append(_invitation(settings, project.id, "expert", "Link for experts", experts))
    if spec["prolific"] is not None:
        words = "Paste it as the external study URL. Prolific fills in who comes."
        links.append(
            Link("link-prolific", "Prolific study URL", words, prolific.study_url(f"{base}/prolific"))
        )
    if spec["mturk"] is not None:
        links.append(_mturk(settings, base))
    return links


def _invitation(settings: Settings, project: str, kind: str, name: str, words: str) -> Link:
    url = invitation_url(settings.address, settings.secret, project, kind=kind)
    return Link(f"link-{kind}", name, words, url)


def _mturk(settings: Settings, base: str) -> Link:
    fields: dict[str, Any] = {"id": "link-mturk", "name": "MTurk question XML"}
    if not settings.secure:
        return Link(
            **fields, words="MTurk shows only pages over https. Start the service with such an --address."
        )
    words = "Paste it as the question of a HIT. Workers see the project inside MTurk."
    return Link(**fields, words=words, text=mturk_external_question.external_question(f"{base}/mturk"))
