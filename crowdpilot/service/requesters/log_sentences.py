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


def _lost(detail: Detail) -> str:
    return ", whose answer was lost" if detail.get("answer") == "lost" else ""


def _items(detail: Detail) -> str:
    """The items that an entry is about: one by its name, else how many."""
    return f"the item {detail['item']}" if detail.get("item") else _n(detail, "items", "item")


def _hit(words: str, detail: Detail) -> str:
    """What was done on Mechanical Turk, and whether it was in its sandbox, where no money is paid."""
    return f"{words} on Mechanical Turk{' (sandbox, no money)' if detail.get('sandbox') else ''}"


def _restored(detail: Detail) -> str:
    if "saved" in detail:
        return "restored the service from a backup"
    return "took the project out of the archive"


def _overridden(detail: Detail) -> str:
    if "override" in detail.get("after", {}) and detail["after"]["override"] is None:
        return f"let the answers decide about {_items(detail)} again"
    return f"decided about {_items(detail)} by hand"


def _exported(detail: Detail) -> str:
    what = str(detail.get("what", "data"))
    own = {"votes": "answers", "decisions": "labels", "worker": f"data of worker {detail.get('worker')}"}
    return f"exported the {own.get(what, what)}{_after(' as ', detail.get('format'))}"


def _blocked(detail: Detail) -> str:
    kept = {"keep": " and kept their answers", "leave out": " and left out their answers"}
    return f"blocked worker {detail.get('worker')}{kept.get(str(detail.get('votes')), '')}"


PLAIN = {
    "create": "created the project", "open": "opened the project", "paused": "paused the project",
    "closed": "stopped the project", "archive": "archived the project",
    "change settings": "changed the settings", "delete project": "deleted the project",
    "remove audit": "deleted the audit", "forecast": "asked for a forecast", "sign in": "signed in",
    "sign in by link": "signed in by a link", "sign in by OpenID Connect": "signed in by OpenID Connect",
    "sign out": "signed out", "start service": "started the service", "revoke key": "revoked a key",
    "arrive": "came as a worker", "wrong key": "showed a wrong key",
    "wrong link": "came with a link for signing in that does not work",
    "pause study": "paused a study on Prolific", "start study": "started a study on Prolific again",
    "stop study": "stopped a study on Prolific",
    "failed sign-in": "could not sign in by OpenID Connect", "test e-mails": "sent a test e-mail",
}  # fmt: skip
WITH_DETAIL: dict[str, Callable[[Detail], str]] = {
    "add items": lambda d: f"added {_n(d, 'items', 'item')}",
    "import": lambda d: (f"imported {_n(d, 'items', 'item')}"
                         f"{_after(' and ', 'votes' in d and _n(d, 'votes', 'answer'))}"
                         f"{_after(' from ', d.get('address'))}"),
    "reveal": lambda d: f"set the known answer of {_items(d)}",
    "override": _overridden,
    "ask again": lambda d: f"asked for {_n(d, 'votes', 'more answer')} on {_items(d)}",
    "resolve": lambda d: f"saw to what workers said about {_items(d)}",
    "undo review": lambda d: f"took back a change of {_items(d) if d.get('item') else 'an item'}",
    "stop": lambda d: f"stopped {_n(d, 'items', 'item')}",
    "withdraw": lambda d: f"withdrew {_n(d, 'items', 'item')}",
    "delete items": lambda d: f"deleted {_n(d, 'items', 'item')}",
    "external votes": lambda d: f"sent {_n(d, 'votes', 'answer')} from another place",
    "export": _exported,
    "restore": _restored,
    "audit": lambda d: f"drew {_n(d, 'n', 'item')} for the audit",
    "audit answers": lambda d: f"answered {_n(d, 'n', 'item')} of the audit",
    "approve": lambda d: f"approved the pay of worker {d.get('worker')}",
    "approve workers": lambda d: f"approved the pay of {_n(d, 'workers', 'worker')}",
    "block": _blocked,
    "unblock": lambda d: f"let worker {d.get('worker')} work again",
    "note": lambda d: f"wrote notes about worker {d.get('worker')}",
    "erase": lambda d: f"erased who worker {d.get('worker')} is",
    "erase workers": lambda d: f"erased who {_n(d, 'workers', 'worker')} are, after the time that was set",
    "approve submissions": lambda d: f"approved {_n(d, 'submissions', 'submission')}",
    "reject submissions": lambda d: f"rejected {_n(d, 'submissions', 'submission')}",
    "undecide submissions": lambda d: f"took back the review of {_n(d, 'submissions', 'submission')}",
    "create HIT": lambda d: _hit(f"created a HIT for {_n(d, 'assignments', 'worker')}"
                                 f"{_after(' at USD ', d.get('reward'))}", d),
    "extend HIT": lambda d: _hit("extended a HIT", d),
    "expire HIT": lambda d: _hit("ended a HIT", d),
    "approve assignment": lambda d: _hit("approved and paid a submission", d),
    "reject assignment": lambda d: _hit("rejected a submission", d),
    "pay bonus": lambda d: _hit(f"paid a bonus{_after(' of USD ', d.get('amount'))}", d),
    "create study": lambda d: f"drafted a study on Prolific for {_n(d, 'places', 'participant')}",
    "publish study": lambda d: (f"published a study on Prolific for {_n(d, 'places', 'participant')}"
                                f"{_after(', who get ', d.get('total'))}{_lost(d)}"),
    "raise places": lambda d: f"gave a study on Prolific {_n(d, 'places', 'place')}{_lost(d)}",
    "approve on Prolific": lambda d: (f"approved and paid {_n(d, 'submissions', 'submission')} on Prolific"
                                      f"{_lost(d)}"),
    "reject on Prolific": lambda d: f"rejected {_n(d, 'submissions', 'submission')} on Prolific",
    "pay bonus on Prolific": lambda d: (f"paid a bonus of {d.get('currency', '')} {d.get('amount', '')} "
                                        f"on Prolific{_lost(d)}"),
    "connect label studio": lambda d: (f"connected project {d.get('number', '')} of Label Studio"
                                       f"{_after(' at ', d.get('server'))}"),
    "disconnect label studio": lambda d: f"disconnected Label Studio{_after(' at ', d.get('server'))}",
    "invite": lambda d: f"made a link for {d.get('kind', 'worker')} workers",
    "change invitation": lambda d: f"changed the link {d.get('invitation', '')}",
    "revoke invitation": lambda d: f"revoked the link {d.get('invitation', '')}",
    "create key": lambda d: f"made a key for {d.get('member') or d.get('name') or 'somebody'}",
    "add member": lambda d: f"added {d.get('member', 'a member')}",
    "remove member": lambda d: f"removed {d.get('member', 'a member')}",
    "remove from project": lambda d: f"removed {d.get('member', 'a member')} from the project",
    "set role": lambda d: f"gave {d.get('member', 'a member')} the role {d.get('role', '')}",
    "make operator": lambda d: f"made {d.get('member', 'a member')} an operator",
    "no more operator": lambda d: f"took the rights of an operator from {d.get('member', 'a member')}",
}  # fmt: skip
SHOWN_KEYS = frozenset(  # that sentences have, and what is kept so that a change can be taken back
    {"items", "what", "format", "worker", "workers", "invitation", "kind", "address", "item", "number",
     "votes", "n", "submissions", "sandbox", "amount", "currency", "reward", "places",
     "total", "before", "after", "undoes",
     "server"}
)  # fmt: skip


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
