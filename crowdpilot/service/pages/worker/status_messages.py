"""Messages for workers who have nothing to label: study complete, nothing now, quiz failed and so on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from crowdpilot.service.pages.languages import format_number, ngettext
from crowdpilot.service.pages.languages import gettext as _
from crowdpilot.service.pages.worker.progress import Newcomer, Visit
from crowdpilot.service.platforms import prolific

LOOK_SECONDS = 5  # after which a page that waits looks again
Reader = Visit | Newcomer


class Message(NamedTuple):
    """What a page says; an action has words and is a link (`href`, or `address`) or a button (`post`)."""

    kind: str  # the icon
    tone: str
    title: str
    words: list[str]  # paragraphs
    actions: list[dict[str, str]]
    look: int = 0  # seconds after which the page looks again by itself; 0: never


def status_message(state: str, now: Reader) -> dict[str, Any]:
    """The data of the page for a worker in this state."""
    return MESSAGES[state](now)._asdict()


def waiting_message(now: Reader, seconds: float | None) -> dict[str, Any]:
    """The data of the page while there is nothing: leases of others end in so many seconds, if any do."""
    if seconds is None:
        why = _("It is being worked out whether more answers are needed. That takes a moment.")
    elif seconds <= 60:
        why = _("Other people have all open items. What one of them leaves is free within a minute.")
    else:
        why = ngettext(
            "Other people have all open items. What one of them leaves is free within %(num)s minute.",
            "Other people have all open items. What one of them leaves is free within %(num)s minutes.",
            math.ceil(seconds / 60),
        )
    words = _paragraphs(_saved(now), why, _looks_again(), _may_stop(now))
    return Message("clock", "", _("Nothing to do right now"), words, _finish(now), LOOK_SECONDS)._asdict()


def _saved(now: Reader) -> str:
    if not now.done:
        return ""
    return ngettext("Your answer is saved.", "All your %(num)s answers are saved.", now.done)


def _paragraphs(*paragraphs: str) -> list[str]:
    return [paragraph for paragraph in paragraphs if paragraph]


def _looks_again() -> str:
    return ngettext(
        "This page looks again every %(num)s second and goes on by itself.",
        "This page looks again every %(num)s seconds and goes on by itself.",
        LOOK_SECONDS,
    )


def _may_stop(now: Reader) -> str:
    return _("You can also stop here and take your code.") if now.labelled else ""


def _finish(now: Reader) -> list[dict[str, str]]:
    return [{"words": _("Finish and see my code"), "post": f"{now.home}/finish"}] if now.labelled else []


def _until_finish(now: Reader) -> str:
    """How many answers are missing until the worker can finish."""
    if not now.needed:
        return ""
    return ngettext(
        "%(labelled)s of %(num)s answer until you can finish and see your code.",
        "%(labelled)s of %(num)s answers until you can finish and see your code.",
        now.labelled + now.needed,
        labelled=format_number(now.labelled),
    )


def _sign_out(now: Reader) -> dict[str, str]:
    return {"words": _("Sign out"), "post": f"{now.home}/sign-out"}


def _break(now: Reader, title: str, *words: str) -> Message:
    finish = [] if now.needed else _finish(now)
    actions = [{"words": _("Carry on"), "href": f"{now.home}/label"}, *finish, _sign_out(now)]
    return Message("pause", "", title, _paragraphs(_saved(now), _until_finish(now), *words), actions)


def _on_break(now: Reader) -> Message:
    back = _("Come back at any time through the same link, or carry on right now.")
    return _break(now, _("You are on a break"), back)


def _away(now: Reader) -> Message:
    words = _("You were away for a while, so the items that you had not answered went to other people.")
    return _break(now, _("Welcome back"), words)


def _left(now: Reader) -> Message:
    words = _("You are signed out everywhere. Open the link to the project again to come back.")
    return Message("hand", "", _("Signed out"), _paragraphs(_saved(now), words), [])


def _paused(now: Reader) -> Message:
    words = _("The project takes a break. Keep this page open, or come back later through the same link.")
    paragraphs = _paragraphs(_saved(now), words, _looks_again(), _may_stop(now))
    return Message("clock", "", _("Paused for now"), paragraphs, _finish(now), LOOK_SECONDS)


def _complete(now: Reader) -> Message:
    """The study needs no more answers, and the worker has given none that a code is for."""
    words = _("No more answers are needed. Thank you for your interest.")
    code = _study_code(now, "code_complete")
    leave = "" if code else _leave(now)
    actions = _back_to_prolific(code)
    return Message("flag", "good", _("The study is complete"), _paragraphs(words, leave), actions)


def _full(now: Reader) -> Message:
    words = _("As many people as can take part have come already. Thank you for your interest.")
    return Message("flag", "", _("The study is full"), _paragraphs(words, _leave(now)), [])


def _blocked(now: Reader) -> Message:
    words = _(
        "You cannot work on this project any more. Ask the person who invited you if you think this is wrong."
    )
    return Message("lock", "warn", _("You cannot go on here"), _paragraphs(_saved(now), words), [])


def _failed(now: Reader) -> Message:
    words = _("You have used all tries at the quiz, so you cannot take part in this project.")
    code = _study_code(now, "code_failed")
    leave = "" if code else _leave(now)
    actions = _back_to_prolific(code)
    return Message("book", "warn", _("The quiz was not passed"), _paragraphs(words, leave), actions)


def _declined(now: Reader) -> Message:
    words = _("That is fine. You see no items, and no answer was stored.")
    again = [{"words": _("Read it again"), "href": f"{now.home}/consent"}]
    return Message("hand", "", _("You did not agree"), _paragraphs(words, _leave(now)), again)


def _study_code(now: Reader, name: str) -> str:
    """A completion code of the study on Prolific; empty elsewhere, or if it has none of this name."""
    study = now.spec["prolific"] if now.platform_name == "prolific" else None
    return str((study or {}).get(name) or "")


def _back_to_prolific(code: str) -> list[dict[str, str]]:
    if not code:
        return []
    words = _("Back to %(platform)s", platform=prolific.PLATFORM.title)
    return [{"words": words, "address": prolific.completion_url(code)}]


def _leave(now: Reader) -> str:
    """What the platform asks of those who do not take part."""
    ways = {
        "prolific": _("Please return your submission on Prolific."),
        "mturk": _("Please return the HIT on MTurk."),
    }
    return ways.get(now.platform_name, _("You can close this page."))


MESSAGES: dict[str, Callable[[Reader], Message]] = {
    "break": _on_break,
    "away": _away,
    "left": _left,
    "paused": _paused,
    "complete": _complete,
    "full": _full,
    "blocked": _blocked,
    "failed": _failed,
    "declined": _declined,
}
