"""Review changes: known classes, decisions of experts and requests for votes that a campaign has to follow.

A row of the database says how an item is reviewed now; a campaign is told what is different from before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdpilot.hybrid import Campaign
from crowdpilot.service.store.items import ChangedItem

Labels = dict[str, Any]  # of items by name: a class, or with criteria a mapping from their names to classes


class ReviewChanges:
    """What the campaign of a replica was told about its items.

    Parameters
    ----------
    campaign
        Of the replica.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._gold: Labels = {}
        self._overrides: Labels = {}
        self._requested: dict[str, int] = {}

    def add_gold(self, gold: Labels) -> Any:
        """The known classes of new items, as `Campaign.add` takes them."""
        self._gold |= gold
        return self._by_criterion(gold)

    def apply_gold(self, changed: Sequence[ChangedItem]) -> None:
        """Known classes that are new, others than before, or not known any more."""
        if different := self._differences(self._gold, {item.name: item.gold for item in changed}):
            self._campaign.reveal(self._by_criterion(different))

    def apply(self, changed: Sequence[ChangedItem]) -> None:
        """Decisions of experts, then requests for votes."""
        if different := self._differences(self._overrides, {item.name: item.override for item in changed}):
            self._campaign.override(self._by_criterion(different))
        wanted: dict[int, list[str]] = {}
        for item in changed:
            votes = item.votes_wanted or 0
            if votes != self._requested.pop(item.name, 0):
                wanted.setdefault(votes, []).append(item.name)
            if votes:
                self._requested[item.name] = votes
        for votes, names in wanted.items():
            self._campaign.request(names, votes)

    def _differences(self, before: Labels, now: Mapping[str, Any]) -> Labels:
        """Labels that differ from those before, None where there is none any more; these are noted."""
        changed = {}
        for name, label in now.items():
            old = before.pop(name, None)
            if label is not None:
                before[name] = label
            if isinstance(label, dict) or isinstance(old, dict):
                changed[name] = {**dict.fromkeys(old or {}), **(label or {})}
            elif label is not None or old is not None:
                changed[name] = label
        return changed

    def _by_criterion(self, labels: Labels) -> Any:
        if not self._campaign.has_criteria:
            return labels
        return {
            criterion: {name: known[criterion] for name, known in labels.items() if criterion in known}
            for criterion in self._campaign.criteria
        }
