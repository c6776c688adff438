"""Ask and Decisions: a vote that a campaign asks for, and its decisions about all items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.hybrid.campaign.acquisition import joint_posterior, with_overrides
from crowdpilot.hybrid.campaign.estimates import ItemTable
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.policy import SOURCES, Evidence, Policy
from crowdpilot.names import to_names
from crowdpilot.notebook_html import bars, histogram, panel, table

DECIDED_BY = (*SOURCES, "gold", "expert")  # in the order of their weight


class Ask(NamedTuple):
    """A vote to be asked for: on an item and, where there are criteria, on one of them."""

    item: Any
    criterion: str = ""


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decision about each item that was not withdrawn, with its probability and expected cost."""

    items: Names
    codes: Codes
    labels: Names
    probs: Floats  # the posterior, (items, classes)
    expected: Floats  # expected cost of the decision
    votes: Codes
    done: NDArray[np.bool_]  # whether no further vote is worth its price, and none is pending
    decided_by: Names  # the last of `DECIDED_BY` that the decision rests on

    def __len__(self) -> int:
        return len(self.items)

    def only(self, which: NDArray[np.bool_]) -> Decisions:
        """Those about some items."""
        return Decisions(**{f.name: getattr(self, f.name)[which] for f in fields(self)})

    def _repr_html_(self) -> str:
        names, which = np.unique(self.labels.astype(str), return_inverse=True)
        sparks = [
            histogram(self.votes, "votes per item"),
            histogram(self.expected, "expected cost"),
            bars(np.bincount(which, minlength=len(names)), names, "decisions"),
        ]
        columns = {
            "item": self.items, "label": self.labels, "expected cost": self.expected, "votes": self.votes,
            "done": self.done, "decided by": self.decided_by,
        }  # fmt: skip
        return panel("Decisions", f"about {len(self):,} items", table(columns), sparks=sparks)


def decision_posterior(policy: Policy, evidence: Sequence[Evidence], override: Codes) -> Floats:
    """The posterior that decisions use, from the evidence of each question and overrides (items, questions).

    It is (items, classes); with criteria (items, out and in).
    """
    by_question = [policy.final_posterior(each) for each in evidence]
    return joint_posterior(with_overrides(by_question, override))


def make_decisions(
    policy: Policy, evidence: Sequence[Evidence], costs: Costs, classes: Names, items: ItemTable
) -> Decisions:
    """The decision with the least expected cost about every item that is not withdrawn.

    Parameters
    ----------
    policy, evidence
        By which decisions are made, and what it uses for each question.
    costs
        Of errors.
    classes
        Names of the classes; decisions that are no classes are known by number.
    items
        States of all items.
    """
    kept = np.flatnonzero(~items.withdrawn)
    probs = decision_posterior(policy, evidence, items.override)[kept]
    override = items.override[kept]
    is_final = (items.final[kept] >= 0) & (override < 0).all(axis=1)
    codes = np.where(is_final, items.final[kept], costs.decide(probs)).astype(np.int32)
    if override.shape[1] == 1 and costs.errors.shape[1] == len(classes):
        codes = np.where(override[:, 0] >= 0, override[:, 0], codes).astype(np.int32)
    cost = (probs @ costs.errors)[np.arange(len(kept)), codes]
    labels = classes[codes] if costs.errors.shape[1] == len(classes) else codes
    votes = items.votes.sum(axis=1)[kept].astype(np.int32)
    sources = np.max([policy.sources(each) for each in evidence], axis=0)
    reasons = np.asarray(DECIDED_BY)[_reasons(items, sources)[kept]]
    return Decisions(
        to_names(items.names)[kept], codes, labels, probs, cost, votes, items.done[kept], to_names(reasons)
    )


def _reasons(items: ItemTable, sources: Codes) -> Codes:
    """For each item the number of the last of `DECIDED_BY` that holds; gold if all criteria are known."""
    is_gold, is_overridden = (items.gold >= 0).all(axis=1), (items.override >= 0).any(axis=1)
    numbers = DECIDED_BY.index("gold"), DECIDED_BY.index("expert")
    return np.select([is_overridden, is_gold], numbers[::-1], sources).astype(np.int32)
