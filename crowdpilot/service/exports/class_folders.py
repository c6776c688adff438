"""Items in folders by their labels: images, sounds, videos and texts, and a table of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from crowdpilot.service.exports.decisions import ProjectDecisions
from crowdpilot.service.exports.file_names import SUFFIXES, Names, safe_name
from crowdpilot.service.exports.labelled_items import LabelledItem, labelled_items, read_file
from crowdpilot.service.exports.tables import write
from crowdpilot.service.exports.zip_stream import zip_stream
from crowdpilot.service.store.engine import Store

TABLE = "items.csv"


def class_folders(
    store: Store, project: str, decided: ProjectDecisions, confidence: float
) -> Iterator[bytes]:
    """A zip archive with a folder for each class, and `items.csv`, which has items by address as well."""
    return zip_stream(_entries(store, project, decided, confidence))


def _entries(
    store: Store, project: str, decided: ProjectDecisions, confidence: float
) -> Iterator[tuple[str, bytes]]:
    folders = _folders(sorted({*decided.classes, *decided.labels}))
    names = Names()
    names.take("", TABLE)
    listed: list[tuple[LabelledItem, str]] = []
    for item in labelled_items(store, project, decided, confidence):
        path, data = _file(store, project, item, folders[item.label], names)
        listed.append((item._replace(content={}), path))
        if path:
            yield path, data
    yield TABLE, b"".join(write([_table(listed)], "csv"))


def _folders(labels: Sequence[str]) -> dict[str, str]:
    """A folder for each label, of which no two have the same name."""
    names = Names()
    return {label: f"{names.take('', safe_name(label))}/" for label in labels}


def _file(store: Store, project: str, item: LabelledItem, folder: str, names: Names) -> tuple[str, bytes]:
    """The path and data of an item; no path if it lies somewhere else, at an address."""
    if item.file is not None:
        found = read_file(store, project, item.file)
        return ("", b"") if found is None else (names.take(folder, item.name, SUFFIXES[found[0]]), found[1])
    if "text" not in item.content:
        return "", b""
    return names.take(folder, item.name, SUFFIXES["text/plain"]), item.content["text"].encode()


def _table(listed: Sequence[tuple[LabelledItem, str]]) -> pa.Table:
    texts = {
        "item": [item.name for item, _ in listed], "file": [path for _, path in listed],
        "label": [item.label for item, _ in listed], "majority": [item.majority for item, _ in listed],
        "decided_by": [item.decided_by for item, _ in listed],
    }  # fmt: skip
    return pa.table(
        {
            **{name: pa.array(values, pa.string()) for name, values in texts.items()},
            "probability": pa.array([item.probability for item, _ in listed], pa.float64()),
            "votes": pa.array([item.votes for item, _ in listed], pa.int64()),
        }
    )
