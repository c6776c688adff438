"""Share: how many answers an assignment asks for, how long they take, and what they pay."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.labelling.finishing import answers_needed
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.store import items, votes
from crowdpilot.service.store.engine import Row

TIMED_VOTES = 200  # the last votes, whose median is the expected time of an answer
MIN_TIMED_VOTES = 10  # below which it says little
SAMPLED_ITEMS = 20  # by which the time is guessed before there are votes
DECIDING_SECONDS = 3.0  # of an answer, besides reading
LOOKING_SECONDS = 2.0  # at an image
PLAYING_SECONDS = 20.0  # of a sound or a video
CHARACTERS_PER_SECOND = 20.0  # of somebody who reads


class Share(NamedTuple):
    """What is asked of a worker in one assignment, and in return; `pay` is None where none is said."""

    answers: int
    seconds: float  # in all
    pay: float | None
    currency: str

    @property
    def minutes(self) -> int:
        """The expected minutes, at least one."""
        return max(1, round(self.seconds / 60))


def share_size(c: Connection, project: Row) -> int:
    """How many answers an assignment needs: as the project says, but never more than there can be."""
    spec = project.spec
    needed = min(answers_needed(spec), spec["plan"]["per_worker"] or answers_needed(spec))
    questions = len(spec["criteria"]) or 1
    return max(1, min(needed, questions * len(items.some_open(c, project.id, needed))))


def read_share(c: Connection, project: Row, platform: str, kind: str) -> Share:
    """The share of a worker of a kind, who comes from a platform."""
    size = share_size(c, project)
    return Share(
        size,
        size * answer_seconds(c, project),
        _pay(project.spec, platform, kind, size),
        project.spec["currency"],
    )


def answer_seconds(c: Connection, project: Row) -> float:
    """How long an answer takes: as measured, else as the project says, else by what the items are."""
    measured = votes.recent_seconds(c, project.id, TIMED_VOTES)
    if len(measured) >= MIN_TIMED_VOTES:
        return median(measured)
    if project.spec["seconds_per_answer"] is not None:
        return float(project.spec["seconds_per_answer"])
    sampled = items.contents(c, items.some_open(c, project.id, SAMPLED_ITEMS))
    return median(map(_guess_seconds, sampled.values())) if sampled else DECIDING_SECONDS


def _guess_seconds(content: Mapping[str, Any]) -> float:
    """How long somebody needs for an item, by its kind and length."""
    seconds = DECIDING_SECONDS + len(content.get("text") or "") / CHARACTERS_PER_SECOND
    if content.get("image"):
        seconds += LOOKING_SECONDS
    if content.get("audio") or content.get("video"):
        seconds += PLAYING_SECONDS
    return seconds


def _pay(spec: Mapping[str, Any], platform: str, kind: str, size: int) -> float | None:
    """What the platform pays for the share, else its price, if the project says in which currency.

    None for workers of MTurk: it pays the reward of the HIT, and shows it itself.
    """
    if not spec["currency"] or platform == "mturk":
        return None
    reward = (spec["prolific"] or {}).get("reward") if platform == "prolific" else None
    if reward is not None:
        return float(reward)
    priced = spec["costs"]["prices"] is not None
    return size * make_costs(spec).prices[kind] if priced else None
