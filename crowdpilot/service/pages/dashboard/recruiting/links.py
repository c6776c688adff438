"""Links by which workers come to a project: invitations, their limits and revocation; Prolific, MTurk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import requester_actions
from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.network_addresses import is_loopback as is_loopback_address
from crowdpilot.service.pages.dashboard.access.requester import Form, Labelling, Reading, Requester, go, may
from crowdpilot.service.pages.dashboard.formatting import clock, count, router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.platforms import mturk_external_question, prolific
from crowdpilot.service.platforms.invitation_links import MAX_WORKER_CHARACTERS, invitation_url
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row, Store

DAY_SECONDS = 86400.0
MAX_LINKS_SHOWN = 20  # on the page of a project; all are on the page of links
MAX_USES, MAX_DAYS = 1_000_000, 3650
NEW = {"kind": "", "worker": "", "max_uses": str(invitations.MAX_USES), "days": ""}


class Link(NamedTuple):
    """A link to copy, or why there is none."""

    id: str
    name: str
    words: str
    text: str = ""
    invitation: str = ""


def pages() -> APIRouter:
    """Routes about links."""
    home = "/projects/{id}/links"
    one = home + "/{invitation}"
    return router([
        ("GET", home, show_links), ("POST", home, create_link), ("GET", one, show_link),
        ("POST", one, change_link), ("POST", f"{one}/revoke", revoke_link),
    ])  # fmt: skip


def is_loopback(address: str) -> bool:
    """Whether links with this address work only on the computer of the service."""
    host = urlsplit(address).hostname or ""
    return host == "localhost" or host.endswith(".localhost") or is_loopback_address(host)


def links_of(settings: Settings, project: Row, rows: Sequence[Row]) -> list[Link]:
    """The links to this project that admit workers now, by its invitations and the platforms it is on."""
    base, spec = f"{settings.address}/w/{project.id}", project.spec
    links: list[Link] = []
    for row in [row for row in rows if invitations.is_open(row)][:MAX_LINKS_SHOWN]:
        links.append(_invitation(settings, row, first=f"link-{row.kind}" not in {link.id for link in links}))
    if spec["prolific"] is not None:
        words = "Paste it as the external study URL. Prolific fills in who comes."
        links.append(
            Link("link-prolific", "Prolific study URL", words, prolific.study_url(f"{base}/prolific"))
        )
    if spec["mturk"] is not None:
        links.append(_mturk(settings, base))
    return links


def _invitation(settings: Settings, row: Row, *, first: bool) -> Link:
    url = invitation_url(settings.address, settings.secret, row.project, row.id)
    ends = f" Until {clock(row.expires)}." if row.expires else ""
    if row.worker:
        name, words = f"Link for {row.worker}", f"For this worker only ({row.kind}).{ends}"
        return Link(f"link-{row.id}", name, words, url, row.id)
    name = "Link for workers" if row.kind == "crowd" else f"Link for workers of the kind {row.kind}"
    words = f"For everybody whom you send it to. {count(row.uses, 'worker')} of {row.max_uses:,} came.{ends}"
    return Link(f"link-{row.kind}" if first else f"link-{row.id}", name, words, url, row.id)


def _mturk(settings: Settings, base: str) -> Link:
    fields: dict[str, Any] = {"id": "link-mturk", "name": "Mechanical Turk, by hand"}
    if not settings.secure:
        words = "Mechanical Turk shows only pages whose address begins with https. Whoever runs this service "
        return Link(**fields, words=words + "can set such an --address.")
    words = "Recruiting creates HITs for you. To make one yourself, paste this as its question."
    return Link(**fields, words=words, text=mturk_external_question.external_question(f"{base}/mturk"))


def show_links(id: str, requester: Reading, store: StoreOf) -> Response:
    """All invitations, and a form for a new one."""
    return _links_page(store, id, may("label-ops", requester), dict(NEW), {})


def _links_page(
    store: Store, id: str, requester: Requester, typed: dict[str, str], wrong: dict[str, str]
) -> Response:
    with store.reading() as c:
        project, rows = projects.find(c, id), invitations.list_all(c, id)
    return show(
        "links.html", requester, project, status=422 if wrong else 200, typed=typed, wrong=wrong,
        kinds=list(make_costs(project.spec).prices), longest=MAX_WORKER_CHARACTERS,
        rows=[(row, invitations.is_open(row)) for row in reversed(rows)],
    )  # fmt: skip


def create_link(id: str, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Create an invitation, or show what is wrong beside each field."""
    typed = {name: str(form.get(name, "")).strip() for name in NEW}
    values, wrong = _limits(typed, by_name=bool(typed["worker"]))
    if len(typed["worker"]) > MAX_WORKER_CHARACTERS:
        wrong["worker"] = f"The name has more than {MAX_WORKER_CHARACTERS} characters."
    if not wrong:
        try:
            requester_actions.invite(
                store, id, requester.id, kind=typed["kind"] or None, worker=typed["worker"], **values
            )
            return go(f"/projects/{id}/links")
        except RequestError as error:
            wrong["kind"] = sentence(str(error))
    return _links_page(store, id, requester, typed, wrong)


def _limits(typed: dict[str, str], *, by_name: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """How many an invitation admits and until when, from a form; and what is wrong with it."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    if not by_name:
        values["max_uses"] = _whole(typed["max_uses"], MAX_USES)
        if values["max_uses"] is None:
            wrong["max_uses"] = f"Write a number from 1 to {MAX_USES:,}."
    days = _whole(typed["days"], MAX_DAYS) if typed["days"] else None
    if typed["days"] and days is None:
        wrong["days"] = f"Write a number from 1 to {MAX_DAYS:,}, or nothing."
    values["expires"] = None if days is None else time.time() + days * DAY_SECONDS
    return values, wrong


def _whole(text: str, most: int) -> int | None:
    """A whole number from 1 on; None if it is none."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(most)) else 0
    return number if 1 <= number <= most else None


def show_link(id: str, invitation: str, requester: Reading, store: StoreOf, settings: SettingsOf) -> Response:
    """One invitation: its link, its limits, and how to revoke it."""
    return _link_page(store, settings, id, invitation, may("label-ops", requester), None, {})


def _link_page(
    store: Store, settings: Settings, id: str, invitation: str, requester: Requester,
    typed: dict[str, str] | None, wrong: dict[str, str],
) -> Response:  # fmt: skip
    with store.reading() as c:
        project, row = projects.find(c, id), invitations.find(c, id, invitation)
    return show(
        "link.html", requester, project, status=422 if wrong else 200, row=row, wrong=wrong,
        typed=typed or {"max_uses": str(row.max_uses or ""), "days": ""}, is_open=invitations.is_open(row),
        link=invitation_url(settings.address, settings.secret, id, row.id),
        is_local=is_loopback(settings.address),
    )  # fmt: skip


def change_link(
    id: str, invitation: str, form: Form, requester: Labelling, store: StoreOf, settings: SettingsOf
) -> Response:
    """Change how many an invitation admits, and until when."""
    with store.reading() as c:
        by_name = invitations.find(c, id, invitation).worker is not None
    typed = {name: str(form.get(name, "")).strip() for name in ("max_uses", "days")}
    values, wrong = _limits(typed, by_name=by_name)
    if wrong:
        return _link_page(store, settings, id, invitation, requester, typed, wrong)
    requester_actions.change_invitation(store, id, requester.id, invitation, values)
    return go(f"/projects/{id}/links")


def revoke_link(id: str, invitation: str, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Revoke an invitation, and block who came through it if asked to."""
    block = form.get("block") == "yes"
    requester_actions.revoke_invitation(store, id, requester.id, invitation, block=block)
    return go(f"/projects/{id}/links")
