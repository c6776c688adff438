"""The layout of Hugging Face `datasets`: a card, and Parquet, or a folder of images with their metadata.

`datasets.load_dataset(folder)` reads it: labels are a `ClassLabel` with the names of the classes. The package
reads all configurations of a data set as one kind, so what a project has besides is a data set of its own, in
a folder below. Metadata are Parquet, because of JSON it would take texts such as `2026-01-31` for times.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crowdpilot.service.exports.decisions import ProjectDecisions
from crowdpilot.service.exports.file_names import SUFFIXES, Names
from crowdpilot.service.exports.labelled_items import LabelledItem, labelled_items, read_file
from crowdpilot.service.exports.zip_stream import zip_stream
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.uploads.media_types import KINDS

PARQUET = "data/train-00000-of-00001.parquet"
FOLDER, METADATA = "data/train/", "data/train/metadata.parquet"
TABLE = "without_files"  # items that are texts, or lie at an address
VERSION = "3.5.0"  # of `datasets`, the first that always takes `metadata.parquet` for metadata
ROWS_PER_GROUP = 5_000
FEATURES: Mapping[str, str] = {
    "id": "string", "text": "string", "probability": "float64", "votes": "int64", "decided_by": "string",
    "majority": "string",
}  # fmt: skip
ADDRESSES: Mapping[str, str] = {f"{kind}_address": "string" for kind in KINDS}


def hugging_face(store: Store, project: Row, decided: ProjectDecisions, confidence: float) -> Iterator[bytes]:
    """A zip archive of all items with labels: a data set for each kind of file, and one for all others."""
    return zip_stream(_entries(store, project, decided, confidence))


def _entries(
    store: Store, project: Row, decided: ProjectDecisions, confidence: float
) -> Iterator[tuple[str, bytes]]:
    def read(kind: str) -> Iterator[LabelledItem]:
        items = labelled_items(store, project.id, decided, confidence)
        return (item for item in items if _part_of(item) == kind)

    counts = Counter(_part_of(item) for item in labelled_items(store, project.id, decided, confidence))
    kinds = [kind for kind in (*KINDS, TABLE) if counts[kind]] or [TABLE]
    labels = [*decided.classes]
    for kind in kinds:
        folder = "" if kind == kinds[0] else f"{kind}/"
        others = {} if folder else {other: counts[other] for other in kinds[1:]}
        yield f"{folder}README.md", card(project, kind, labels, counts[kind], others)
        rows = _table(read(kind), labels) if kind == TABLE else _folder(store, project, read(kind), labels)
        yield from ((f"{folder}{path}", data) for path, data in rows)


def _part_of(item: LabelledItem) -> str:
    return item.kind if item.file else TABLE


def _table(items: Iterator[LabelledItem], labels: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Items without files in one table."""
    rows = ({**_values(item, labels), **_addresses(item)} for item in items)
    yield PARQUET, _parquet(rows, {**FEATURES, **ADDRESSES}, labels)


def _folder(
    store: Store, project: Row, items: Iterator[LabelledItem], labels: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Files, and a table that names them."""
    names, metadata = Names(), []
    for item in items:
        found = read_file(store, project.id, item.file or "")
        if found is not None:  # else it was deleted meanwhile
            path = names.take(FOLDER, item.name, SUFFIXES[found[0]])
            yield path, found[1]
            metadata.append({"file_name": path.removeprefix(FOLDER), **_values(item, labels)})
    yield METADATA, _parquet(iter(metadata), {"file_name": "string", **FEATURES}, labels)


def _values(item: LabelledItem, labels: Sequence[str]) -> dict[str, Any]:
    """All that is known of an item besides its file."""
    return {
        "id": item.name, "text": item.content.get("text", ""),
        "label": labels.index(item.label) if item.label in labels else None,
        "probability": round(item.probability, 6), "votes": item.votes, "decided_by": item.decided_by,
        "majority": item.majority or "",
    }  # fmt: skip


def _addresses(item: LabelledItem) -> dict[str, str]:
    return {f"{kind}_address": item.content.get(kind, "") for kind in KINDS}


def _parquet(rows: Iterator[dict[str, Any]], columns: Mapping[str, str], labels: Sequence[str]) -> bytes:
    """A table with the features of `datasets` in its schema."""
    features: dict[str, Any] = {name: {"dtype": type, "_type": "Value"} for name, type in columns.items()}
    features["label"] = {"names": list(labels), "_type": "ClassLabel"}
    types = {"string": pa.string(), "float64": pa.float64(), "int64": pa.int64()}
    fields = [pa.field(name, types[type]) for name, type in columns.items()]
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    schema = pa.schema([*fields, pa.field("label", pa.int64())], metadata=about)
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema) as writer:
        while part := list(islice(rows, ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(part, schema))
    return buffer.getvalue()


def card(project: Row, kind: str, labels: Sequence[str], items: int, others: Mapping[str, int]) -> bytes:
    """The card of the data set: YAML, whose texts are JSON strings, and a few sentences.

    Parameters
    ----------
    project, labels
        Whose items these are, and the names of the classes.
    kind, items
        What the data set has, and how many.
    others
        How many items are in other data sets, by their folders.
    """
    names = "\n".join(f"          '{n}': {_quoted(label)}" for n, label in enumerate(labels))
    columns = {**FEATURES, **(ADDRESSES if kind == TABLE else {})}
    listed = "\n".join(f"  - name: {name}\n    dtype: {type}" for name, type in columns.items())
    media = "" if kind == TABLE else f"  - name: {kind}\n    dtype: {kind}\n"
    path = PARQUET if kind == TABLE else f"{FOLDER}**"
    title = " ".join(project.name.split()).replace("#", "").strip() or "Data set"
    return f"""---
pretty_name: {_quoted(title)}
configs:
- config_name: default
  data_files:
  - split: train
    path: {path}
dataset_info:
  features:
{media}{listed}
  - name: label
    dtype:
      class_label:
        names:
{names}
---
# {title}

{_count(items)}, labelled by people and decided by Crowdpilot.

- `label`: the decision; `majority`: the class with the most votes, empty without votes or in a tie
- `probability`: of the label; `votes`: how many there are on the item
- `decided_by`: what the label rests on: `votes`, `classifier`, `gold` (known before), `expert`, `prior`
{_note(kind, others)}""".encode()


def _note(kind: str, others: Mapping[str, int]) -> str:
    """What one has to know to load all of it."""
    version = f"\nIts metadata are read by `datasets` {VERSION} and later.\n"
    besides = "\nIn folders below are data sets of their own, which `load_dataset` reads by their paths:\n\n"
    listed = "".join(f"- `{folder}`: {_count(items)}\n" for folder, items in others.items())
    return ("" if kind == TABLE else version) + (besides + listed if others else "")


def _count(items: int) -> str:
    return "1 item" if items == 1 else f"{items:,} items"


def _quoted(text: str) -> str:
    """A text in one line as YAML takes it."""
    return json.dumps(" ".join(text.split()))
