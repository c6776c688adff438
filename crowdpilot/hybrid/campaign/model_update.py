"""Lessons: what a refit has learned of workers and machine, as plain data that travels between processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdpilot.confusion_matrices import hear
from crowdpilot.hybrid.campaign.online_update import recount
from crowdpilot.json_values import pack, unpack

if TYPE_CHECKING:
    from crowdpilot.hybrid.campaign.campaign import Campaign

LEARNED = ("common", "logs", "prior", "bold")  # by a question
CURVE = ("reached", "training", "curve")  # by the whole campaign


def written(campaign: Campaign) -> dict[str, Any]:
    """What the last refit has learned."""
    questions = [{name: pack(getattr(q, name)) for name in LEARNED} for q in campaign.questions]
    machine = [pack(q.machine if campaign.learner is not None else None) for q in campaign.questions]
    curve = {name: pack(getattr(campaign.wishes, name)) for name in CURVE}
    return {"questions": questions, "machine": machine, **curve}


def take(campaign: Campaign, lesson: Mapping[str, Any], weigh: bool) -> None:
    """Believe of items what the lesson and all votes heard so far say together.

    Items that are newer than the lesson get what its machine says on average, as new items do; new
    workers are taken to be like the others of their kind.
    """
    for question, learned, machine in zip(
        campaign.questions, lesson["questions"], lesson["machine"], strict=True
    ):
        for name in LEARNED:
            setattr(question, name, unpack(learned[name]))
        new = question.kind[len(question.logs) :]
        question.logs = np.concatenate([question.logs, np.log(question.common[new])])
        if machine is not None:
            said = unpack(machine)
            rest = np.tile(said.mean(axis=0), (len(question.gold) - len(said), 1))
            question.machine = np.concatenate([said, rest])
        question.heard = hear(question.votes(), question.logs)
        question.believe(np.arange(len(question.gold)))
        if question.plan.follow:
            recount(question)
    for name in CURVE:
        setattr(campaign.wishes, name, unpack(lesson[name]))
    if weigh:
        campaign.wishes.weigh(np.arange(len(campaign.pool)))
