"""Links for workers, ready to be copied."""

from __future__ import annotations

from typing import Any, NamedTuple

from crowdpilot.service.platforms import invitation_links, mturk, prolific
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.row import Record


class Link(NamedTuple):
    """Something to copy, or why there is nothing."""

    id: str
    name: str
    words: str
    text: str = ""


def links_of(settings: Settings, project: Record) -> list[Link]:
    """All ways to this project."""
    base, spec = f"{settings.address}/w/{project.id}", project.spec
    found = [_plain(settings, project.id, base, "crowd", "Link for workers",
                    "For everybody whom you send it to. Each browser counts as one worker.")]  # fmt: skip
    if "expert" in (spec["costs"]["prices"] or {}):
        found.append(_plain(settings, project.id, base, "expert", "Link for experts",
                            "Who comes through it counts as an expert, at the price of one."))  # fmt: skip
    if spec["prolific"] is not None:
        words = "Paste it as the external study URL. Prolific fills in who comes."
        found.append(
            Link("link-prolific", "Prolific study URL", words, prolific.study_url(f"{base}/prolific"))
        )
    if spec["mturk"] is not None:
        found.append(_mturk(settings, base))
    return found


def _plain(settings: Settings, project: str, base: str, kind: str, name: str, words: str) -> Link:
    token = invitation_links.invite(settings.secret, project, kind=kind)
    return Link(f"link-{kind}", name, words, f"{base}?invite={token}")


def _mturk(settings: Settings, base: str) -> Link:
    given: dict[str, Any] = {"id": "link-mturk", "name": "MTurk question XML"}
    if not settings.secure:
        return Link(
            **given, words="MTurk shows only pages over https. Start the service with such an --address."
        )
    words = "Paste it as the question of a HIT. Workers see the project inside MTurk."
    return Link(**given, words=words, text=mturk.external_question(f"{base}/mturk"))
