"""Sentences of the log: what somebody did, in words that follow their name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Detail = Mapping[str, Any]
MAX_VALUE_CHARACTERS = 80


def _n(detail: Detail, key: str, noun: str) -> str:
    n = detail.get(key)
    return f"{n:,} {noun if n == 1 else noun + 's'}" if isinstance(n, int) else f"{noun}s"


def _after(words: str, value: Any) -> str:
    return f"{words}{value}" if value else ""


PLAIN = {
    "create": "created the project", "open": "opened the project", "paused": "paused the project",
    "closed": "stopped the project", "archive": "archived the project",
    "change settings": "changed the settings", "restore": "took the project out of the archive",
    "delete project": "deleted the project", "remove audit": "deleted the audit",
    "forecast": "asked for a forecast", "sign in": "signed in", "sign in by link": "signed in by a link",
    "sign in by OpenID Connect": "signed in by OpenID Connect", "sign out": "signed out",
    "start service": "started the service", "revoke key": "revoked a key", "arrive": "came as a worker",
    "undo review": "took back a change of an item",
}  # fmt: skip
WITH_DETAIL: dict[str, Callable[[Detail], str]] = {
    "add items": lambda d: f"added {_n(d, 'items', 'item')}",
    "import": lambda d: f"imported {_n(d, 'items', 'item')}{_after(' from ', d.get('address'))}",
    "reveal": lambda d: f"made {_n(d, 'items', 'item')} gold",
    "override": lambda d: f"decided about {_n(d, 'items', 'item')} as an expert",
    "ask again": lambda d: f"asked for more answers on {_n(d, 'items', 'item')}",
    "resolve": lambda d: f"saw to what workers said about the item {d.get('item', '')}",
    "stop": lambda d: f"stopped {_n(d, 'items', 'item')}",
    "withdraw": lambda d: f"withdrew {_n(d, 'items', 'item')}",
    "delete items": lambda d: f"deleted {_n(d, 'items', 'item')}",
    "external votes": lambda d: f"sent {_n(d, 'votes', 'answer')} from another place",
    "export": lambda d: f"exported the {d.get('what', 'data')}{_after(' as ', d.get('format'))}",
    "approve": lambda d: f"approved the pay of worker {d.get('worker')}",
    "approve workers": lambda d: f"approved the pay of {_n(d, 'workers', 'worker')}",
    "block": lambda d: f"blocked worker {d.get('worker')}",
    "unblock": lambda d: f"let worker {d.get('worker')} work again",
    "erase": lambda d: f"erased who worker {d.get('worker')} is",
    "erase workers": lambda d: f"erased who {_n(d, 'workers', 'worker')} are, after the time that was set",
    "invite": lambda d: f"made a link for {d.get('kind', 'worker')} workers",
    "change invitation": lambda d: f"changed the link {d.get('invitation', '')}",
    "revoke invitation": lambda d: f"revoked the link {d.get('invitation', '')}",
    "create key": lambda d: f"made a key for {d.get('member') or d.get('name') or 'somebody'}",
    "add member": lambda d: f"added {d.get('member', 'a member')}",
    "remove member": lambda d: f"removed {d.get('member', 'a member')}",
    "set role": lambda d: f"gave {d.get('member', 'a member')} the role {d.get('role', '')}",
    "test e-mails": lambda d: "sent a test e-mail",
}  # fmt: skip
SHOWN_KEYS = frozenset(  # that sentences have
    {"items", "what", "format", "worker", "workers", "invitation", "kind", "address", "item", "number"}
)


def write_sentence(action: str, detail: Detail) -> str:
    """What was done, so that it follows a name; an action without words of its own stays as it is.

    Examples
    --------
    >>> write_sentence("add items", {"items": 1200}), write_sentence("paused", {})
    ('added 1,200 items', 'paused the project')
    """
    return WITH_DETAIL[action](detail) if action in WITH_DETAIL else PLAIN.get(action, action)


def other_details(action: str, detail: Detail) -> dict[str, str]:
    """Details that the sentence does not have, as short texts."""
    known = SHOWN_KEYS if action in WITH_DETAIL or action in PLAIN else frozenset()
    return {
        name: _short(value)
        for name, value in detail.items()
        if value not in (None, "", [], {}) and name not in known
    }


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(str(name) for name in value)
    text = str(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[: MAX_VALUE_CHARACTERS - 1]}…"
