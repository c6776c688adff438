"""Queries on the log of actions: who did what, when and from where."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, cast, delete, insert, or_, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import action_log, api_keys, members

SIGN_IN, REFUSED, ACCESS = "sign-in", "refused", "access"  # refused: wrong keys, failed sign-ins
PROJECT, DATA, WORKER, ARRIVAL = "project", "data", "worker", "arrival"  # arrival: of workers
CATEGORIES = (SIGN_IN, REFUSED, ACCESS, PROJECT, DATA, WORKER, ARRIVAL)
CATEGORY_BY_ACTION = {  # where it is not said; of all others it is `PROJECT`
    **dict.fromkeys(("add items", "reveal", "stop", "withdraw", "external votes", "import"), DATA),
    **dict.fromkeys(("override", "ask again", "undo review", "resolve"), DATA),
    **dict.fromkeys(("delete items", "delete project", "export"), DATA),
    **dict.fromkeys(("approve", "approve workers", "block", "unblock", "erase", "note"), WORKER),
    **dict.fromkeys(("invite", "change invitation", "revoke invitation"), WORKER),
}
OF_REQUESTERS = tuple(name for name in CATEGORIES if name != ARRIVAL)
FROM_STRANGERS = (REFUSED, ARRIVAL)  # anybody can cause these, so that old ones are deleted
NOT_FROM_STRANGERS = tuple(name for name in CATEGORIES if name not in FROM_STRANGERS)
MAX_PEOPLE = 300  # that a filter offers
KEPT_ROWS, KEPT_SECONDS = 100_000, 400 * 86400.0  # of each category that strangers cause
ROWS_PER_PRUNING = 500  # after which old ones are looked for
ROWS_PER_EXPORT_PIECE = 1000
COMMAND_LINE = "command line"  # the actor of what an operator does there
NOBODY = "unknown"  # the actor of who shows a wrong key
address: ContextVar[str | None] = ContextVar("address", default=None)  # of the sender of the request


class Filter(NamedTuple):
    """Which entries are wanted: of a project, of categories, of an actor, with a text, of actions."""

    project: str | None = None
    categories: Sequence[str] = CATEGORIES
    actor: str = ""  # the name of a member, the id of a member or key
    text: str = ""  # in the action, its details or the address
    actions: Sequence[str] = ()  # the only ones that are wanted, if any


def write(
    c: Connection, actor: str, action: str, project: str | None = None, /, category: str = "",
    **detail: Any,
) -> None:  # fmt: skip
    """Write down who did what, in the write transaction that does it; of workers no address is kept."""
    category = category or CATEGORY_BY_ACTION.get(action, PROJECT)
    new = {"time": time.time(), "category": category, "actor": actor, "action": action, "project": project,
           "address": None if category == ARRIVAL else address.get(), "detail": detail}  # fmt: skip
    id = c.execute(insert(action_log).values(new).returning(action_log.c.id)).scalar_one()
    if category in FROM_STRANGERS and id % ROWS_PER_PRUNING == 0:
        _prune(c, category)


def _prune(c: Connection, category: str) -> None:
    """Delete old entries of a category, by the index on category and id."""
    own = action_log.c.category == category
    newest = select(action_log.c.id).where(own).order_by(action_log.c.id.desc())
    last = c.execute(newest.offset(KEPT_ROWS).limit(1)).scalar() or 0
    old = or_(action_log.c.id <= last, action_log.c.time < time.time() - KEPT_SECONDS)
    c.execute(delete(action_log).where(own, old))


def read(
    c: Connection, *, project: str | None = None, categories: Sequence[str] = CATEGORIES,
    actor: str = "", text: str = "", actions: Sequence[str] = (), before: int | None = None, n: int = 100,
) -> Sequence[Row]:  # fmt: skip
    """The last entries, as in `Filter`, with ids below `before`; the newest first."""
    query = select(action_log).where(action_log.c.category.in_(categories))
    query = query if project is None else query.where(action_log.c.project == project)
    query = query if before is None else query.where(action_log.c.id < before)
    query = query.where(action_log.c.action.in_(actions)) if actions else query
    if actor:
        query = query.where(action_log.c.actor.in_(_ids_of(c, actor)))
    if text:
        query = query.where(_contains(text))
    return c.execute(query.order_by(action_log.c.id.desc()).limit(n)).all()


def _ids_of(c: Connection, actor: str) -> list[str]:
    """What the log calls a member: their id, and those of their keys; and the text itself."""
    own = or_(members.c.name == actor, members.c.id == actor)
    found = c.execute(select(members.c.id).where(own)).scalars().all()
    keys = c.execute(select(api_keys.c.id).where(api_keys.c.member.in_(found))).scalars().all()
    return [actor, *found, *keys]


def _contains(text: str) -> Any:
    """The condition that a text is in the action, the details, which are JSON, or the address."""
    in_json = json.dumps(text)[1:-1]
    return or_(
        action_log.c.action.icontains(text, autoescape=True),
        cast(action_log.c.detail, Text).icontains(in_json, autoescape=True),
        action_log.c.address.contains(text, autoescape=True),
    )


def read_all(c: Connection, wanted: Filter) -> Iterator[Sequence[Row]]:
    """All entries that are wanted, some at a time, the newest first."""
    before: int | None = None
    while rows := read(c, **wanted._asdict(), before=before, n=ROWS_PER_EXPORT_PIECE):
        yield rows
        before = rows[-1].id


def people(c: Connection, project: str | None = None) -> list[str]:
    """Names of all who did something to a project or at all, workers aside; members once for all keys."""
    query = select(action_log.c.actor).where(action_log.c.category.in_(NOT_FROM_STRANGERS)).distinct()
    if project is not None:
        query = query.where(action_log.c.project == project)
    actors = list(c.execute(query.limit(MAX_PEOPLE)).scalars())
    own = select(api_keys.c.id, members.c.name).join(members, members.c.id == api_keys.c.member)
    of_keys = {row.id: row.name for row in c.execute(own.where(api_keys.c.id.in_(actors)))}
    rows = c.execute(select(members.c.id, members.c.name).where(members.c.id.in_(actors)))
    names = of_keys | {row.id: row.name for row in rows}
    return sorted({names.get(actor, actor) for actor in actors}, key=str.casefold)


def actor_names(c: Connection, actors: Sequence[str]) -> dict[str, str]:
    """Names of actors by what the log calls them: of members, and with them of their keys."""
    ids = set(actors)
    of_members = select(members.c.id, members.c.name).where(members.c.id.in_(ids))
    names = {row.id: row.name for row in c.execute(of_members)}
    joined = api_keys.join(members, members.c.id == api_keys.c.member)
    columns = api_keys.c.id, api_keys.c.name.label("key"), members.c.name
    of_keys = select(*columns).select_from(joined).where(api_keys.c.id.in_(ids))
    return names | {
        row.id: row.name if row.key == row.name else f"{row.name} ({row.key})" for row in c.execute(of_keys)
    }
