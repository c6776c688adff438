"""Names of tasks, workers and classes: encoding as codes, lookup, natural order, and a seeded hash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Codes, Names


class Encoded(NamedTuple):
    """Value *n* is `names[codes[n]]`; it is missing where the code is -1."""

    codes: Codes
    names: Names


def encode(values: ArrayLike) -> Encoded:
    """Number the distinct values in the order of their first appearance; None and NaN are missing."""
    array = to_names(values)
    if array.dtype == object:
        index: dict[Any, int] = {}
        positions = [-1 if is_missing(v) else index.setdefault(v, len(index)) for v in array]
        return Encoded(np.asarray(positions, np.int32), to_names(list(index)))
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), bool)
    names, first, codes = np.unique(array[~missing], return_index=True, return_inverse=True)
    order = np.argsort(first)
    full = np.full(len(array), -1, np.int32)
    full[~missing] = np.argsort(order)[codes]
    return Encoded(full, names[order])


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN (the one thing not equal to itself) or pandas' NA (which cannot tell)."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def to_names(values: ArrayLike) -> Names:
    """One-dimensional array of names: numbers stay numbers, texts become an array of objects."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufMO":
        return values
    listed = list(values)  # type: ignore[arg-type]  # any iterable is welcome here
    kinds = {type(v) for v in listed}
    if kinds and (kinds <= {int, np.int64, np.int32} or kinds == {bool} or kinds <= {float}):
        return np.asarray(listed)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def natural_order(names: Names) -> NDArray[np.intp]:
    """Order in which people count: numbers by value, `item2` before `item10`."""
    if names.dtype != object:
        return np.argsort(names, kind="stable")
    return np.asarray(sorted(range(len(names)), key=lambda n: _natural(names[n])), np.intp)


def _natural(name: Any) -> tuple[Any, ...]:
    if isinstance(name, (int, float)):
        return (0, name, ())
    parts = re.split(r"([0-9]+)", str(name))  # every second one is a number, of any length
    ranks = (((len(d := p.lstrip("0")), d) if n % 2 else (-1, p)) for n, p in enumerate(parts))
    return (1, 0, tuple(ranks))


def hash_names(names: Names, seed: int) -> NDArray[np.uint64]:
    """One number for each name, that depends on nothing but the name and the seed."""
    text = names.astype("U")
    short = text.astype(f"U{min(text.itemsize // 4, 64)}")
    letters = short.reshape(-1, 1).view(np.uint32).astype(np.uint64)
    mixed = np.full(len(names), _mix(np.array([seed % 2**64], np.uint64))[0])
    for column in letters.T:
        mixed = np.where(column > 0, _mix(mixed ^ column), mixed)  # padding does not count
    return mixed


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): nearby numbers end far apart."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def lookup(names: Any, known: Any) -> Codes:
    """The position of each name among the known ones, compared as text; -1 for an unknown name.

    Examples
    --------
    >>> lookup(["b", "x"], ["a", "b"]).tolist()
    [1, -1]
    """
    position = {str(name): n for n, name in enumerate(to_names(known).tolist())}
    return np.asarray([position.get(str(name), -1) for name in to_names(names).tolist()], np.int32)


def names_in_index(frame: Any, names: Names) -> Names | None:
    """The index of a pandas frame or series if it holds these names, otherwise None: rows are then in order.

    Numbers of the rows themselves are no names. An index of texts with some names but not all is an error.
    """
    index = to_names(frame.index.tolist()) if hasattr(frame, "iloc") else None
    if index is None or index.tolist() == list(range(len(index))):
        return None
    missing = lookup(names, index) < 0
    if not missing.any() and len(set(map(str, index.tolist()))) == len(index):
        return index
    if index.dtype == object and not missing.all():
        unknown = names.item(np.argmax(missing))
        what = f"lacks {missing.sum()} names, such as {unknown!r}" if missing.any() else "has a name twice"
        raise ValueError(
            f"the index of the data frame {what}; reset_index(drop=True) takes rows in their order"
        )
    return None


def label_codes(labels: Any, tasks: Names, classes: Names) -> Codes:
    """The code of the given label of each task, -1 where none is given; other tasks are ignored."""
    if not isinstance(labels, Mapping) and not hasattr(labels, "to_frame"):  # a Series has items, too
        raise ValueError(f"gold is of type {type(labels).__name__}, expected a mapping from tasks to labels")
    pairs = list(labels.items())
    task, label = lookup([each for each, _ in pairs], tasks), lookup([each for _, each in pairs], classes)
    listed = task >= 0
    if (listed & (label < 0)).any():
        name, unknown = pairs[int(np.argmax(listed & (label < 0)))]
        known = ", ".join(map(str, classes[:10]))
        raise ValueError(f"gold label {unknown!r} of task {name!r} is not a class ({known})")
    codes = np.full(len(tasks), -1, np.int32)
    codes[task[listed]] = label[listed]
    return codes


class TaskLabels(dict[Any, Any]):
    """The labels of one task by worker, not sorted or hashed, so that nobody takes them for a label."""

    def _refuse(self, *_: Any) -> Any:
        raise ValueError(
            "votes are not labels, which are needed here: take cp.aggregate(votes).labels; "
            "cross_val_predict(..., method='predict_proba') gets votes by params={'y': votes} instead of y"
        )

    __lt__ = _refuse
    __hash__ = _refuse  # type: ignore[assignment]  # a dict has none, and says less


def labels_by_task(tasks: int, task: Codes, workers: Names, labels: Names) -> NDArray[np.object_]:
    """The labels of each task by worker, (tasks,), of votes as three columns."""
    by_task = [TaskLabels() for _ in range(tasks)]
    for n, worker, label in zip(task.tolist(), workers.tolist(), labels.tolist(), strict=True):
        by_task[n][worker] = label
    return np.fromiter(by_task, object, tasks)


def number_labels(label: Encoded, classes: Sequence[Any] | None, abstain: set[str]) -> tuple[Codes, Names]:
    """Codes into the sorted or given classes; -1 for a missing label and an abstention."""
    votes_for = np.asarray([str(name) not in abstain for name in label.names.tolist()], bool)
    if classes is None:
        names = label.names[votes_for]
        order = natural_order(names)
        names = names[order]
        number = np.full(len(label.names) + 1, -1, np.int32)  # the last one is for missing labels
        number[np.flatnonzero(votes_for)[order]] = np.arange(len(names))
        return number[label.codes], names
    if len(set(map(str, classes))) < len(classes):
        raise ValueError("a class is given twice")
    number = np.append(lookup(label.names, classes), np.int32(-1))
    number[:-1] = np.where(votes_for, np.where(number[:-1] < 0, -2, number[:-1]), -1)
    codes = number[label.codes]
    if (codes == -2).any():
        row = int(np.argmax(codes == -2))
        raise ValueError(
            f"label '{label.names[label.codes[row]]}' of vote {row + 1} is not one of the classes "
            f"{', '.join(map(str, classes))}"
        )
    return codes, to_names(list(classes))
