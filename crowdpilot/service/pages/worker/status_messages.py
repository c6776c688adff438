"""Messages for workers who have nothing to label: paused, closed, blocked, quiz failed and so on."""

from __future__ import annotations

from typing import Any, NamedTuple

from crowdpilot.service.pages.worker.progress import Visit

FINISH_WORDS = "Finish and see my code"


class Message(NamedTuple):
    """What a page says; an action is a link (`href`) or a button (`post`) with its words."""

    kind: str  # the icon
    tone: str
    title: str
    words: list[str]  # paragraphs
    actions: list[dict[str, str]]


def status_message(state: str, now: Visit) -> dict[str, Any]:
    """The data of the page for a worker in this state."""
    return MESSAGES[state](now)._asdict()


def _saved(now: Visit) -> str:
    done = now.done
    return {0: "", 1: "Your answer is saved."}.get(done, f"All your {done} answers are saved.")


def _paragraphs(*paragraphs: str) -> list[str]:
    return [paragraph for paragraph in paragraphs if paragraph]


def _finish(now: Visit, words: str = FINISH_WORDS) -> list[dict[str, str]]:
    return [{"words": words, "post": f"{now.home}/finish"}] if now.answers.labelled else []


def _until_finish(now: Visit) -> str:
    """How many answers are missing until the worker can finish."""
    if not now.needed:
        return ""
    needed = now.answers.labelled + now.needed
    return f"{now.answers.labelled} of {needed} answers until you can finish and see your code."


def _sign_out(now: Visit) -> dict[str, str]:
    return {"words": "Sign out", "post": f"{now.home}/sign-out"}


def _away(now: Visit) -> Message:
    back = "Come back at any time through the same link, or carry on right now."
    finish = [] if now.needed else _finish(now)
    actions = [{"words": "Carry on", "href": f"{now.home}/label"}, *finish, _sign_out(now)]
    words = _paragraphs(_saved(now), _until_finish(now), back)
    return Message("pause", "", "You are on a break", words, actions)


def _left(now: Visit) -> Message:
    words = "You are signed out everywhere. Open the link to the project again to come back."
    return Message("hand", "", "Signed out", _paragraphs(_saved(now), words), [])


def _nothing(now: Visit) -> Message:
    look = {"words": "Look again", "href": f"{now.home}/label"}
    undo = {"words": "Change my last answer", "post": f"{now.home}/undo"}
    if now.project.done and now.done:
        words = _paragraphs(_saved(now), "Thank you for your help.")
        return Message("flag", "good", "Everything is labelled", words, [*_finish(now), look])
    actions = [look, *_finish(now), undo] if now.done else [look]
    return Message(
        "search",
        "",
        "Nothing to do right now",
        _paragraphs(_saved(now), "There may be more in a minute."),
        actions,
    )


def _paused(now: Visit) -> Message:
    words = "The project takes a break. Come back later through the same link."
    actions = [{"words": "Look again", "href": now.home}, *_finish(now)]
    return Message("clock", "", "Paused for now", _paragraphs(_saved(now), words), actions)


def _closed(now: Visit) -> Message:
    words = "No more answers are needed. Thank you."
    return Message(
        "flag", "", "This project is closed", _paragraphs(_saved(now), words), _finish(now, "See my code")
    )


def _blocked(now: Visit) -> Message:
    words = (
        "You cannot work on this project any more. Ask the person who invited you if you think this is wrong."
    )
    return Message("lock", "warn", "You cannot go on here", _paragraphs(_saved(now), words), [])


def _failed(now: Visit) -> Message:
    words = "You have used all tries at the quiz, so you cannot take part in this project."
    return Message("book", "warn", "The quiz was not passed", _paragraphs(words, _leave(now)), [])


def _declined(now: Visit) -> Message:
    words = "That is fine. You see no items, and no answer was stored."
    again = [{"words": "Read it again", "href": f"{now.home}/consent"}]
    return Message("hand", "", "You did not agree", _paragraphs(words, _leave(now)), again)


def _leave(now: Visit) -> str:
    """What the platform asks of those who do not take part."""
    ways = {"prolific": "Please return the study on Prolific.", "mturk": "Please return the HIT on MTurk."}
    return ways.get(now.session.platform, "You can close this page.")


MESSAGES = {
    "away": _away,
    "left": _left,
    "nothing": _nothing,
    "paused": _paused,
    "closed": _closed,
    "blocked": _blocked,
    "failed": _failed,
    "declined": _declined,
}
