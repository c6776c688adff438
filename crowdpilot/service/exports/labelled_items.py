"""Items with their labels, one at a time: what the archives of a project are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.service.exports.decisions import ProjectDecisions
from crowdpilot.service.store import items
from crowdpilot.service.store.engine import Store
from crowdpilot.service.uploads.media_types import KINDS

ITEMS_PER_QUERY = 200
FILE_DIGEST = re.compile(r"/files/[0-9a-f]{12}/([0-9a-f]{64})(?:\.[a-z0-9]+)?$")


class LabelledItem(NamedTuple):
    """An item that is decided as well as it can be now."""

    name: str
    content: dict[str, Any]
    label: str
    code: int
    probability: float
    votes: int
    decided_by: str
    majority: str | None
    file: str | None  # digest of its image, sound or video in the database
    kind: str  # of this file; text if there is none


def labelled_items(
    store: Store, project: str, decided: ProjectDecisions, confidence: float = 0.0
) -> Iterator[LabelledItem]:
    """All items whose label has at least this probability, in the order of upload, read in parts."""
    now, labels, probability = decided.decisions, decided.labels, decided.probability
    rows = np.flatnonzero(probability >= confidence).tolist()
    for n in range(0, len(rows), ITEMS_PER_QUERY):
        part = rows[n : n + ITEMS_PER_QUERY]
        names = [str(now.items[row]) for row in part]
        with store.reading() as c:
            contents = items.contents_by_name(c, project, names)
        for row, name in zip(part, names, strict=True):
            if name in contents:  # else it was deleted meanwhile
                majority = int(decided.majority[row])
                yield LabelledItem(
                    name, contents[name], labels[row], int(now.codes[row]), float(probability[row]),
                    int(now.votes[row]), str(now.decided_by[row]),
                    None if majority < 0 else decided.classes[majority], *file_of(contents[name]),
                )  # fmt: skip


def file_of(content: dict[str, Any]) -> tuple[str | None, str]:
    """The digest and kind of the first uploaded file of an item."""
    for kind in KINDS:
        if found := FILE_DIGEST.search(content.get(kind, "")):
            return found[1], kind
    return None, "text"


def read_file(store: Store, project: str, digest: str) -> tuple[str, bytes] | None:
    """The media type and data of a file, if it is still there."""
    with store.reading() as c:
        return items.typed_file(c, project, digest)
