"""Messages: the e-mails and webhook payloads of notifications, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crowdpilot.service.jobs.notifications.reasons import SPENT
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.messages.notifications import BUDGET, DONE, STUCK, WORKER, Key

MAX_NAME_CHARACTERS = 80  # of a project, in a subject
MAX_WORKERS_LISTED = 20  # in one e-mail
WEBHOOK_EVENTS = {STUCK: "project.stuck", BUDGET: "project.budget", WORKER: "worker.flagged"}
FOOTER = "You get this because your address is in the settings of the project."


class Message(NamedTuple):
    """An e-mail without its recipient."""

    subject: str
    text: str


def one_line(text: str, most: int = MAX_NAME_CHARACTERS) -> str:
    r"""A text in one line without characters that are not shown, cut if it is long.

    Examples
    --------
    >>> one_line("Films\r\nBcc: eve@example.org")
    'Films Bcc: eve@example.org'
    """
    shown = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def write_messages(project: Row, new: Mapping[Key, Mapping[str, Any]], address: str) -> list[Message]:
    """The e-mails about new reasons: one for each event, where workers and stages of the budget share one."""
    name = one_line(project.name)
    currency = project.spec["currency"]
    messages = []
    for event, write in ((DONE, _done), (STUCK, _stuck), (BUDGET, _budget), (WORKER, _workers)):
        facts = {about: fact for (kind, about), fact in new.items() if kind == event}
        if facts:
            title, lines, page = write(facts, currency)
            messages.append(_message(name, title, lines, f"{address}/projects/{project.id}{page}"))
    return messages


def make_test_message(project: Row, address: str) -> Message:
    """An e-mail that says that e-mails arrive."""
    lines = ["This is a test. E-mails about this project arrive at this address."]
    return _message(one_line(project.name), "test", lines, f"{address}/projects/{project.id}")


def _message(name: str, title: str, lines: Sequence[str], link: str) -> Message:
    body = [f"Project: {name}", "", *lines, "", link, "", "-- ", FOOTER, ""]
    return Message(f"{name}: {title}", "\n".join(body))


Written = tuple[str, list[str], str]  # the title, lines, and the page of the project that shows more


def _done(facts: Mapping[str, Mapping[str, Any]], currency: str) -> Written:
    (about,) = facts.values()
    lines = [
        "The project is finished: its items are decided, and nobody is asked any more.",
        f"{about['items']:,} items, {about['votes']:,} answers. "
        f"Workers have earned {_money(about['spent'], currency)}.",
        "You can export the labels, open the report, and see under Workers who is to be paid.",
    ]
    return "finished", lines, "/export"


def _stuck(facts: Mapping[str, Mapping[str, Any]], _: str) -> Written:
    (about,) = facts.values()
    open_items = "1 item still needs" if about["open"] == 1 else f"{about['open']:,} items still need"
    if "per_worker" in about:
        why = f"Every worker has given {about['per_worker']:,} answers, which is the most one may give."
        what = "Invite more workers, or raise the limit in the settings."
    else:
        why = f"Nobody has answered for {about['hours']:,} hours."
        what = "Invite more workers, or check that the links you sent still work."
    return "no answers are coming in", [why, f"{open_items} answers.", what], "/recruiting"


def _budget(facts: Mapping[str, Mapping[str, Any]], currency: str) -> Written:
    about = next(iter(facts.values()))
    spent, budget = _money(about["spent"], currency), _money(about["budget"], currency)
    if SPENT in facts:
        lines = [
            f"The budget is spent: {spent} of {budget}.",
            "Workers get no further items. Raise the budget in the settings, or stop the project and export.",
        ]
        return "the budget is spent", lines, "/settings"
    share = 100 * about["spent"] / about["budget"] if about["budget"] else 100
    lines = [f"{share:.0f} % of the budget is spent: {spent} of {budget}.",
             "When it is spent, workers get no further items."]  # fmt: skip
    return "the budget is nearly spent", lines, "/settings"


def _workers(facts: Mapping[str, Mapping[str, Any]], _: str) -> Written:
    about = list(facts.values())
    lines = [
        f"Worker {fact['worker']} ({fact['votes']:,} answers): {'; '.join(fact['why'])}."
        for fact in about[:MAX_WORKERS_LISTED]
    ]
    if len(about) > MAX_WORKERS_LISTED:
        lines.append(f"And {len(about) - MAX_WORKERS_LISTED:,} more.")
    title = "please look at a worker" if len(about) == 1 else f"please look at {len(about):,} workers"
    return title, [*lines, "Look at their answers before you block anybody."], "/workers"


def _money(amount: float, currency: str) -> str:
    return f"{currency} {amount:,.2f}".strip()


def webhook_payload(project: Row, key: Key, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the webhook of a project gets about a reason."""
    event, about = key
    stage = {"stage": about} if event == BUDGET else {}
    return {"project": project.id, "name": project.name, **stage, **facts}
