"""Votes in a folder as the Hugging Face Hub has data sets: a card, and Parquet that `load_dataset` reads.

Layout: https://huggingface.co/docs/hub/datasets-data-files-configuration, and `dataset_info` of
https://huggingface.co/docs/hub/datasets-cards. Classes that are texts are a `ClassLabel`, others are numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import need_arrow
from crowdpilot.io.columns import Table
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.source import Source
from crowdpilot.io.tables.column_files import broken_file_errors, column_votes, names_of
from crowdpilot.io.votes_tables import votes_columns
from crowdpilot.votes import Votes

CARD, DATA, FOLDER = "README.md", "train-00000-of-00001.parquet", "data"
CARD_BYTES = 1 << 20  # of a card that are looked at
CLASS_COLUMNS = ("label", "gold")
DTYPES: Mapping[str, str] = {"double": "float64", "float": "float32", "large_string": "string"}  # of Arrow


def sniff(source: Source) -> bool:
    """Whether it is a folder with the card of a data set, and Parquet beside or below it."""
    path = source.path
    if not path.is_dir() or not (path / CARD).is_file():
        return False
    with (path / CARD).open("rb") as stream:
        card = stream.read(CARD_BYTES)
    is_card = card.startswith(b"---") and (b"\nconfigs:" in card or b"\ndataset_info:" in card)
    return is_card and bool(_files(path))


def parse(source: Source) -> VotesTable:
    """The votes of the only split."""
    files = _files(source.path)
    if not files:
        raise source.error("found no Parquet file in the folder of a data set, expected data/*.parquet")
    if len(splits := sorted({file.name.partition("-")[0] for file in files})) > 1:
        raise source.error(f"there are the splits {listed(splits)}; name the file of one")
    need_arrow(f"{source.path}: a data set of Hugging Face")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from crowdpilot.io import arrow
    from crowdpilot.io.tables.class_labels import with_class_names

    def load(names: Sequence[str]) -> Table:
        with broken_file_errors(source, "Parquet file"), arrow.table_errors():
            parts = [with_class_names(pq.read_table(file, columns=list(names))) for file in files]
            return arrow.as_table(pa.concat_tables(parts))

    with broken_file_errors(source, "Parquet file"), arrow.table_errors():
        names = names_of(pq.read_schema(files[0]))
    return column_votes(source, names, load)


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) or sorted((path / FOLDER).glob("*.parquet"))


def write(votes: Votes, path: Path) -> None:
    """A folder with a row for each vote."""
    need_arrow("a data set of Hugging Face")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from crowdpilot.io import arrow
    from crowdpilot.io.tables.class_labels import METADATA

    path.mkdir()
    with arrow.table_errors():
        table = arrow.arrow_table(votes_columns(votes))
        names = _class_names(votes)
        if names:
            columns = {name: _codes(votes, name) for name in CLASS_COLUMNS if name in table.column_names}
            for name, codes in columns.items():
                numbers = pa.array(codes, pa.int64(), mask=codes < 0)
                table = table.set_column(table.column_names.index(name), name, numbers)
        features = {field.name: _feature(field, names) for field in table.schema}
        about = json.dumps({"info": {"features": features}}).encode()
        pq.write_table(table.replace_schema_metadata({METADATA: about}), path / DATA)
    (path / CARD).write_text(card(votes, features), "utf-8")


def _class_names(votes: Votes) -> list[str]:
    """The names of the classes; none if they are numbers, which come back as such."""
    names = votes.classes.tolist()
    return names if all(isinstance(name, str) for name in names) else []


def _codes(votes: Votes, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers of classes in the rows of `votes_columns`; -1 where there is none."""
    unseen = np.flatnonzero(np.bincount(votes.task, minlength=len(votes.tasks)) == 0)
    rows = np.concatenate([votes.task, unseen])
    codes = np.concatenate([votes.label, np.full(len(unseen), -1)])
    return np.asarray(codes if name == "label" or votes.gold is None else votes.gold[rows], np.int64)


def _feature(field: Any, names: Sequence[str]) -> dict[str, Any]:
    if names and field.name in CLASS_COLUMNS:
        return {"names": list(names), "_type": "ClassLabel"}
    type = str(getattr(field.type, "value_type", field.type))
    return {"dtype": DTYPES.get(type, type), "_type": "Value"}


def card(votes: Votes, features: Mapping[str, Mapping[str, Any]]) -> str:
    """The card of a data set: YAML for programs, and a few sentences for people."""
    listed_features = "".join(_yaml(name, feature) for name, feature in features.items())
    counts = [(len(votes), "vote"), (len(votes.workers), "worker"), (len(votes.tasks), "task")]
    n_votes, n_workers, n_tasks = (f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
    return f"""---
configs:
- config_name: default
  data_files:
  - split: train
    path: {DATA}
dataset_info:
  features:
{listed_features}---
# Votes

{n_votes} of {n_workers} on {n_tasks}, one in each row. A task without a vote has a row without a label.

- `task`, `worker`, `label`: who gave which label to which task
- `gold`, if it is there: the true label of the task, where it is known
- `weight`, `seconds`, `time`, if they are there: of the vote

`datasets.load_dataset` loads this folder, and `crowdpilot.read` reads it as votes again.
"""


def _yaml(name: str, feature: Mapping[str, Any]) -> str:
    if "dtype" in feature:
        return f"  - name: {name}\n    dtype: {feature['dtype']}\n"
    names = "".join(f"          '{n}': {_quoted(label)}\n" for n, label in enumerate(feature["names"]))
    return f"  - name: {name}\n    dtype:\n      class_label:\n        names:\n{names}"


def _quoted(text: str) -> str:
    """A text as YAML takes it, in one line."""
    safe = (one if one.isprintable() and one not in '"\\' else f"\\U{ord(one):08x}" for one in text)
    return f'"{"".join(safe)}"'


FORMAT = Format(
    "folder of a data set for the Hugging Face Hub, which load_dataset reads", sniff, parse, write,
    has_columns=True,
)  # fmt: skip
