"""Routes for Label Studio: its exports come in, tasks go out, and the service is its ML backend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path
from pydantic import BaseModel, ValidationError

from crowdpilot.service import exports
from crowdpilot.service.errors import ConflictError, NotFoundError
from crowdpilot.service.http.auth import LabellingOf, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.error_responses import described
from crowdpilot.service.http.routes.items import check_budget
from crowdpilot.service.http.routes.projects import PROBLEMS, Id
from crowdpilot.service.http.schemas import ItemIn, ToldVote
from crowdpilot.service.labelling import external_votes
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.config import write_config
from crowdpilot.service.platforms.label_studio.tasks import VERSION, Found, Item, Vote, read_tasks
from crowdpilot.service.platforms.label_studio.writing import Decision, write_tasks
from crowdpilot.service.store import Store, items, keys, projects, upload_checks, worker_votes
from crowdpilot.service.store import external_votes as store_relay
from crowdpilot.service.store.row import Record
from crowdpilot.service.uploads.item_columns import sentence

PLATFORM = "label_studio"
routes = APIRouter(prefix="/api/projects/{id}", tags=["Label Studio"], responses=PROBLEMS)
Tasks = Annotated[list[dict[str, Any]], Body(min_length=1, max_length=200_000)]


class Imported(BaseModel):
    """What came in: new items, votes, and annotations that are no votes."""

    items: int
    votes: int
    skipped: int


class BackendOut(BaseModel):
    """Where Label Studio reaches the project as an ML backend, and the labelling configuration for it."""

    address: str
    config: str


class Heard(BaseModel):
    """How many votes an event has changed, and how many of its annotations are about nothing known here."""

    taken: int
    skipped: int


# For requesters --------------------------------------------------------------------------------


@routes.post("/label-studio", status_code=201)
async def post_tasks(id: Id, tasks: Tasks, labelling: LabellingOf, store: StoreOf, key: Writer) -> Imported:
    """Take an export of Label Studio (JSON): tasks that are new become items, annotations become votes."""
    project = await asyncio.to_thread(_single, store, id)
    found = await asyncio.to_thread(read_tasks, tasks, project.spec["classes"])
    await labelling.look(id, lambda replica, _: check_budget(replica, len(found.items)))
    return await asyncio.to_thread(_import, store, project, key, found)


def _single(store: Store, id: str) -> Record:
    """A project that Label Studio can show, with one question about each item."""
    with store.reading() as c:
        project = projects.find(c, id)
    if project.spec["criteria"]:
        raise ConflictError("the project has criteria, and Label Studio is asked one question; use another")
    return project


def _import(store: Store, project: Record, key: Record, found: Found) -> Imported:
    with store.writing() as c:
        projects.tick(c, project.id)
        known = items.known(c, project.id, [item.name for item in found.items])
        new = [_new(item, project.spec) for item in found.items if item.name not in known]
        if new:
            items.add(c, project.id, new)
        if found.votes:
            external_votes.tell(c, project.id, PLATFORM, [_told(vote) for vote in found.votes], again=True)
        keys.note(c, key.id, "import", project.id, items=len(new), votes=len(found.votes))
    return Imported(items=len(new), votes=len(found.votes), skipped=found.skipped)


def _new(item: Item, spec: dict[str, Any]) -> dict[str, Any]:
    _check(f"task {item.name[:60]!r}", ItemIn, {"name": item.name, **item.content})
    machine = item.machine if spec["machine"] == "given" else None
    return {
        "name": item.name,
        "content": item.content,
        "machine": None if machine is None else list(machine),
        "gold": None if item.gold is None else spec["classes"][item.gold],
    }


def _told(vote: Vote) -> external_votes.Told:
    _check("an annotation", ToldVote, {"item": vote.item, "worker": vote.worker, "label": "any"})
    return external_votes.Told(
        vote.item, vote.worker, vote.label, 0, None, vote.seconds, vote.time, vote.key or None
    )


def _check(what: str, model: type[BaseModel], given: dict[str, str]) -> None:
    """What comes from Label Studio has to be as plain as what comes in other ways."""
    try:
        model.model_validate(given)
    except ValidationError as error:
        where = error.errors()[0]["loc"][0]
        raise ValueError(f"{what} has a {where} that cannot be taken: {sentence(error)}") from None


@routes.get("/label-studio")
async def get_tasks(
    id: Id, labelling: LabellingOf, store: StoreOf, settings: SettingsOf, key: Reader
) -> list[dict[str, Any]]:
    """All items as tasks to be imported: with decisions as predictions and votes as annotations.

    Workers are numbers here, in the field crowdpilot_worker.
    """
    project = await asyncio.to_thread(_single, store, id)
    decided = await labelling.look(id, exports.look)
    return await asyncio.to_thread(_export, store, project, decided, settings.address)


def _export(store: Store, project: Record, decided: exports.Decided, address: str) -> list[dict[str, Any]]:
    with store.reading() as c:
        rows = upload_checks.everything(c, project.id)
        given = [
            Vote(row.key or "", row.item, str(row.worker), row.label, row.seconds, row.time)
            for part in worker_votes.given(c, project.id)
            for row in part
        ]
    shown = [Item(row.name, row.content) for row in rows if row.gone != "withdrawn"]
    return write_tasks(shown, given, _decisions(decided), project.spec["classes"], address=address)


def _decisions(decided: exports.Decided) -> dict[str, Decision]:
    now = decided.decisions
    best = now.probs.argmax(axis=1) if now.labels.dtype.kind in "iu" else now.codes
    sure = now.probs[range(len(best)), best]
    return {
        str(name): Decision(int(label), float(p))
        for name, label, p in zip(now.items.tolist(), best.tolist(), sure.tolist(), strict=True)
    }


@routes.get("/label-studio/backend")
def get_backend(id: Id, store: StoreOf, settings: SettingsOf, key: Writer) -> BackendOut:
    """What to enter in Label Studio; who has the address can add votes, so keep it secret."""
    spec = _single(store, id).spec
    with store.reading() as c:
        contents = [row.content for row in items.all_contents(c, id)]
    shows = [kind for kind in ("text", "image") if any(kind in content for content in contents)]
    config = write_config(spec["classes"], question=spec["question"], shows=shows or ["text"])
    address = f"{settings.address}/label-studio/{id}/{backend.password(settings.secret, id)}"
    return BackendOut(address=address, config=config)


# For Label Studio ------------------------------------------------------------------------------


def admitted(
    project: Annotated[str, Path(pattern="^[0-9a-f]{12}$")],
    password: Annotated[str, Path(min_length=1, max_length=100)],
    store: StoreOf,
    settings: SettingsOf,
) -> Record:
    """The project, to who knows its password; to others it is not there."""
    if not backend.is_password(settings.secret, project, password):
        raise NotFoundError("there is no such ML backend; copy its address again")
    return _single(store, project)


Admitted = Annotated[Record, Depends(admitted)]
Sent = Annotated[dict[str, Any], Body()]
machine = APIRouter(
    prefix="/label-studio/{project}/{password}",
    tags=["Label Studio"],
    responses=described(400, 404, 409, 413, 422, 429, 503),
)


@machine.get("/health")
def get_health(project: Admitted) -> dict[str, str]:
    """Whether the ML backend is there."""
    return backend.health()


@machine.post("/setup")
def post_setup(project: Admitted, sent: Sent) -> dict[str, str]:
    """Check that Label Studio asks what the project asks."""
    return backend.setup(sent, project.spec["classes"], version=_version(project))


@machine.post("/predict")
async def post_predict(project: Admitted, sent: Sent, labelling: LabellingOf) -> dict[str, Any]:
    """What is believed of tasks."""
    names = backend.asked(sent)
    believed = await labelling.look(project.id, lambda replica, _: _beliefs(replica, names))
    return backend.predict(sent, believed, project.spec["classes"], version=_version(project))


def _version(project: Record) -> str:
    return f"{VERSION}-{project.votes}-{project.lesson}"


def _beliefs(replica: Replica, names: Sequence[str]) -> dict[str, list[float]]:
    known = [name for name in names if name in replica.ids]
    probs = replica.campaign.believed()[replica.campaign.pool.rows(known)]
    return dict(zip(known, probs.tolist(), strict=True))


@machine.post("/webhook")
def post_webhook(project: Admitted, sent: Sent, store: StoreOf) -> Heard:
    """Annotations that were made, changed or deleted there are votes here, which come, change or go."""
    changes = backend.changes(sent, project.spec["classes"])
    given = [change.vote for change in changes if change.vote is not None]
    gone = [change.key for change in changes if change.vote is None]
    with store.writing() as c:
        known = items.known(c, project.id, [vote.item for vote in given])
        told = [_told(vote) for vote in given if vote.item in known]
        if told:
            external_votes.tell(c, project.id, PLATFORM, told, again=True)
        back = store_relay.take_back(c, project.id, PLATFORM, gone) if gone else 0
    return Heard(taken=len(told) + back, skipped=len(changes) - len(told) - back)
