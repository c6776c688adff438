"""States in which a worker has nothing to label, in plain words and with what they can do."""

from __future__ import annotations

from typing import Any

from crowdpilot.service.pages.worker.progress import Visit

FINISH = "Finish and see my code"


def state(name: str, now: Visit) -> dict[str, Any]:
    """What the page says to a worker in this state."""
    kind, tone, title, words, actions = STATES[name](now)
    return {"kind": kind, "tone": tone, "title": title, "words": words, "actions": actions}


Told = tuple[str, str, str, list[str], list[dict[str, str]]]  # icon, tone, title, paragraphs, actions


def _saved(now: Visit) -> str:
    done = now.done
    return {0: "", 1: "Your answer is saved."}.get(done, f"All your {done} answers are saved.")


def _said(*paragraphs: str) -> list[str]:
    return [paragraph for paragraph in paragraphs if paragraph]


def _finish(now: Visit, words: str = FINISH) -> list[dict[str, str]]:
    return [{"words": words, "post": f"{now.home}/finish"}] if now.done else []


def _away(now: Visit) -> Told:
    back = "Come back at any time through the same link, or carry on right now."
    actions = [{"words": "Carry on", "href": f"{now.home}/label"}, *_finish(now)]
    return "pause", "", "You are taking a break", _said(_saved(now), back), actions


def _nothing(now: Visit) -> Told:
    look = {"words": "Look again", "href": f"{now.home}/label"}
    undo = {"words": "Change my last answer", "post": f"{now.home}/undo"}
    if now.project.done and now.done:
        words = _said(_saved(now), "Thank you for your help.")
        return "flag", "good", "Everything is labelled", words, [*_finish(now), look]
    actions = [look, *_finish(now), undo] if now.done else [look]
    return (
        "search",
        "",
        "Nothing to do right now",
        _said(_saved(now), "There may be more in a minute."),
        actions,
    )


def _paused(now: Visit) -> Told:
    words = "The project takes a break. Come back later through the same link."
    actions = [{"words": "Look again", "href": now.home}, *_finish(now)]
    return "clock", "", "Paused for now", _said(_saved(now), words), actions


def _closed(now: Visit) -> Told:
    words = "No more answers are needed. Thank you."
    return "flag", "", "This project is closed", _said(_saved(now), words), _finish(now, "See my code")


def _blocked(now: Visit) -> Told:
    words = (
        "You cannot work on this project any more. Ask the person who invited you if you think this is wrong."
    )
    return "lock", "warn", "You cannot go on here", _said(_saved(now), words), []


def _failed(now: Visit) -> Told:
    words = "You have used all tries at the quiz, so you cannot take part in this project."
    return "book", "warn", "The quiz was not passed", _said(words, _leave(now)), []


def _declined(now: Visit) -> Told:
    words = "That is fine. You see no items, and no answer was stored."
    again = [{"words": "Read it again", "href": f"{now.home}/consent"}]
    return "hand", "", "You did not agree", _said(words, _leave(now)), again


def _leave(now: Visit) -> str:
    """What the platform wants of those who do not take part."""
    ways = {"prolific": "Please return the study on Prolific.", "mturk": "Please return the HIT on MTurk."}
    return ways.get(now.session.platform, "You can close this page.")


STATES = {
    "away": _away,
    "nothing": _nothing,
    "paused": _paused,
    "closed": _closed,
    "blocked": _blocked,
    "failed": _failed,
    "declined": _declined,
}
