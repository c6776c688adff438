"""Routes for requesters about items: add them as JSON, tables or images, reveal, stop, withdraw."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from crowdpilot.service.errors import ConflictError, InvalidRequestError, UnsupportedMediaTypeError
from crowdpilot.service.http.auth import LabellingOf, StoreOf, Writer
from crowdpilot.service.http.error_responses import described
from crowdpilot.service.http.routes.projects import PROBLEMS, Id
from crowdpilot.service.http.schemas import GoldIn, ItemsIn, NamesIn
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import Store, items, keys, projects
from crowdpilot.service.store import upload_checks as known
from crowdpilot.service.store.row import Record
from crowdpilot.service.uploads import items as uploads
from crowdpilot.service.uploads.item_columns import check_gold, sentence
from crowdpilot.service.uploads.table_records import CSV, JSON, NDJSON

MORE = described(415)
routes = APIRouter(prefix="/api/projects/{id}", tags=["items"], responses={**PROBLEMS, **MORE})
files = APIRouter(tags=["items"], responses=described(404, 422, 503))
FORM = "multipart/form-data"
FILES = 5_000  # in one form
AS = {"application/jsonl": NDJSON, "application/jsonlines": NDJSON, "text/tab-separated-values": CSV}


class Added(BaseModel):
    """How many items are new, and which columns were not understood and left out."""

    added: int
    ignored: list[str] = []


class Changed(BaseModel):
    """How many items were changed."""

    changed: int


def _taken(model: type[BaseModel]) -> dict[str, Any]:
    """What a route takes, for its description."""
    text = {"schema": {"type": "string", "minLength": 1}}
    file = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
    form = {"type": "object", "required": ["file"], "properties": {"file": file}}
    content = {JSON: {"schema": inline(model)}, CSV: text, NDJSON: text, FORM: {"schema": form}}
    return {"requestBody": {"required": True, "content": content}}


def inline(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model with all its parts in place, as a route needs that reads its body itself."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def put(node: Any) -> Any:
        if isinstance(node, list):
            return [put(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return put(parts[node["$ref"].rpartition("/")[2]])
        return {name: put(part) for name, part in node.items()}

    found: dict[str, Any] = put(schema)
    return found


async def receive(request: Request) -> uploads.Body:
    """What was sent, read to its end; refused with 415 if it is of no type that is taken."""
    type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    type = AS.get(type, type)
    if type != FORM:
        if type not in (JSON, CSV, NDJSON):
            raise UnsupportedMediaTypeError(
                "send JSON, CSV, NDJSON or a form with files, and say which in Content-Type"
            )
        return uploads.Body(type, await request.body())
    async with request.form(max_files=FILES, max_fields=10) as form:
        sent = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
        found = [uploads.File(file.filename or "", await file.read()) for file in sent]
    if not found or len(form.multi_items()) > len(found):
        raise InvalidRequestError(
            "the form has no files, or more than files; send each in a field called file"
        )
    return uploads.Body(type, files=found)


Sent = Annotated[uploads.Body, Depends(receive)]


@routes.post("/items", status_code=201, openapi_extra=_taken(ItemsIn))
async def post_items(id: Id, key: Writer, sent: Sent, labelling: LabellingOf, store: StoreOf) -> Added:
    """Add items, all or none.

    As JSON; as CSV or NDJSON with columns name, text, image, gold and p_CLASS for the probabilities of a
    machine (p_CRITERION_CLASS and gold_CRITERION with criteria); or as a form with such a file, images,
    or both, where the column image may name an image of the form. Images alone are items called like
    their files.
    """
    upload = await asyncio.to_thread(_read, store, id, sent)
    await labelling.look(id, lambda replica, _: check_budget(replica, len(upload.items)))
    return await asyncio.to_thread(_add, store, id, key, upload)


def check_budget(replica: Replica, n: int) -> None:
    """Raise a ConflictError if there is no money for the machine to look at so many items more."""
    campaign = replica.campaign
    price = campaign.costs.machine * n * (replica.spec["machine"] != "none")
    if price > campaign.ledger.left:
        raise ConflictError(f"the budget does not pay for the machine to look at {n} items; add fewer")


def _read(store: Store, id: str, sent: uploads.Body, labels: bool = False) -> uploads.Upload:
    with store.reading() as c:
        spec = projects.find(c, id).spec
    return uploads.read_items(id, spec, sent, labels=labels)


def _add(store: Store, id: str, key: Record, upload: uploads.Upload) -> Added:
    with store.writing() as c:
        added = uploads.add(c, id, upload)
        keys.note(c, key.id, "add items", id, items=added)
    return Added(added=added, ignored=upload.ignored)


@routes.post("/gold", openapi_extra=_taken(GoldIn))
async def post_gold(id: Id, key: Writer, sent: Sent, labelling: LabellingOf, store: StoreOf) -> Changed:
    """Say which classes items have.

    As JSON; as CSV or NDJSON with the columns name and label (gold_CRITERION with criteria). A table
    that has a column text or image, or a form, brings new items whose classes are known.
    """
    gold = await asyncio.to_thread(_read_gold, store, id, sent)
    if gold is not None:
        return await asyncio.to_thread(_reveal, store, id, key, gold)
    upload = await asyncio.to_thread(_read, store, id, sent, True)
    if nameless := [item["name"] for item in upload.items if item["gold"] is None]:
        raise InvalidRequestError(f"the item {nameless[0]!r} has no label; give one to every item")
    await labelling.look(id, lambda replica, _: check_budget(replica, len(upload.items)))
    return Changed(changed=(await asyncio.to_thread(_add, store, id, key, upload)).added)


def _read_gold(store: Store, id: str, sent: uploads.Body) -> dict[str, Any] | None:
    """Known classes of items that are there; None if the items are new."""
    with store.reading() as c:
        spec = projects.find(c, id).spec
    if sent.files:
        return None
    if sent.type != JSON:
        return uploads.read_gold(spec, sent)
    try:
        gold = GoldIn.model_validate_json(sent.data).gold
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidRequestError(f"{where}: {sentence(error)}" if where else sentence(error)) from None
    return {name: check_gold(label, spec) for name, label in gold.items()}


def _reveal(store: Store, id: str, key: Record, gold: dict[str, Any]) -> Changed:
    with store.writing() as c:
        projects.tick(c, id)
        items.reveal(c, id, known.merged(c, id, gold))
        keys.note(c, key.id, "reveal", id, items=len(gold))
    return Changed(changed=len(gold))


@routes.post("/items/stop")
def post_stop(id: Id, given: NamesIn, store: StoreOf, key: Writer) -> Changed:
    """Ask for no more votes on these items; they are decided by the votes they have."""
    with store.writing() as c:
        projects.tick(c, id)
        names = list(dict.fromkeys(given.items))
        asked = [name for name, item in known.named(c, id, names).items() if not item.gone]
        items.change(c, id, asked, gone="stopped")
        keys.note(c, key.id, "stop", id, items=len(asked))
    return Changed(changed=len(asked))


@routes.post("/items/withdraw")
def post_withdraw(id: Id, given: NamesIn, store: StoreOf, key: Writer) -> Changed:
    """Decide nothing about these items any more; votes on them still tell about workers."""
    with store.writing() as c:
        projects.tick(c, id)
        names = list(dict.fromkeys(given.items))
        items.change(c, id, names, gone="withdrawn")
        keys.note(c, key.id, "withdraw", id, items=len(names))
    return Changed(changed=len(names))


@files.get(
    "/files/{project}/{digest}",
    response_class=Response,
    responses={
        200: {"content": {type: {} for type in ("image/png", "image/jpeg", "image/gif", "image/webp")}}
    },
)
def get_file(
    project: Annotated[str, Path(pattern="^[0-9a-f]{12}$")],
    digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")],
    store: StoreOf,
) -> Response:
    """An image of an item.

    Who knows its address may load it, as a page of a worker does: the address holds the SHA-256 of the
    image itself, which nobody can guess who has not seen the image or the item.
    """
    with store.reading() as c:
        row = items.file(c, project, digest)
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "Content-Disposition": "inline"}
    return Response(row.data, headers=headers, media_type=row.type)
