"""Workers: the workers of a campaign by name and by number, their kinds, and what each was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.json_values import pack, unpack

Cell = tuple[int, int]  # (question, row of the item): one vote that may be asked for


class Workers:
    """Workers, each of one kind, and the cells that each was asked about.

    Parameters
    ----------
    kinds
        Names of the kinds; a worker is of the first unless registered otherwise.
    questions
        Each new worker is added to these, with the confusion matrix of their kind.
    """

    def __init__(self, kinds: list[str], questions: Sequence[Question]) -> None:
        self.kinds, self._questions = kinds, questions
        self.names: list[Any] = []
        self.kind: list[int] = []
        self.number_of: dict[Any, int] = {}
        self.asked: list[set[Cell]] = []  # leased to or answered by each worker: never asked again
        self.asked_count: list[int] = []  # the same as a number, with cells of dropped items
        self.votes_by_kind = [0] * len(kinds)

    def register(self, name: Any, kind: str | None = None) -> int:
        """The number of a worker, who is added if new: of this kind, or of the first one.

        A worker keeps the kind of the first registration; another one raises ValueError.
        """
        check_name(name)
        code = self.kind_code(self.kinds[0] if kind is None else kind)
        if name in self.number_of:
            worker = self.number_of[name]
            if kind is not None and self.kind[worker] != code:
                known = self.kinds[self.kind[worker]]
                raise ValueError(f"worker {name!r} is of the kind '{known}', not '{kind}'")
            return worker
        self.number_of[name] = len(self.names)
        self.names.append(name)
        self.kind.append(code)
        self.asked.append(set())
        self.asked_count.append(0)
        for question in self._questions:
            question.add_worker(code)
        return self.number_of[name]

    def kind_code(self, kind: str) -> int:
        """The number of a kind; ValueError if it has no price."""
        if kind not in self.kinds:
            known = ", ".join(f"'{k}'" for k in self.kinds)
            raise ValueError(f"there is no price for the kind of worker '{kind}'; there are {known}")
        return self.kinds.index(kind)

    def mark_asked(self, worker: int, cell: Cell) -> None:
        """Record that a worker was asked about a cell, or voted on it unasked."""
        if cell not in self.asked[worker]:
            self.asked[worker].add(cell)
            self.asked_count[worker] += 1

    def unmark_asked(self, worker: int, cells: set[Cell]) -> None:
        """Allow a worker to be asked about these cells again."""
        self.asked_count[worker] -= len(cells & self.asked[worker])
        self.asked[worker] -= cells

    def renumber_items(self, new_row: list[int]) -> None:
        """Items have new rows, -1 where they were dropped."""
        self.asked = [{(q, new_row[row]) for q, row in cells if new_row[row] >= 0} for cells in self.asked]

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        return {
            "names": pack(self.names),
            "kind": pack(self.kind),
            "asked": pack(self.asked),
            "asked_count": pack(self.asked_count),
            "votes_by_kind": pack(self.votes_by_kind),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned."""
        self.names = unpack(state["names"])
        self.number_of = {name: n for n, name in enumerate(self.names)}
        self.kind = unpack(state["kind"])
        self.asked = unpack(state["asked"])
        self.asked_count = unpack(state["asked_count"])
        self.votes_by_kind = unpack(state["votes_by_kind"])


def check_name(worker: Any) -> None:
    """Raise ValueError if a name cannot be a dictionary key."""
    try:
        hash(worker)
    except TypeError:
        raise ValueError(f"{worker!r} cannot be the name of a worker; texts and numbers can") from None
