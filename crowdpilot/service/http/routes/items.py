"""Routes for requesters about items: upload as JSON, tables or files, gold labels, stop, withdraw."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from crowdpilot.service import item_reviews, requester_actions
from crowdpilot.service.access import Requester
from crowdpilot.service.errors import InvalidRequestError, UnsupportedMediaTypeError
from crowdpilot.service.http.auth import LabellingOf, LabelOps, ProjectId, StoreOf, Writer
from crowdpilot.service.http.json_bodies import inlined_schema
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.http.upload_checks import check_upload
from crowdpilot.service.schemas import AskAgainIn, GoldIn, ItemNamesIn, ItemsIn, OverrideIn
from crowdpilot.service.store import Store, items, projects
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.uploads import items as uploads
from crowdpilot.service.uploads.item_columns import check_gold, sentence
from crowdpilot.service.uploads.table_records import CSV, JSON, NDJSON

routes = APIRouter(prefix="/api/projects/{id}", tags=["items"], responses={**ERRORS, **error_schemas(415)})
FORM = "multipart/form-data"
MAX_FILES_PER_FORM = 5_000
TYPE_ALIASES = {
    "application/jsonl": NDJSON,
    "application/jsonlines": NDJSON,
    "text/tab-separated-values": CSV,
}


class AddedOut(BaseModel):
    """How many items are new, and the columns that were ignored."""

    added: int
    ignored: list[str] = []


class ChangedOut(BaseModel):
    """How many items were changed."""

    changed: int


def _body_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The bodies that a route takes, for the OpenAPI schema."""
    text = {"schema": {"type": "string", "minLength": 1}}
    file = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
    form = {"type": "object", "required": ["file"], "properties": {"file": file}}
    content = {JSON: {"schema": inlined_schema(model)}, CSV: text, NDJSON: text, FORM: {"schema": form}}
    return {"requestBody": {"required": True, "content": content}}


async def read_body(request: Request) -> uploads.Body:
    """The body of an upload; an `UnsupportedMediaTypeError` if it is neither a table nor a form of files."""
    type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    type = TYPE_ALIASES.get(type, type)
    if type != FORM:
        if type not in (JSON, CSV, NDJSON):
            raise UnsupportedMediaTypeError(
                "send JSON, CSV, NDJSON or a form with files, and say which in Content-Type"
            )
        return uploads.Body(type, await request.body())
    async with request.form(max_files=MAX_FILES_PER_FORM, max_fields=10) as form:
        sent = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
        contents = [uploads.File(file.filename or "", await file.read()) for file in sent]
    if not contents or len(form.multi_items()) > len(contents):
        raise InvalidRequestError(
            "the form has no files, or more than files; send each in a field called file"
        )
    return uploads.Body(type, files=contents)


UploadBody = Annotated[uploads.Body, Depends(read_body)]


@routes.post("/items", status_code=201, openapi_extra=_body_schema(ItemsIn))
async def post_items(
    id: ProjectId, requester: Writer, body: UploadBody, labelling: LabellingOf, store: StoreOf
) -> AddedOut:
    """Add items, all or none.

    As JSON; as CSV or NDJSON with columns name, text, image, audio, video, gold and p_CLASS for the
    probabilities of a machine (p_CRITERION_CLASS and gold_CRITERION with criteria); or as a form with such a
    file, images, sounds and videos, or both, where a column may name a file of the form. Such files alone are
    items called like their files.
    """
    upload = await asyncio.to_thread(_read, store, id, body)
    await check_upload(labelling, id, len(upload.items))
    return await asyncio.to_thread(_add, store, id, requester, upload)


def _read(store: Store, id: str, body: uploads.Body, labels: bool = False) -> uploads.Upload:
    with store.reading() as c:
        spec = projects.find(c, id).spec
    return uploads.read_items(id, spec, body, labels=labels)


def _add(store: Store, id: str, requester: Requester, upload: uploads.Upload) -> AddedOut:
    ready = items.encode(upload.items)
    with store.writing() as c:
        added = uploads.add(c, id, upload, ready)
        action_log.write(c, requester.actor, "add items", id, items=added)
    return AddedOut(added=added, ignored=upload.ignored)


@routes.post("/gold", openapi_extra=_body_schema(GoldIn))
async def post_gold(
    id: ProjectId, requester: Writer, body: UploadBody, labelling: LabellingOf, store: StoreOf
) -> ChangedOut:
    """Add gold labels: the known classes of items.

    As JSON; as CSV or NDJSON with the columns name and label (gold_CRITERION with criteria). A table
    that has a column text or image, or a form, adds new items with gold labels.
    """
    gold = await asyncio.to_thread(_read_gold, store, id, body)
    if gold is not None:
        return await asyncio.to_thread(_reveal, store, id, requester, gold)
    upload = await asyncio.to_thread(_read, store, id, body, True)
    if unlabelled := [item["name"] for item in upload.items if item["gold"] is None]:
        raise InvalidRequestError(f"the item {unlabelled[0]!r} has no label; give one to every item")
    await check_upload(labelling, id, len(upload.items))
    return ChangedOut(changed=(await asyncio.to_thread(_add, store, id, requester, upload)).added)


def _read_gold(store: Store, id: str, body: uploads.Body) -> dict[str, Any] | None:
    """Gold labels of items that exist; None if the items are new."""
    with store.reading() as c:
        spec = projects.find(c, id).spec
    if body.files:
        return None
    if body.type != JSON:
        return uploads.read_gold(spec, body)
    try:
        gold = GoldIn.model_validate_json(body.data).gold
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidRequestError(f"{where}: {sentence(error)}" if where else sentence(error)) from None
    return {name: check_gold(label, spec) for name, label in gold.items()}


def _reveal(store: Store, id: str, requester: Requester, gold: dict[str, Any]) -> ChangedOut:
    with store.reading() as c:
        named = uploads.original_names(c, id, gold)
    return ChangedOut(changed=item_reviews.make_gold(store, id, requester, named))


@routes.post("/items/override")
def post_override(id: ProjectId, body: OverrideIn, store: StoreOf, requester: LabelOps) -> ChangedOut:
    """Decide about items as an expert, or (null) take that back; the decision is final until then.

    It wins over all votes and says who decided. It does not judge workers as a gold label does.
    """
    return ChangedOut(changed=item_reviews.override(store, id, requester, body.labels))


@routes.post("/items/ask-again")
def post_ask_again(id: ProjectId, body: AskAgainIn, store: StoreOf, requester: LabelOps) -> ChangedOut:
    """Ask for more votes on these items, whatever another is worth; stopped items open again.

    The budget is kept; the most votes that an item may have are not. With criteria the one with the fewest
    votes gets so many more, and the others are brought to the same number.
    """
    return ChangedOut(
        changed=item_reviews.ask_again(store, id, requester, list(dict.fromkeys(body.items)), body.votes)
    )


@routes.post("/items/stop")
def post_stop(id: ProjectId, body: ItemNamesIn, store: StoreOf, requester: LabelOps) -> ChangedOut:
    """Ask for no more votes on these items; they are decided by the votes they have."""
    with store.writing() as c:
        projects.next_change(c, id)
        names = list(dict.fromkeys(body.items))
        open_items = [
            name for name, item in items.require_named(c, id, names).items() if item.state == items.OPEN
        ]
        items.change(c, id, open_items, state=items.STOPPED, votes_wanted=None)
        action_log.write(c, requester.actor, "stop", id, items=len(open_items))
    return ChangedOut(changed=len(open_items))


@routes.post("/items/withdraw")
def post_withdraw(id: ProjectId, body: ItemNamesIn, store: StoreOf, requester: LabelOps) -> ChangedOut:
    """Decide nothing about these items any more; votes on them still count for the skill of workers."""
    with store.writing() as c:
        projects.next_change(c, id)
        names = list(dict.fromkeys(body.items))
        items.change(c, id, names, state=items.WITHDRAWN)
        action_log.write(c, requester.actor, "withdraw", id, items=len(names))
    return ChangedOut(changed=len(names))


@routes.delete("/items")
def delete_items(id: ProjectId, body: ItemNamesIn, store: StoreOf, requester: Writer) -> ChangedOut:
    """Delete items with their votes, and the files that no other item uses; this cannot be undone."""
    deleted = requester_actions.delete_items(store, id, requester.actor, list(dict.fromkeys(body.items)))
    return ChangedOut(changed=deleted)
