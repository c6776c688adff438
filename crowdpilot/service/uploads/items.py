"""Uploads: items and known classes from the tables and images of a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection

from crowdpilot.io.column_names import listed
from crowdpilot.service.schemas import ItemIn, ItemsIn
from crowdpilot.service.store import items
from crowdpilot.service.uploads.image_sizes import check_image, image_type
from crowdpilot.service.uploads.item_columns import (
    New,
    Spec,
    check_gold,
    find,
    read_record,
    sentence,
    to_new,
    unique_names,
)
from crowdpilot.service.uploads.spreadsheet_cells import original
from crowdpilot.service.uploads.table_records import JSON, MAX_RECORDS, SUFFIXES, Record, read_records

MAX_FILE_NAME_CHARACTERS = 255  # as in most file systems


class File(NamedTuple):
    """A file that came in a form."""

    name: str
    data: bytes


class Body(NamedTuple):
    """What was sent: data of a type, or files."""

    type: str
    data: bytes = b""
    files: Sequence[File] = ()


class Image(NamedTuple):
    """An image to be kept."""

    type: str
    data: bytes


class Upload(NamedTuple):
    """Items to be added, images to be kept, and columns that were not understood."""

    items: list[New]
    images: list[Image]
    ignored: list[str]


def read_items(project: str, spec: Spec, body: Body, *, labels: bool = False) -> Upload:
    """Items from a request; a `ValueError` says in one sentence what is wrong and where.

    Parameters
    ----------
    project, spec
        The id of the project, and what it asks for.
    body
        What was sent.
    labels
        Whether a column called label holds known classes.
    """
    if body.files:
        return _read_files(project, spec, body.files, labels)
    if body.type == JSON:
        return Upload(_from_model(body.data, spec), [], [])
    return _read_table(*read_records(body.type, body.data), spec, {}, labels)


def add(c: Connection, project: str, upload: Upload, ready: items.NewItems | None = None) -> int:
    """Add what was read, all or nothing; how many items these are.

    `ready` are its items as `items.encode` makes them before the transaction.
    """
    for image in upload.images:
        items.save_file(c, project, *image)
    items.add(c, project, upload.items if ready is None else ready)
    return len(upload.items)


def read_gold(spec: Spec, body: Body) -> dict[str, Any] | None:
    """Known classes by the names of items, from a table that has nothing else; None if it has items."""
    names, records = read_records(body.type, body.data)
    columns = find(names, spec, labels=True)
    if columns.text or columns.image:
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


def _read_files(project: str, spec: Spec, files: Sequence[File], labels: bool) -> Upload:
    images, tables = _sort(files)
    uploaded = {name: f"/files/{project}/{sha256(image.data).hexdigest()}" for name, image in images.items()}
    upload = Upload([], [], [])
    if tables:
        upload = _read_table(*read_records(*tables[0]), spec, uploaded, labels)
    used = {item["content"].get("image") for item in upload.items}
    rest = {name: address for name, address in uploaded.items() if address not in used}
    more = [
        _at_position(name, lambda n=name, a=address: _from_image(n, a, spec))
        for name, address in rest.items()
    ]
    return Upload([*upload.items, *more], list(images.values()), upload.ignored)


def _from_image(name: str, address: str, spec: Spec) -> New:
    try:
        item = ItemIn(name=name)
    except ValidationError as error:
        raise ValueError(sentence(error)) from None
    return to_new(item.model_copy(update={"image": address}), spec)


def _sort(files: Sequence[File]) -> tuple[dict[str, Image], list[tuple[str, bytes]]]:
    """Images by name, and the one table there may be."""
    images: dict[str, Image] = {}
    tables: list[tuple[str, bytes]] = []
    for path, data in files:
        name = _file_name(path)
        type, table = image_type(data), SUFFIXES.get(name[name.rfind(".") :].lower())
        if type is None and table is None:
            raise ValueError(
                f"{name!r} is no PNG, JPEG, GIF or WebP image and no .csv, .ndjson or .json file"
            )
        if name in images or (type is None and tables):
            raise ValueError(f"{name!r} is one file too many; send one table, and each image once")
        if type is not None:
            _at_position(repr(name), lambda type=type, data=data: check_image(type, data))
            images[name] = Image(type, data)
        elif table is not None:
            tables.append((table, data))
    return images, tables


def _file_name(path: str) -> str:
    """The name of a file without its folders; a `ValueError` if it has characters that nobody sees."""
    name = path.replace("\\", "/").rpartition("/")[2]
    if len(name) > MAX_FILE_NAME_CHARACTERS or not name.isprintable():
        raise ValueError(
            f"the name of the file {name[:60]!r} is longer than {MAX_FILE_NAME_CHARACTERS} characters or has "
            "some that are not shown; rename it"
        )
    return name


# Tables ----------------------------------------------------------------------------------------


def _read_table(
    names: list[str], records: Iterator[Record], spec: Spec, uploaded: Mapping[str, str], labels: bool
) -> Upload:
    columns = find(names, spec, labels=labels)
    if not columns.text and not columns.image:
        raise ValueError(f"a column called text or image is missing; found {listed(names)}")
    new, named = [], []
    for where, record in records:
        item = _at_position(where, lambda record=record: read_record(record, columns, uploaded))
        new.append(_at_position(where, lambda item=item: to_new(item, spec)))
        named.append(bool(item.name))
        if len(new) > MAX_RECORDS:
            raise ValueError(f"there are more than {MAX_RECORDS} rows; send them in parts")
    if not new:
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
