"""Columns of an uploaded table of items: their aliases, and items validated from its rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic import ValidationError

from crowdpilot.io.inference.column_names import ALIASES, listed
from crowdpilot.service.schemas import ItemIn
from crowdpilot.service.uploads.media_types import KINDS, kind_of_address

Spec = Mapping[str, Any]
New = dict[str, Any]  # an item as the store takes it
MAX_SUM_ERROR = 1e-3  # by how much probabilities may miss one
NAMES = ("name", "id", *(alias + end for alias in ALIASES["task"] for end in ("", "id", "name")))
TEXTS = ("text", "content", "sentence", "body", "tweet", "review", "comment", "abstract", "description")
IMAGES = ("image", "imageurl", "url", "imagefile", "filename", "file", "picture", "photo")
AUDIO = ("audio", "audiourl", "audiofile", "sound", "soundfile", "recording", "speech", "song")
VIDEO = ("video", "videourl", "videofile", "movie", "film", "clip")
GOLD = ALIASES["gold"]
ROLES = {"name": NAMES, "text": TEXTS, "image": IMAGES, "audio": AUDIO, "video": VIDEO}


class UploadedFile(NamedTuple):
    """A file that was sent along: image, audio or video, and its address."""

    kind: str
    address: str


@dataclass(frozen=True)
class Columns:
    """Which column says what; with criteria there are several for gold and machine.

    Parameters
    ----------
    name, text, image, audio, video
        The column of each, if there is one. A column for images, such as `file` or `url`, may hold sounds and
        videos as well: the file, or the end of the address, tells which.
    gold
        The column for each criterion; "" is the only question where there are none.
    machine
        The columns of the classes, in their order, for each criterion.
    other
        Columns that say nothing to us.
    """

    name: str | None
    text: str | None
    image: str | None
    audio: str | None
    video: str | None
    gold: dict[str, str]
    machine: dict[str, list[str]]
    other: list[str]

    @property
    def has_content(self) -> bool:
        """Whether a column holds what workers are to see or hear."""
        return any((self.text, self.image, self.audio, self.video))


def criteria_of(spec: Spec) -> list[str]:
    """The criteria of a project; one called "" where there are none."""
    return [criterion["name"] for criterion in spec["criteria"]] or [""]


def find(names: Sequence[str], spec: Spec, *, labels: bool = False) -> Columns:
    """The meaning of columns by their names; a `ValueError` if it is not clear.

    Parameters
    ----------
    names
        Of all columns.
    spec
        Of the project.
    labels
        Whether a column called label holds known classes.
    """
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"the column {twice[0]!r} occurs twice; give each column a name of its own")
    by_key: dict[str, str] = {}
    for name in names:
        by_key.setdefault(re.sub(r"[\W_]", "", name.casefold()), name)
    known = (*GOLD, *ALIASES["label"]) if labels else GOLD
    columns = {
        role: next((by_key[alias] for alias in aliases if alias in by_key), None)
        for role, aliases in {**ROLES, "gold": known}.items()
    }
    gold = _gold(names, columns.pop("gold"), spec)
    machine = _machine(names, spec)
    used = {*columns.values(), *gold.values(), *(name for some in machine.values() for name in some)}
    other = [name for name in names if name not in used and name not in ("machine", "gold")]
    return Columns(**columns, gold=gold, machine=machine, other=other)


def _gold(names: Sequence[str], single: str | None, spec: Spec) -> dict[str, str]:
    if not spec["criteria"]:
        return {} if single is None else {"": single}
    wanted = {criterion: f"gold_{criterion}" for criterion in criteria_of(spec)}
    return {criterion: name for criterion, name in wanted.items() if name in names}


def _machine(names: Sequence[str], spec: Spec) -> dict[str, list[str]]:
    present, machine = set(names), {}
    for criterion in criteria_of(spec):
        start = f"p_{criterion}_" if criterion else "p_"
        wanted = [start + label for label in spec["classes"]]
        missing = [name for name in wanted if name not in present]
        if len(missing) < len(wanted):
            if missing:
                raise ValueError(f"the column {missing[0]!r} is missing; there is one for each class")
            machine[criterion] = wanted
    return machine


def read_record(record: Mapping[str, Any], columns: Columns, uploaded: Mapping[str, UploadedFile]) -> ItemIn:
    """An item from a record; a `ValueError` says which column is wrong."""
    values = {
        "name": _cell(record, columns.name),
        "text": _cell(record, columns.text),
        "machine": record.get("machine") or _probabilities(record, columns),
        "gold": _known(record, columns),
    }
    sent: dict[str, str] = {}
    found_in: dict[str, str | None] = {}
    for role in KINDS:
        column = getattr(columns, role)
        if (cell := _cell(record, column)) == "":
            continue
        file = uploaded.get(str(cell))
        kind = file.kind if file else kind_of_address(str(cell)) if role == "image" else role
        if kind in found_in:
            raise ValueError(f"column {column!r}: there is a second {kind}; an item has one")
        found_in[kind] = column
        if file:
            sent[kind] = file.address
        else:
            values[kind] = cell
    try:
        item = ItemIn.model_validate(values)
    except ValidationError as error:
        raise ValueError(_wrong(error, values, columns, found_in)) from None
    return item.model_copy(update=sent) if sent else item


def _wrong(
    error: ValidationError, values: Mapping[str, Any], columns: Columns, found_in: Mapping[str, str | None]
) -> str:
    where = str(error.errors()[0]["loc"][0])
    column = found_in.get(where) or getattr(columns, where)
    what = sentence(error)
    if where in KINDS and isinstance(values[where], str):
        what = f"{values[where][:60]!r} is neither a web address nor a file that was sent along"
    return f"column {(column if isinstance(column, str) else where)!r}: {what}"


def sentence(error: ValidationError) -> str:
    """What is wrong, in one sentence."""
    return str(error.errors()[0]["msg"]).removeprefix("Value error, ")


def _cell(record: Mapping[str, Any], column: str | None) -> Any:
    value = "" if column is None else record.get(column)
    return "" if value is None else str(value) if isinstance(value, int | float) else value


def _probabilities(record: Mapping[str, Any], columns: Columns) -> Any:
    probs: dict[str, list[float]] = {}
    for criterion, names in columns.machine.items():
        cells = [record.get(name) for name in names]
        if all(cell in (None, "") for cell in cells):
            continue
        probs[criterion] = [_number(cell, name) for cell, name in zip(cells, names, strict=True)]
    return probs.get("") or probs or None


def _number(cell: Any, column: str) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"column {column!r}: {str(cell)[:40]!r} is not a number") from None


def _known(record: Mapping[str, Any], columns: Columns) -> Any:
    if isinstance(record.get("gold"), dict):
        return record["gold"]
    cells = {criterion: _cell(record, name) for criterion, name in columns.gold.items()}
    filled = {criterion: cell for criterion, cell in cells.items() if cell != ""}
    return filled.get("") or filled or None


def to_new(item: ItemIn, spec: Spec) -> New:
    """An item as the store takes it; a `ValueError` says what does not fit the project."""
    content = {kind: value for kind in ("text", *KINDS) if (value := getattr(item, kind))}
    if not content:
        raise ValueError("there is neither a text nor an image, audio or video; give one of them")
    return {
        "name": item.name or f"item-{sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]}",
        "content": content,
        "classifier_probs": _checked(item.machine, spec),
        "gold": None if item.gold is None else check_gold(item.gold, spec),
    }


def check_gold(gold: Any, spec: Spec) -> Any:
    """A known class, or with criteria a mapping to such; a `ValueError` if it does not fit the project."""
    criteria = criteria_of(spec)
    labels = gold if isinstance(gold, dict) else {"": gold}
    if other := [name for name in labels if name not in criteria]:
        wanted = f"one for each of {listed(criteria)}" if spec["criteria"] else "one class alone"
        problem = f"is for {other[0]!r}" if other[0] else "is for no criterion"
        raise ValueError(f"the known class {problem}; give {wanted}")
    if wrong := [label for label in labels.values() if label not in spec["classes"]]:
        raise ValueError(f"{wrong[0]!r} is not a class; there are {listed(spec['classes'])}")
    return gold


def _checked(machine: Any, spec: Spec) -> Any:
    """Probabilities that sum to one, if the project takes any; a `ValueError` if they do not fit."""
    if spec["machine"] != "given":
        if machine is not None:
            raise ValueError("the project takes no probabilities; make it with machine 'given'")
        return None
    criteria = criteria_of(spec)
    by_criterion = machine if isinstance(machine, dict) else {"": machine}
    if machine is None or set(by_criterion) != set(criteria):
        of = f" and each of {listed(criteria)}" if spec["criteria"] else ""
        raise ValueError(f"the probabilities of the machine are missing; give one for each class{of}")
    probs = {name: _to_probs(by_criterion[name], len(spec["classes"])) for name in criteria}
    return probs if spec["criteria"] else probs[""]


def _to_probs(numbers: Sequence[float], K: int) -> list[float]:
    if len(numbers) != K:
        raise ValueError(f"there are {len(numbers)} probabilities; give {K}, one for each class")
    total = sum(numbers)
    if not abs(total - 1) <= MAX_SUM_ERROR:
        raise ValueError(f"the probabilities of the machine sum to {total:g}; they should sum to 1")
    return [number / total for number in numbers]


def unique_names(new: Iterable[New], named: Iterable[bool]) -> list[New]:
    """The same items, where equal ones without a name of their own get a number after their name."""
    seen: dict[str, int] = {}
    renamed = []
    for item, is_named in zip(new, named, strict=True):
        n = seen[item["name"]] = seen.get(item["name"], 0) + 1
        renamed.append(item if is_named or n == 1 else {**item, "name": f"{item['name']}-{n}"})
    return renamed
