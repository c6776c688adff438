"""The layout of Hugging Face `datasets`: a card, and Parquet, or a folder of images with their metadata.

`datasets.load_dataset(folder)` reads it: labels are a `ClassLabel` with the names of the classes.
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
ROWS_PER_GROUP = 5_000
FEATURES: Mapping[str, str] = {
    "id": "string", "text": "string", "probability": "float64", "votes": "int64", "decided_by": "string",
    "majority": "string",
}  # fmt: skip
ADDRESSES: Mapping[str, str] = {f"{kind}_address": "string" for kind in KINDS}


def hugging_face(store: Store, project: Row, decided: ProjectDecisions, confidence: float) -> Iterator[bytes]:
    """A zip archive of a data set with labels; items with files are a folder, all others a table."""
    return zip_stream(_entries(store, project, decided, confidence))


def _entries(
    store: Store, project: Row, decided: ProjectDecisions, confidence: float
) -> Iterator[tuple[str, bytes]]:
    def read() -> Iterator[LabelledItem]:
        return labelled_items(store, project.id, decided, confidence)

    counts = Counter(item.kind if item.file else "text" for item in read())
    kind = next((kind for kind in KINDS if counts[kind]), "text")
    labels = [*decided.classes]
    yield "README.md", card(project, kind, labels, counts)
    code = {label: n for n, label in enumerate(labels)}
    if kind == "text":
        rows = ({**_values(item, code), **_addresses(item)} for item in read())
        yield PARQUET, _parquet(rows, {**FEATURES, **ADDRESSES}, labels)
        return
    names, metadata = Names(), []
    for item in read():
        found = read_file(store, project.id, item.file) if item.file and item.kind == kind else None
        if found is not None:
            path = names.take(FOLDER, item.name, SUFFIXES[found[0]])
            yield path, found[1]
            metadata.append({"file_name": path.removeprefix(FOLDER), **_values(item, code)})
    yield METADATA, _parquet(iter(metadata), {"file_name": "string", **FEATURES}, labels)


def _values(item: LabelledItem, code: Mapping[str, int]) -> dict[str, Any]:
    """All that is known of an item besides its file."""
    return {
        "id": item.name, "text": item.content.get("text", ""), "label": code.get(item.label),
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


def card(project: Row, kind: str, labels: Sequence[str], counts: Mapping[str, int]) -> bytes:
    """The card of the data set: YAML, whose texts are JSON strings, and a few sentences."""
    names = "\n".join(f"          '{n}': {_quoted(label)}" for n, label in enumerate(labels))
    columns = {**FEATURES, **(ADDRESSES if kind == "text" else {})}
    listed = "\n".join(f"  - name: {name}\n    dtype: {type}" for name, type in columns.items())
    media = "" if kind == "text" else f"  - name: {kind}\n    dtype: {kind}\n"
    path = PARQUET if kind == "text" else f"{FOLDER}**"
    left_out = sum(n for other, n in counts.items() if other != kind)
    note = f"\n{left_out:,} items without such a file are not in it.\n" if left_out and kind != "text" else ""
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

{counts[kind]:,} items, labelled by people and decided by Crowdpilot.

- `label`: the decision; `majority`: the class with the most votes, empty without votes or in a tie
- `probability`: of the label; `votes`: how many there are on the item
- `decided_by`: what the label rests on: `votes`, `classifier`, `gold` (known before), `expert`, `prior`
{note}""".encode()


def _quoted(text: str) -> str:
    """A text in one line as YAML takes it."""
    return json.dumps(" ".join(text.split()))
