"""Costs from a text such as `fp=1,fn=5,crowd=0.05`, as people type them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.costs import Costs

EXAMPLE = "expected NAME=NUMBER with commas between, such as fp=1,fn=5,crowd=0.05"


def as_costs(costs: Any, classes: int) -> Costs:
    """Costs from `Costs`, a text as for `parse_costs`, a dict of the same, or a matrix of error costs."""
    if isinstance(costs, Costs):
        return costs
    if isinstance(costs, Mapping):
        costs = ",".join(f"{name}={value}" for name, value in costs.items())
    if isinstance(costs, str):
        return parse_costs(costs, classes)
    if np.shape(costs) == (classes, classes):
        return Costs(np.asarray(costs, np.float64))
    raise ValueError(f"costs is {costs!r}, expected Costs, or a text such as 'fp=1,fn=5,crowd=0.05'")


def parse_costs(text: str, classes: int, *, option: str = "costs") -> Costs:
    """Costs from a text such as `fp=1,fn=5,crowd=0.05`.

    Parameters
    ----------
    text
        Names and numbers: `fp` and `fn` for two classes, `error` for any mistake, or `matrix` with a
        CSV file that has a header of classes and a row for each true class; `classifier` and `budget`;
        any other name is the price of a vote by that kind of worker.
    classes
        How many there are.
    option
        How errors call the text.

    Examples
    --------
    >>> parse_costs("fp=1, fn=5, expert=2", 2).errors.tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    try:
        return _parse(text, classes)
    except _TextError as error:
        raise ValueError(f"{option} has {error}") from None


class _TextError(ValueError):
    """What a text of costs has and should not have."""


def _parse(text: str, classes: int) -> Costs:
    values = dict(_pairs(text))
    if "matrix" in values:
        errors = _matrix(Path(values.pop("matrix")), classes)
        if wrong := {"fp", "fn", "error"} & values.keys():
            raise _TextError(f"both matrix and {min(wrong)}, expected one of them")
    else:
        errors = _errors(values, classes)
    numbers = {name: _number(name, value) for name, value in values.items()}
    classifier, budget = numbers.pop("classifier", 0.0), numbers.pop("budget", np.inf)
    if numbers:
        return Costs(errors, numbers, classifier, budget)
    return Costs(errors, classifier=classifier, budget=budget)


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    pairs = [(name.strip(), value.strip()) for name, _, value in parts]
    if bad := ["=".join(pair) for pair in pairs if not all(pair)]:
        raise _TextError(f"'{bad[0].rstrip('=')}', {EXAMPLE}")
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise _TextError(f"{twice[0]} twice")
    return pairs


def _errors(values: dict[str, str], classes: int) -> Floats:
    """The error costs, (classes, decisions); their names are removed from the values *in place*."""
    costs = {name: _number(name, values.pop(name)) for name in ("fp", "fn", "error") if name in values}
    two = {"fp", "fn"} & costs.keys()
    if two and classes != 2:
        raise _TextError(f"{min(two)}, which needs two classes, and there are {classes}")
    if two and "error" in costs:
        raise _TextError(f"both error and {min(two)}, expected one of them")
    any_error = costs.get("error", 1.0)
    if two:
        return np.array([[0.0, costs.get("fp", 1.0)], [costs.get("fn", 1.0), 0.0]])
    equal: Floats = any_error * (1 - np.eye(classes))
    return equal


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise _TextError(f"{name}={value}, {EXAMPLE}") from None
    if not number >= 0 or (np.isinf(number) and name != "budget"):
        raise _TextError(f"{name}={value}, expected a number of 0 or more")
    return number


def _matrix(file: Path, classes: int) -> Floats:
    """The numbers below the header, whose first column may name the true classes."""
    lines = file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    rows = [line.split(",") for line in lines if line.strip()][1:]
    try:
        matrix = np.array([[float(cell) for cell in row[-classes:]] for row in rows])
    except ValueError:
        matrix = np.zeros((0, 0))
    if matrix.shape != (classes, classes):
        raise ValueError(
            f"{file} is no matrix of costs: expected a header and {classes} rows of {classes} numbers"
        )
    return matrix
