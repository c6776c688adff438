"""Preview of an upload: what was recognised in files, what is ignored and why, and the first items."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from crowdpilot.service.pages.dashboard.setup.trial_reading import (
    Attempt,
    Names,
    final_attempt,
    find_attempts,
    find_columns,
    look_into,
    read_first,
)
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters.project_creation import PLACEHOLDER
from crowdpilot.service.uploads import items
from crowdpilot.service.uploads.item_columns import Columns

MAX_SAMPLES = 3
MAX_IMAGE_BYTES = 2 << 20  # that is shown in the preview
MAX_PROBLEMS_SHOWN = 5
MAX_CLASSES_OFFERED = 30
KIND_NAMES = {"text": ("text", "texts"), "image": ("image", "images"), "audio": ("sound", "sounds"),
              "video": ("video", "videos")}  # fmt: skip


class Column(NamedTuple):
    """A column of a table, and what it is taken for."""

    name: str
    meaning: str


class Preview(NamedTuple):
    """What was found in the files of an upload.

    Parameters
    ----------
    format
        What the files are, in words.
    columns, ignored
        Columns that are used, and those that are not, each with the reason.
    items, gold, probabilities
        How many items there are, how many with a known answer, and with probabilities of a classifier.
    kinds
        How many items have a text, an image, a sound, a video, in words.
    problems, more_problems
        Rows that cannot be read with the reason, and how many more there are.
    classes
        Names in the files that might be the answers: known answers, columns of probabilities, folders.
    samples
        The contents of the first items.
    """

    format: str = ""
    columns: Sequence[Column] = ()
    ignored: Sequence[Column] = ()
    items: int = 0
    gold: int = 0
    probabilities: int = 0
    kinds: Sequence[str] = ()
    problems: Sequence[str] = ()
    more_problems: int = 0
    classes: Sequence[str] = ()
    samples: Sequence[Mapping[str, Any]] = ()


def preview_upload(
    files: Sequence[items.File], classes: Sequence[str], criteria: Sequence[str], *, is_final: bool = False
) -> Preview:
    """What is in files, for a project with these classes and criteria.

    Before the classes are final, any that the files name are taken, and probabilities only where they fit.
    """
    try:
        names = look_into(files, criteria)
        attempts = (
            [final_attempt(names, classes, criteria)] if is_final else find_attempts(names, classes, criteria)
        )
        read, attempt, problems = read_first(files, attempts, criteria)
        columns = find_columns(names.header, attempt, criteria)
    except ValueError as error:
        return Preview(problems=[sentence(str(error))])
    offered = _offered(names, attempt)
    return Preview(
        names.format,
        _meanings(columns), _ignored(read.ignored),
        len(read.items), sum(item["gold"] is not None for item in read.items),
        sum(item["classifier_probs"] is not None for item in read.items), _kinds(read.items),
        [sentence(problem) for problem in problems[:MAX_PROBLEMS_SHOWN]],
        max(len(problems) - MAX_PROBLEMS_SHOWN, 0),
        offered if set(offered) - set(classes) else [],
        [_with_data(item["content"], read.media) for item in read.items[:MAX_SAMPLES]],
    )  # fmt: skip


def _offered(names: Names, attempt: Attempt) -> list[str]:
    """What might be the answers: columns of probabilities that fit, known answers, or else folders."""
    if attempt.with_probabilities:
        return attempt.classes
    return [name for name, _ in names.known.most_common(MAX_CLASSES_OFFERED)] or names.folders


def _with_data(content: Mapping[str, Any], media: Sequence[items.Media]) -> dict[str, Any]:
    """The content of an item with its uploaded image inside, because nothing is stored."""
    shown = dict(content)
    for file in media:
        address = f"/files/{PLACEHOLDER}/{sha256(file.data).hexdigest()}"
        for kind in [kind for kind, value in content.items() if value == address]:
            if kind == "image" and len(file.data) <= MAX_IMAGE_BYTES:
                shown[kind] = f"data:{file.type};base64,{b64encode(file.data).decode()}"
            else:
                del shown[kind]
                shown["text"] = (
                    f"{content.get('text', '')}\n({KIND_NAMES[kind][0]}, {len(file.data):,} bytes)".strip()
                )
    return shown


def _meanings(columns: Columns | None) -> list[Column]:
    if columns is None:
        return []
    roles = [
        (columns.name, "the name of the item"),
        (columns.text, "the text"),
        (columns.image, "the image, or an address of one"),
        (columns.audio, "the sound, or an address of one"),
        (columns.video, "the video, or an address of one"),
    ]
    known = [
        (name, f"the known answer{f' to {criterion}' if criterion else ''}")
        for criterion, name in columns.gold.items()
    ]
    probs = [(name, "what a classifier says") for names in columns.machine.values() for name in names]
    return [Column(name, meaning) for name, meaning in (*roles, *known, *probs) if name]


def _ignored(names: Sequence[str]) -> list[Column]:
    """Columns that are not used, with the reason."""
    probabilities = (
        "guesses of a classifier need one column for each answer, such as p_spam, that add up to 1"
    )
    return [
        Column(name, probabilities if items.holds_probabilities(name) else "no column of this name is known")
        for name in names
    ]


def _kinds(new: Sequence[Mapping[str, Any]]) -> list[str]:
    counts = {kind: sum(kind in item["content"] for item in new) for kind in KIND_NAMES}
    return [f"{n:,} {KIND_NAMES[kind][n != 1]}" for kind, n in counts.items() if n]
