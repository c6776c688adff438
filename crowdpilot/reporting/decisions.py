"""Decisions of a campaign in the report: all items, also those without votes, with the majority of votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.reporting.formatting import count
from crowdpilot.reporting.tables import Column, embed_table
from crowdpilot.reporting.task_content import Images, TaskContent, read_task_content

MAX_CARDS = 12
DECIDED_BY = {  # what a label rests on, in words
    "votes": "by votes", "classifier": "by the classifier alone", "gold": "known beforehand",
    "expert": "by an expert, who overrode it", "prior": "by the class frequencies alone",
}  # fmt: skip
COLUMNS = {
    "item": Column("item", "Name of the item", "text"),
    "label": Column("label", "The decision", "text"),
    "probability": Column("probability", "Of the label", "share"),
    "majority": Column("majority", "The class with most votes; empty without votes and in a tie", "text"),
    "votes": Column("votes", "Number of votes", "whole"),
    "decided": Column("decided", "What the label rests on", "text"),
}


class ItemDecisions(NamedTuple):
    """Decisions about items, (items,) each."""

    items: Names
    labels: Names
    probability: Floats
    majority: Names  # a class, or empty
    votes: Codes
    decided_by: Names  # keys of `DECIDED_BY`


class DecisionCard(NamedTuple):
    """An item whose label is not what most workers chose, or that an expert overrode."""

    item: str
    label: str
    probability: float
    majority: str
    votes: int
    decided: str
    overridden: bool
    content: TaskContent


class DecisionSection(NamedTuple):
    """What the report says about decisions."""

    counts: list[tuple[str, int]]  # what labels rest on, and how many
    total: str
    table: Markup
    cards: list[DecisionCard]
    voteless: int  # items that nobody voted on
    differing: int  # items whose label is not what most workers chose


def make_section(
    decisions: ItemDecisions, texts: Mapping[Any, Any] | None, images: Images | None
) -> DecisionSection:
    """The section about all decisions of a project."""
    differs = (decisions.majority != "") & (decisions.majority != decisions.labels)
    overridden = decisions.decided_by == "expert"
    words = np.asarray([DECIDED_BY.get(str(why), str(why)) for why in decisions.decided_by], object)
    columns = {
        "item": decisions.items, "label": decisions.labels, "probability": decisions.probability,
        "majority": decisions.majority, "votes": decisions.votes, "decided": words,
    }  # fmt: skip
    order = np.lexsort((decisions.probability, ~overridden, ~differs))
    counts = [(name, int((decisions.decided_by == why).sum())) for why, name in DECIDED_BY.items()]
    shown = [row for row in order.tolist() if differs[row] or overridden[row]][:MAX_CARDS]
    contents = read_task_content([decisions.items[row] for row in shown], texts, images)
    cards = [
        DecisionCard(
            str(decisions.items[row]), str(decisions.labels[row]), float(decisions.probability[row]),
            str(decisions.majority[row]), int(decisions.votes[row]), str(words[row]), bool(overridden[row]),
            content,
        )
        for row, content in zip(shown, contents, strict=True)
    ]  # fmt: skip
    return DecisionSection(
        [(name, n) for name, n in counts if n], count(len(decisions.items), "item"),
        embed_table(columns, COLUMNS, differs | overridden, order), cards, int((decisions.votes == 0).sum()),
        int(differs.sum()),
    )  # fmt: skip
