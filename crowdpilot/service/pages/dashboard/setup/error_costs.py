"""Costs of wrong labels: as typed, in answers, and as the schema has them, in money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdpilot.service.pages.dashboard.setup.fields import (
    YES,
    Typed,
    plain_number,
    shortest,
    try_scaled,
)

DEFAULT_PRICE = 0.05  # as in `crowdpilot.hybrid.Costs`
Matrix = Sequence[Sequence[float]]


def unit(price: float | None) -> float:
    """What an answer costs, in money; where answers are free, errors are counted in answers."""
    return DEFAULT_PRICE if price is None else price or 1.0


def answer_price(prices: Mapping[str, float] | None) -> float | None:
    """The price of an answer of the crowd, or of whoever else is asked first."""
    return None if not prices else prices.get("crowd", next(iter(prices.values())))


def to_typed(errors: Matrix | None, price: float | None, classes: int) -> dict[str, str]:
    """The fields for a matrix of errors [true, decided]."""
    fields = {"wrong": "", "missed": "", "mistake": "", "table": "", "each": ""}
    if errors is None:
        return fields
    is_square = all(len(row) == classes == len(errors) for row in errors)
    has_free_hits = is_square and not any(errors[k][k] for k in range(classes))
    others = [cost for k, row in enumerate(errors) for d, cost in enumerate(row) if d != k]
    table = "\n".join(" ".join(_answers(cost, price) for cost in row) for row in errors)
    if not has_free_hits or (classes != 2 and len(set(others)) > 1):
        return {**fields, "table": table, "each": YES}
    fields["wrong"] = _answers(max(others), price)
    if classes == 2:
        fields |= {"mistake": _answers(errors[0][1], price), "missed": _answers(errors[1][0], price)}
    return fields


def _answers(cost: float, price: float | None) -> str:
    return shortest(cost, unit(price)) if cost else plain_number(0.0)


def parse(typed: Typed, price: float | None, classes: int) -> list[list[Any]] | None:
    """The matrix of errors in money, or None if nothing is typed; what is no number stays as it is."""
    if typed["each"] and typed["table"]:
        lines = [_cells(line, classes) for line in typed["table"].splitlines()]
        return [[_money(cell, price) for cell in line] for line in lines if line]
    missed, mistake = (typed[name] or typed["wrong"] for name in ("missed", "mistake"))
    if classes == 2 and missed and mistake:
        return [[0.0, _money(mistake, price)], [_money(missed, price), 0.0]]
    if classes < 2 or not typed["wrong"]:
        return None
    cost = _money(typed["wrong"], price)
    return [[0.0 if d == k else cost for d in range(classes)] for k in range(classes)]


def _cells(line: str, classes: int) -> list[str]:
    """The numbers in a line of a table; commas are decimal marks if there is a number for each class so.

    Examples
    --------
    >>> _cells("0 2,5", 2), _cells("0, 2.5", 2), _cells("0,2.5", 2), _cells("0;1,5;2", 3)
    (['0', '2.5'], ['0', '2.5'], ['0', '2.5'], ['0', '1.5', '2'])
    """
    cells = [cell.removesuffix(",").replace(",", ".") for cell in line.replace(";", " ").split()]
    return cells if len(cells) == classes else line.replace(",", " ").replace(";", " ").split()


def _money(text: str, price: float | None) -> Any:
    return try_scaled(text, unit(price))
