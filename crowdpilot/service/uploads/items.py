"""Uploads: items and known classes from the tables, images, sounds and videos of a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection

from crowdpilot.io.column_names import listed
from crowdpilot.service.schemas import ItemIn, ItemsIn
from crowdpilot.service.store import items
from crowdpilot.service.uploads.files import File as File
from crowdpilot.service.uploads.files import unpack
from crowdpilot.service.uploads.folders import NamedFile, name_files
from crowdpilot.service.uploads.item_columns import (
    New,
    Spec,
    UploadedFile,
    check_gold,
    find,
    read_record,
    sentence,
    to_new,
    unique_names,
)
from crowdpilot.service.uploads.media_types import KINDS, check_file, file_type, kind_of
from crowdpilot.service.uploads.spreadsheet_cells import original
from crowdpilot.service.uploads.table_records import JSON, MAX_RECORDS, SUFFIXES, Record, read_records

TEXT_SUFFIX = ".txt"


class Body(NamedTuple):
    """What was sent: data of a type, or files."""

    type: str
    data: bytes = b""
    files: Sequence[File] = ()


class Media(NamedTuple):
    """An image, a sound or a video to be kept."""

    type: str
    data: bytes


class Upload(NamedTuple):
    """Items to be added, files to be kept, and columns that were not understood."""

    items: list[New]
    media: list[Media]
    ignored: list[str]


def read_items(
    project: str, spec: Spec, body: Body, *, labels: bool = False, problems: list[str] | None = None
) -> Upload:
    """Items from a request; a `ValueError` says in one sentence what is wrong and where.

    Parameters
    ----------
    project, spec
        The id of the project, and what it asks for.
    body
        What was sent.
    labels
        Whether a column called label holds known classes.
    problems
        If given, rows of tables that cannot be read are left out, and why is added to this list.
    """
    if body.files:
        return _read_files(project, spec, body.files, labels, problems)
    if body.type == JSON:
        return Upload(_from_model(body.data, spec), [], [])
    return _read_table(*read_records(body.type, body.data), spec, {}, labels, problems)


def add(c: Connection, project: str, upload: Upload, ready: items.NewItems | None = None) -> int:
    """Add what was read, all or nothing; how many items these are.

    `ready` are its items as `items.encode` makes them before the transaction.
    """
    for file in upload.media:
        items.save_file(c, project, *file)
    items.add(c, project, upload.items if ready is None else ready)
    return len(upload.items)


def read_gold(spec: Spec, body: Body) -> dict[str, Any] | None:
    """Known classes by the names of items, from a table that has nothing else; None if it has items."""
    names, records = read_records(body.type, body.data)
    columns = find(names, spec, labels=True)
    if columns.has_content:
        return None
    if not columns.name or not columns.gold:
        raise ValueError(f"a column called name or label is missing; found {listed(names)}")
    known: dict[str, Any] = {}
    for where, record in records:
        item = _at_position(where, lambda record=record: read_record(record, columns, {}))
        if not item.name or item.gold is None:
            raise ValueError(f"{where}: the name or the label is missing; fill it in or drop the row")
        known[item.name] = _at_position(where, lambda item=item: check_gold(_labels(item.gold, spec), spec))
    if not known:
        raise ValueError("there is no row; send at least one")
    return known


def _labels(gold: Any, spec: Spec) -> Any:
    """Known classes, of which each comes perhaps from a CSV file of our own."""
    if isinstance(gold, dict):
        return {criterion: _labels(label, spec) for criterion, label in gold.items()}
    return gold if gold in spec["classes"] else original(gold)


def original_names(c: Connection, project: str, gold: dict[str, Any]) -> dict[str, Any]:
    """Known classes by the names of items, where names come perhaps from a CSV file of our own."""
    known = items.ids_by_name(c, project, list(gold))
    return {name if name in known else original(name): label for name, label in gold.items()}


# Files -----------------------------------------------------------------------------------------


def _read_files(
    project: str, spec: Spec, files: Sequence[File], labels: bool, problems: list[str] | None
) -> Upload:
    found = _sort(name_files(unpack(files), spec))
    uploaded = {
        path: UploadedFile(kind_of(media.type), f"/files/{project}/{sha256(media.data).hexdigest()}")
        for path, media in found.media.items()
    }
    by_name = {found.names[path]: file for path, file in uploaded.items()} | uploaded
    upload = Upload([], [], [])
    if found.table is not None:
        upload = _read_table(*read_records(*found.table), spec, by_name, labels, problems)
    used = {item["content"].get(kind) for item in upload.items for kind in KINDS}
    contents: dict[str, dict[str, Any]] = {path: {"text": text} for path, text in found.texts.items()}
    contents |= {
        path: {file.kind: file.address} for path, file in uploaded.items() if file.address not in used
    }
    more = [
        _at_position(
            path, lambda p=path, some=content: _from_file(found.names[p], some, found.labels[p], spec)
        )
        for path, content in contents.items()
    ]
    if not upload.items and not more:
        raise ValueError("there is no file with items; send a table, images, sounds, videos or texts")
    return Upload([*upload.items, *more], list(found.media.values()), upload.ignored)


def _from_file(name: str, content: dict[str, Any], label: str | None, spec: Spec) -> New:
    try:
        item = ItemIn(name=name, text=content.get("text", ""), gold=label)
    except ValidationError as error:
        raise ValueError(sentence(error)) from None
    return to_new(item.model_copy(update=content), spec)


class Sorted(NamedTuple):
    """Files by what they are, each by its path: images, sounds and videos, texts, and the one table."""

    media: dict[str, Media]
    texts: dict[str, str]
    table: tuple[str, bytes] | None  # its media type and data
    names: dict[str, str]  # of items
    labels: dict[str, str | None]


def _sort(files: Sequence[NamedFile]) -> Sorted:
    media: dict[str, Media] = {}
    texts: dict[str, str] = {}
    tables: list[tuple[str, bytes]] = []
    for file in files:
        suffix = file.path[file.path.rfind(".") :].lower()
        type, table = file_type(file.data), SUFFIXES.get(suffix)
        if type is None and table is None and suffix != TEXT_SUFFIX:
            raise ValueError(
                f"{file.path!r} is no PNG, JPEG, GIF or WebP image, no sound (MP3, M4A, AAC, WAV, OGG, "
                "FLAC), no MP4 or WebM video, no .txt and no .csv, .ndjson or .json file"
            )
        if file.path in media or file.path in texts or (type is None and table and tables):
            raise ValueError(f"{file.path!r} is one file too many; send one table, and each other file once")
        if type is not None:
            _at_position(repr(file.path), lambda type=type, data=file.data: check_file(type, data))
            media[file.path] = Media(type, file.data)
        elif table is not None:
            tables.append((table, file.data))
        else:
            texts[file.path] = _at_position(repr(file.path), lambda data=file.data: _decoded(data))
    names, labels = {file.path: file.name for file in files}, {file.path: file.label for file in files}
    return Sorted(media, texts, tables[0] if tables else None, names, labels)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise ValueError("the text is not in UTF-8; save it so") from None


# Tables ----------------------------------------------------------------------------------------


def _read_table(
    names: list[str],
    records: Iterator[Record],
    spec: Spec,
    uploaded: Mapping[str, UploadedFile],
    labels: bool,
    problems: list[str] | None = None,
) -> Upload:
    columns = find(names, spec, labels=labels)
    if not columns.has_content:
        raise ValueError(f"a column called text, image, audio or video is missing; found {listed(names)}")
    new, named = [], []
    for where, record in records:
        try:
            item = read_record(record, columns, uploaded)
            new.append(to_new(item, spec))
        except ValueError as error:
            if problems is None:
                raise ValueError(f"{where}: {error}") from None
            problems.append(f"{where}: {error}")
            continue
        named.append(bool(item.name))
        if len(new) > MAX_RECORDS:
            raise ValueError(f"there are more than {MAX_RECORDS} rows; send them in parts")
    if not new and not problems:
        raise ValueError("there is no row; send at least one")
    return Upload(unique_names(new, named), [], columns.other)


def _at_position(where: str, what: Any) -> Any:
    """The result for one row; an error says at which position it is."""
    try:
        return what()
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _from_model(data: bytes, spec: Spec) -> list[New]:
    try:
        parsed = ItemsIn.model_validate_json(data).items
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise ValueError(f"{where}: {sentence(error)}" if where else sentence(error)) from None
    new = [_at_position(f"items.{n}", lambda item=item: to_new(item, spec)) for n, item in enumerate(parsed)]
    return unique_names(new, [bool(item.name) for item in parsed])
