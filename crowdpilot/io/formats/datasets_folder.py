"""Votes in a folder that `save_to_disk` of Hugging Face `datasets` has written."""

from __future__ import annotations

import json
from pathlib import Path

from crowdpilot.arrays import need_arrow
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats.arrow_file import read_path
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.source import Source
from crowdpilot.io.tables.column_files import broken_file_errors, column_votes, names_of

STATE, SPLITS = "state.json", "dataset_dict.json"


def sniff(source: Source) -> bool:
    """Whether it is a folder with the state of a data set, or a list of its splits."""
    path = source.path
    return path.is_dir() and ((path / SPLITS).is_file() or _is_data_set(path))


def parse(source: Source) -> VotesTable:
    """The columns that matter; numbers of classes become their names."""
    need_arrow(f"{source.path}: a data set of Hugging Face")
    import pyarrow as pa

    from crowdpilot.io import arrow
    from crowdpilot.io.tables.class_labels import with_class_names

    folder = _only_split(source)
    with broken_file_errors(source, "data set"), arrow.table_errors():
        parts = [read_path(path) for path in _files(folder)]
        table = pa.concat_tables(parts)
    table = with_class_names(table)
    return column_votes(
        source, names_of(table.schema), lambda names: arrow.as_table(table.select(list(names)))
    )


def _is_data_set(path: Path) -> bool:
    return (path / STATE).is_file() and any(path.glob("*.arrow"))


def _only_split(source: Source) -> Path:
    """The folder of the data, which may be the only one of several splits."""
    if _is_data_set(source.path):
        return source.path
    splits = sorted(path.name for path in source.path.iterdir() if _is_data_set(path))
    if len(splits) == 1:
        return source.path / splits[0]
    if not splits:
        raise source.error("found no data in the folder of a data set, expected files called *.arrow")
    raise source.error(f"there are the splits {listed(splits)}; name the folder of one")


def _files(folder: Path) -> list[Path]:
    """The files of the data in their order, which may be less than all that lie there."""
    try:
        names = [file["filename"] for file in json.loads((folder / STATE).read_bytes())["_data_files"]]
    except (ValueError, LookupError, TypeError):
        names = sorted(path.name for path in folder.glob("*.arrow"))
    return [folder / name for name in names]


FORMAT = Format("folder of a data set that Hugging Face datasets has saved", sniff, parse, has_columns=True)
