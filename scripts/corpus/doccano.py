"""Exports of doccano: the same project annotated by each member for themselves, and together."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from scripts.corpus.folder import RUN, Vote, write_folder
from scripts.corpus.program import Client, free_port, running
from scripts.corpus.scenario import ANNOTATORS, PASSWORD, SENTIMENT_VOTES, SENTIMENTS, TEXTS

FORMATS = ("JSONL", "JSON", "CSV", "fastText")
BOUNDARY = "corpus"
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings.production", "DEBUG": "False", "STANDALONE": "True"}
NO_USER = "who gave"  # part of the sentence that refuses a file without users


def make(program: Path) -> None:
    """Run `program` (the command `doccano`, which stands beside its interpreter) and write the folders."""
    programs = program.parent
    version = installed_version(programs)
    with TemporaryDirectory() as home, ExitStack() as stack:
        port = free_port()
        settings = {
            **SETTINGS, "DOCCANO_HOME": home, "DATABASE_URL": f"sqlite:///{home}/db.sqlite3",
            "MEDIA_ROOT": f"{home}/media", "PYTHONPATH": str(backend(programs)),
        }  # fmt: skip
        for command in (["init"], ["createuser", "--username", "admin", "--password", PASSWORD]):
            subprocess.run([programs / "doccano", *command], env=settings, cwd=home, check=True)
        web = ["gunicorn", "config.wsgi", "--chdir", str(backend(programs)), "--bind", f"127.0.0.1:{port}"]
        queue = ["doccano", "task", "--concurrency", "1"]
        for n, (name, *rest) in enumerate((web, queue)):  # its own `webserver` listens on all addresses
            stack.enter_context(running([programs / name, *rest], Path(home) / f"log{n}.txt", settings))
        export_all(port, {"program": "doccano", "version": version, "made": RUN})


def backend(programs: Path) -> Path:
    """The folder of its code."""
    return next((programs.parent / "lib").glob("python*/site-packages/backend"))


def installed_version(programs: Path) -> str:
    """The version that is installed."""
    code = "import importlib.metadata; print(importlib.metadata.version('doccano'))"
    return subprocess.check_output([programs / "python", "-c", code], text=True).strip()


def export_all(port: int, about: dict[str, Any]) -> None:
    """Make the projects and write what they export."""
    admin = signed_in(port, "admin")
    for name in ANNOTATORS:
        fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
        admin.call("POST", "/v1/users/create", fields)
    people = [signed_in(port, name) for name in ANNOTATORS]
    for together in (False, True):
        project = new_project(admin, together)
        add_members(admin, project)
        votes = annotate(admin, people, project, together)
        write_exports(admin, project, votes, about, together)
    write_several(admin, about)


def add_members(admin: Client, project: int) -> None:
    """All annotators become members of a project."""
    users = {user["username"]: user["id"] for user in admin.call("GET", "/v1/users")}
    roles = {role["name"]: role["id"] for role in admin.call("GET", "/v1/roles")}
    for name in ANNOTATORS:
        member = {"user": users[name], "role": roles["annotator"]}
        admin.call("POST", f"/v1/projects/{project}/members", member)


def signed_in(port: int, name: str) -> Client:
    """The client of a user."""
    client = Client(port)
    client.wait("/admin/login/")
    client.call("POST", "/v1/auth/login/", {"username": name, "password": PASSWORD})
    return client


def new_project(admin: Client, together: bool, single: bool = True) -> int:
    """The id of a project with texts that have metadata called `user` and `category`."""
    project = admin.call("POST", "/v1/projects", {
        "name": "Corpus", "description": "corpus", "guideline": "", "project_type": "DocumentClassification",
        "resourcetype": "TextClassificationProject", "collaborative_annotation": together,
        "single_class_classification": single, "tags": [],
    })["id"]  # fmt: skip
    for label in SENTIMENTS:
        admin.call("POST", f"/v1/projects/{project}/category-types", {"text": label})
    lines = [{"text": text, "user": "importer", "category": "news"} for text in TEXTS]
    upload(admin, project, "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode())
    return int(project)


def upload(admin: Client, project: int, content: bytes) -> None:
    """Import JSON lines as its page does, and wait for it."""
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="filepond"'
    body = (
        f"{part}\r\n\r\n{{}}\r\n{part}; filename=\"texts.jsonl\"\r\nContent-Type: text/plain\r\n\r\n".encode()
        + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    )  # fmt: skip
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    upload_id = admin.send("POST", "/v1/fp/process/", body, kind).decode()
    settings = {
        "format": "JSONL", "task": "DocumentClassification", "uploadIds": [upload_id],
        "column_data": "text", "column_label": "label", "encoding": "utf_8",
    }  # fmt: skip
    task = admin.call("POST", f"/v1/projects/{project}/upload", settings)["task_id"]
    while not admin.call("GET", f"/v1/tasks/status/{task}")["ready"]:
        time.sleep(0.3)


def annotate(admin: Client, people: list[Client], project: int, together: bool) -> list[Vote]:
    """The votes; each of them is confirmed, and one is changed."""
    listed = admin.call("GET", f"/v1/projects/{project}/examples?limit=100")["results"]
    by_text = {one["text"]: one["id"] for one in listed}
    types = {one["text"]: one["id"] for one in admin.call("GET", f"/v1/projects/{project}/category-types")}
    votes: list[Vote] = []
    for n, text in enumerate(TEXTS):
        for m, client in enumerate(people):
            label = SENTIMENT_VOTES[n][m]
            if label is None or (together and m != n % len(people)):
                continue
            path = f"/v1/projects/{project}/examples/{by_text[text]}"
            client.call("POST", f"{path}/categories", {"label": types["neutral"]})
            client.call("POST", f"{path}/categories", {"label": types[label]})  # replaces the one before
            client.call("POST", f"{path}/states", {})
            votes.append((by_text[text], ANNOTATORS[m], label))
    return votes


def write_exports(
    admin: Client, project: int, votes: list[Vote], about: dict[str, Any], together: bool
) -> None:
    """The zip file of each format."""
    for kind in FORMATS:
        task = admin.call(
            "POST", f"/v1/projects/{project}/download", {"format": kind, "exportApproved": False}
        )
        path = f"/v1/projects/{project}/download?taskId={task['task_id']}"
        while (content := admin.send("GET", path)).startswith(b'{"status"'):
            time.sleep(0.3)
        name = f"doccano-{'together' if together else 'each'}-{kind.lower()}"
        refused = {"refused": NO_USER} if together or kind == "fastText" else {}
        inside = [] if refused else votes
        write_folder(name, {"export.zip": content}, inside, {**about, "export": kind, **refused})
        if name == "doccano-each-jsonl":
            write_folder(f"{name}-unpacked", unpacked(content), inside, {**about, "export": kind})


def write_several(admin: Client, about: dict[str, Any]) -> None:
    """A project in which the admin gives a text two labels."""
    project = new_project(admin, together=False, single=False)
    add_members(admin, project)
    listed = admin.call("GET", f"/v1/projects/{project}/examples?limit=100")["results"]
    for label in admin.call("GET", f"/v1/projects/{project}/category-types")[:2]:
        path = f"/v1/projects/{project}/examples/{listed[0]['id']}/categories"
        admin.call("POST", path, {"label": label["id"]})
    for kind in ("JSONL", "CSV"):
        content = exported(admin, project, kind)
        said = {**about, "export": kind, "refused": "2 labels"}
        write_folder(f"doccano-several-labels-{kind.lower()}", {"export.zip": content}, [], said)


def exported(admin: Client, project: int, kind: str) -> bytes:
    """The zip file that a user would download."""
    options = {"format": kind, "exportApproved": False}
    task = admin.call("POST", f"/v1/projects/{project}/download", options)["task_id"]
    path = f"/v1/projects/{project}/download?taskId={task}"
    while (content := admin.send("GET", path)).startswith(b'{"status"'):
        time.sleep(0.3)
    return content


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files of a zip file."""
    with ZipFile(BytesIO(content)) as archive:
        return {f"export/{name}": archive.read(name) for name in sorted(archive.namelist())}
