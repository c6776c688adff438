"""Uploads: items and known classes from the tables, images, sounds and videos of a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection

from crowdpilot.io.inference.column_names import listed
from crowdpilot.service.errors import ConflictError, NotFoundError
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
    """An image, a sound or a video to be kept, with its SHA-256 digest."""

    type: str
    data: bytes
    digest: str


class Upload(NamedTuple):
    """Items to be added, files to be kept, and columns that were not understood."""

    items: list[New]
    media: list[Media]
    ignored: list[str]


class _Options(NamedTuple):
    """How tables are read; see `read_items`."""

    labels: bool
    problems: list[str] | None
    probabilities: bool


def read_items(
    project: str, spec: Spec, body: Body, *, labels: bool = False, problems: list[str] | None = None,
    probabilities: bool = True,
) -> Upload:  # fmt: skip
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
    probabilities
        Whether probabilities in tables are read; otherwise they are ignored, whatever they are.
    """
    options = _Options(labels, problems, probabilities)
    if body.files:
        return _read_files(project, spec, body.files, options)
    if body.type == JSON:
        return Upload(_from_model(body.data, spec), [], [])
    return _read_table(*read_records(body.type, body.data), spec, {}, options)


def holds_probabilities(column: str) -> bool:
    """Whether a column is for what a classifier says, by its name."""
    return column == "machine" or column.startswith("p_")


def add(c: Connection, project: str, upload: Upload, ready: items.NewItems | None = None) -> int:
    """Add what was read, all or nothing; how many items these are.

    `ready` are its items as `items.encode` makes them before the transaction.
    """
    save_files(c, project, upload.media)
    items.add(c, project, upload.items if ready is None else ready)
    return len(upload.items)


def save_files(c: Connection, project: str, media: Iterable[Media]) -> None:
    """Save those files that are not there, in a write transaction."""
    for file in media:
        if not _is_saved(c, project, file.digest):
            items.save_file(c, project, file.type, file.data)


def _is_saved(c: Connection, project: str, digest: str) -> bool:
    try:
        items.file_size(c, project, digest)
    except NotFoundError:
        return False
    return True


def check_names(c: Connection, project: str, upload: Upload) -> None:
    """Raise a `ConflictError` if an item of this name is there, as `add` does, before anything is written."""
    if taken := items.ids_by_name(c, project, [item["name"] for item in upload.items]):
        raise ConflictError(
            f"an item called {next(iter(taken))!r} is there already; every item has a name of its own"
        )


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


def _read_files(project: str, spec: Spec, files: Sequence[File], options: _Options) -> Upload:
    found = _sort(name_files(unpack(files), spec))
    uploaded = {
        path: UploadedFile(kind_of(media.type), f"/files/{project}/{media.digest}")
        for path, media in found.media.items()
    }
    by_name = {found.names[path]: file for path, file in uploaded.items()} | uploaded
    upload = Upload([], [], [])
    if found.table is not None:
        upload = _read_table(*read_records(*found.table), spec, by_name, options)
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
    if not upload.items and not more and not options.problems:
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
            media[file.path] = Media(type, file.data, sha256(file.data).hexdigest())
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
    options: _Options,
) -> Upload:
    problems = options.problems
    hidden = [] if options.probabilities else [name for name in names if holds_probabilities(name)]
    columns = find([name for name in names if name not in hidden], spec, labels=options.labels)
    if not columns.has_content:
        raise ValueError(f"a column called text, image, audio or video is missing; found {listed(names)}")
    new, named = [], []
    for where, record in records:
        try:
            seen = {name: cell for name, cell in record.items() if name not in hidden} if hidden else record
            item = read_record(seen, columns, uploaded)
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
    return Upload(unique_names(new, named), [], [*columns.other, *hidden])


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
