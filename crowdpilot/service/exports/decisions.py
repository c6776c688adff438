"""Decisions of a project as a table: labels, probabilities, the majority of votes, and what each rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid import Campaign, Decisions
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row

BY_EXPERT = "expert"  # of `Decisions.decided_by`


class ProjectDecisions(NamedTuple):
    """Decisions and known classes, as they are now."""

    decisions: Decisions
    gold: Codes  # of each item, -1 where it is not known
    classes: Sequence[str]
    majority: Codes  # of the votes on each item, -1 where there is none

    @property
    def labels(self) -> list[str]:
        """The label of each item."""
        return [str(label) for label in self.decisions.labels.tolist()]

    @property
    def probability(self) -> Floats:
        """Of the label of each item."""
        codes = np.minimum(self.decisions.codes, self.decisions.probs.shape[1] - 1)
        chosen: Floats = self.decisions.probs[np.arange(len(codes)), codes]
        return chosen


def project_decisions(replica: Replica, _: Row) -> ProjectDecisions:
    """The decisions of a project."""
    campaign = replica.campaign
    now = campaign.decide()
    items = campaign.view.items()
    gold = items.gold[~items.withdrawn]
    known = gold[:, 0]
    if campaign.has_criteria:  # out if one criterion does not hold, in if all do
        known = np.where((gold == 0).any(axis=1), 0, np.where((gold == 1).all(axis=1), 1, -1))
    names = [str(name) for name in campaign.classes.tolist()]
    return ProjectDecisions(now, known, names, _majority(campaign)[~items.withdrawn])


def _majority(campaign: Campaign) -> Codes:
    """The class with the most votes on each item, (items,); -1 without votes, and where classes tie.

    With criteria: out if one criterion does not hold, in if all do.
    """
    by_criterion = []
    for criterion in campaign.criteria:
        tally = campaign.view.votes(criterion).tally()
        most = tally.max(axis=1, initial=0)
        is_clear = (most > 0) & ((tally == most[:, None]).sum(axis=1) == 1)
        by_criterion.append(np.where(is_clear, tally.argmax(axis=1), -1).astype(np.int32))
    if not campaign.has_criteria:
        return by_criterion[0]
    each = np.stack(by_criterion, axis=1)
    both = np.where((each == 0).any(axis=1), 0, np.where((each == 1).all(axis=1), 1, -1))
    return both.astype(np.int32)


def decisions_table(decisions: ProjectDecisions) -> pa.Table:
    """A row for each item: label, probabilities, expected cost, votes, gold, majority, what it rests on."""
    now, classes = decisions.decisions, decisions.classes
    probs = {f"p_{name}": pa.array(now.probs[:, k]) for k, name in enumerate(classes)}
    return pa.table(
        {
            "item": pa.array([str(name) for name in now.items.tolist()], pa.string()),
            "label": pa.array(decisions.labels, pa.string()),
            **probs,
            "expected": pa.array(now.expected),
            "votes": pa.array(now.votes),
            "done": pa.array(now.done),
            "gold": _names(decisions.gold, classes),
            "decided_by": pa.array([str(reason) for reason in now.decided_by.tolist()], pa.string()),
            "majority": _names(decisions.majority, classes),
            "probability": pa.array(decisions.probability),
            "overridden": pa.array(now.decided_by == BY_EXPERT),
        }
    )


def _names(codes: Codes, classes: Sequence[str]) -> pa.Array:
    return pa.array([None if code < 0 else classes[code] for code in codes.tolist()], pa.string())
