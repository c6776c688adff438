"""Pages that create a project: steps of one form, checked as they are filled in, and the preview of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData, UploadFile

from crowdpilot.service import access
from crowdpilot.service.errors import NotFoundError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.http.base_path import url
from crowdpilot.service.outgoing.addresses import check_new_webhook
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.setup.copied_project import (
    CopiedProject,
    find_copied,
    read_copied,
    what_is_not_copied,
)
from crowdpilot.service.pages.dashboard.setup.fields import (
    YES,
    Typed,
    group_of,
    label_of,
    read_rows,
    read_typed,
)
from crowdpilot.service.pages.dashboard.setup.form import form_data, new_typed, parse_form, to_typed
from crowdpilot.service.pages.dashboard.setup.pictures import read_pictures
from crowdpilot.service.pages.dashboard.setup.summary import summarise
from crowdpilot.service.pages.dashboard.setup.templates import list_templates, template_spec
from crowdpilot.service.pages.dashboard.setup.upload_preview import preview_upload
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters.project_creation import (
    PLACEHOLDER,
    MissingPictureError,
    NewContents,
    create_project,
    drop_missing_pictures,
)
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.schemas.settings_files import read_settings, write_settings
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.uploads import items

NO_FILES = "Choose a file with items: a table, or one or more images, sounds or videos."
STEPS: Mapping[str, tuple[str, ...]] = {  # title, and the groups of fields; items come first
    "Items": ("files",),
    "Question": ("question", "classes"),
    "Instructions": ("readings",),
    "Money": ("costs",),
    "Deciding": ("people",),
    "Workers": ("limits", "platforms", "notify", "more"),
    "Summary": (),
}
MAX_NAME_CHARACTERS = 200


def creating(requester: Writing) -> Requester:
    """A requester who posts a form and may create projects."""
    access.check_may_create(requester.access)
    return requester


Creating = Annotated[Requester, Depends(creating)]


def pages() -> APIRouter:
    """Routes of the wizard."""
    return router([
        ("GET", "/projects/new", show_new), ("POST", "/projects/new", create),
        ("POST", "/projects/new/check", check), ("POST", "/projects/new/preview", preview_items),
        ("POST", "/projects/new/import", import_settings),
        ("GET", "/projects/{id}/duplicate", duplicate),
        ("GET", "/projects/{id}/settings.json", export_settings),
    ])  # fmt: skip


def show_new(requester: Reading, template: str = "") -> Response:
    """The form, empty or filled in by a template."""
    spec = template_spec(template) if template else None
    if template and spec is None:
        raise NotFoundError("there is no such template; choose another")
    return _form_page(requester, new_typed() if spec is None else to_typed(spec), template=template)


def duplicate(id: str, requester: Reading, store: StoreOf) -> Response:
    """The form with the settings of another project."""
    with store.reading() as c:
        project, copied = projects.find(c, id), find_copied(c, requester, id)
    typed = to_typed({**project.spec, "name": f"Copy of {project.name}"[:MAX_NAME_CHARACTERS]})
    return _form_page(requester, typed, copied=copied)


def export_settings(id: str, requester: Reading, store: StoreOf) -> Response:
    """The settings of a project as a file that `import_settings` and the API take."""
    with store.reading() as c:
        project = projects.find(c, id)
    headers = {
        "Content-Disposition": f'attachment; filename="project-{id}.json"',
        "Cache-Control": "no-store",
    }
    return Response(write_settings(dict(project.spec)), 200, headers, "application/json")


def import_settings(form: Form, requester: Creating, store: StoreOf) -> Response:
    """The form with the settings of a file, without pictures that are not on this server."""
    file = form.get("settings")
    try:
        if not isinstance(file, UploadFile) or not file.filename:
            raise ValueError("Choose a file with settings.")
        project = read_settings(file.filename, file.file.read())
    except ValueError as error:
        return _form_page(requester, new_typed(), {"settings": sentence(str(error))})
    with store.reading() as c:
        spec, missing = drop_missing_pictures(c, project.model_dump())
    dropped = [label_of(f"{group}-{row}-image") for group, row in missing]
    return _form_page(requester, to_typed(spec), imported=file.filename, dropped=dropped)


def preview_items(form: Form, requester: Creating) -> Response:
    """What is in the chosen files, perhaps with the answers that are final; nothing is stored."""
    typed = read_typed(form)
    classes, criteria = (_names(typed, group) for group in ("classes", "criteria"))
    files, is_final = _files(form), form.get("final") == YES
    found = preview_upload(files, classes, criteria, is_final=is_final) if files else None
    questions = [row.fields["question"] or row.fields["name"] for row in read_rows(typed, "criteria")]
    question = (questions or [typed["question"] or "Your question"])[0]
    return show("setup/preview.html", requester, found=found, question=question, classes=classes)


def _names(typed: Typed, group: str) -> list[str]:
    return [name for row in read_rows(typed, group) if (name := row.fields["name"])]


def check(form: Form, requester: Creating, store: StoreOf, settings: SettingsOf) -> Response:
    """What is wrong with the steps up to one, by field, and the summary if nothing is."""
    typed = read_typed(form)
    description, wrong = _parse(form, typed, settings)
    groups = [group for step in list(STEPS)[: _number(form.get("step"), len(STEPS))] for group in STEPS[step]]
    shown = {name: words for name, words in wrong.items() if (group_of(name) or "more") in groups}
    summary: list[str] = []
    if description is not None:
        with store.reading() as c:
            summary = _summarise(c, requester, form, description.model_dump())
    return JSONResponse({"wrong": shown, "summary": summary}, headers={"Cache-Control": "no-store"})


def _summarise(c: Connection, requester: Requester, form: FormData, spec: dict[str, Any]) -> list[str]:
    """What the project will be, with the items that are copied."""
    n_items, copied = _number(form.get("items"), 0), find_copied(c, requester, read_copied(form))
    if copied is None:
        return summarise(spec, n_items)
    return [*summarise(spec, n_items + copied.n_items), *what_is_not_copied(c, copied, spec)]


def create(
    request: Request, form: Form, requester: Creating, store: StoreOf, settings: SettingsOf
) -> Response:
    """Create a project with its items, or say what is wrong beside each field."""
    typed, pictures, wrong = read_pictures(form, read_typed(form), PLACEHOLDER)
    description, more = _parse(form, typed, settings)
    wrong |= more
    files, copied = _files(form), read_copied(form)
    if not files and not copied:
        wrong["files"] = NO_FILES
    if description is not None and not wrong:
        try:
            contents = NewContents(files, pictures, copied)
            new = create_project(store, requester.access, description.model_dump(), contents)
            return _created(request, f"/projects/{new.id}")
        except (RequestError, ValueError) as error:
            wrong = {_field(error, typed): sentence(str(error))}
    if _wants_json(request):
        return JSONResponse({"wrong": wrong}, 422, {"Cache-Control": "no-store"})
    with store.reading() as c:
        shown = find_copied(c, requester, form.get("copied_project"), is_ticked=bool(copied))
    return _form_page(requester, read_typed(form), wrong, copied=shown)


def _field(error: Exception, typed: Typed) -> str:
    """The field beside which an error of the creation stands: that of a picture, or the items."""
    if isinstance(error, MissingPictureError):
        return f"{error.group}-{read_rows(typed, error.group)[error.row].number}-image"
    return "files"


def _parse(form: FormData, typed: Typed, settings: Settings) -> tuple[ProjectIn | None, dict[str, str]]:
    description, wrong = parse_form(typed)
    try:
        check_new_webhook("" if "webhook" in wrong else typed["webhook"], settings.webhook_networks)
    except ValueError as error:
        wrong["webhook"] = sentence(str(error))
    return description, wrong


def _created(request: Request, path: str) -> Response:
    return JSONResponse({"address": url(path)}, 201) if _wants_json(request) else go(path)


def _wants_json(request: Request) -> bool:
    """Whether the script of the page has sent the form, so that the chosen files stay chosen."""
    return "application/json" in request.headers.get("accept", "")


def _form_page(
    requester: Requester, typed: Typed, wrong: Mapping[str, str] | None = None, *, template: str = "",
    copied: CopiedProject | None = None, imported: str = "", dropped: Sequence[str] = (),
) -> Response:  # fmt: skip
    wrong = wrong or {}
    data = {**form_data(typed, wrong), "steps": list(STEPS), "templates": list_templates().values(),
            "template": template, "copied": copied, "imported": imported, "dropped": dropped}  # fmt: skip
    return show("setup/wizard.html", requester, status=422 if wrong else 200, **data)


def _files(form: FormData) -> list[items.File]:
    sent = [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
    return [items.File(file.filename or "", file.file.read()) for file in sent]


def _number(value: Any, otherwise: int) -> int:
    return (
        int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10
        else otherwise
    )
