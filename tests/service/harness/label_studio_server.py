"""A real Label Studio on loopback, with users who label through the API that its own pages call.

Its environment variables, options and addresses are those of label-studio 1.23.2 (`label_studio/server.py`,
`core/settings/base.py`, https://api.labelstud.io).
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.equip import label_studio
from tests.service.harness.waiting import eventually, free_port, need

ADMIN, PASSWORD, TOKEN = (
    "admin@example.org",
    "a-password-of-tests",
    "0123456789abcdef0123456789abcdef01234567",
)
START_SECONDS = 300.0
ALONE = {
    "COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "", "FEATURE_FLAGS_OFFLINE": "true",
}  # fmt: skip
CHOICES = '<View><Text name="text" value="$text"/><Choices name="label" toName="text">{}</Choices></View>'


def choices_config(classes: Sequence[str]) -> str:
    """A labelling configuration with one text and one choice."""
    return CHOICES.format("".join(f'<Choice value="{name}"/>' for name in classes))


@dataclass(frozen=True)
class User:
    """Somebody who has signed in: what Label Studio knows them by."""

    address: str
    token: str
    id: int
    email: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of the API, parsed; an `HTTPError` if it refuses."""
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as response:
            text = response.read()
        return json.loads(text) if text else None

    def next_task(self, project: int) -> dict[str, Any] | None:
        """The task that the button "Label all tasks" shows next; None if there is none."""
        try:
            found: dict[str, Any] = self.call(
                "POST", f"/api/dm/actions?id=next_task&project={project}", {"project": project}
            )
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 404:
                raise
            return None
        return found

    def submit(self, task: int, choice: str, *, control: str = "label", **fields: Any) -> int:
        """Answer a task with a choice; the id of the annotation."""
        body = {"result": [result_of(choice, control)], "lead_time": 2.5, **fields}
        return int(self.call("POST", f"/api/tasks/{task}/annotations/", body)["id"])

    def skip(self, task: int) -> int:
        """Skip a task; the id of the annotation, which is cancelled."""
        body = {"result": [], "was_cancelled": True}
        return int(self.call("POST", f"/api/tasks/{task}/annotations/", body)["id"])

    def update(self, annotation: int, choice: str, *, control: str = "label") -> None:
        """Change an answer, perhaps that of somebody else."""
        self.call("PATCH", f"/api/annotations/{annotation}/", {"result": [result_of(choice, control)]})

    def delete(self, annotation: int) -> None:
        """Delete an answer."""
        self.call("DELETE", f"/api/annotations/{annotation}/")

    def save_draft(self, task: int, choice: str, *, control: str = "label") -> int:
        """Keep an answer that is not submitted; the id of the draft."""
        body = {"result": [result_of(choice, control)], "lead_time": 1.0}
        return int(self.call("POST", f"/api/tasks/{task}/drafts", body)["id"])

    def personal_token(self) -> str:
        """A personal access token, which is what Label Studio gives to users today, one to each."""
        return str(self.call("POST", "/api/token/", {})["token"])


def result_of(choice: str, control: str) -> dict[str, Any]:
    """The result of an annotation with one choice, as the editor writes it."""
    return {"from_name": control, "to_name": "text", "type": "choices", "value": {"choices": [choice]}}


@dataclass
class LabelStudio:
    """A running Label Studio: where it listens, and its administrator."""

    address: str
    admin: User
    log: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def add_user(self, name: str = "annotator") -> User:
        """A user who has signed up in the organisation; a name may be used again."""
        email = f"{name}-{next(self.numbers)}@example.org"
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar := CookieJar()))
        opener.open(f"{self.address}/user/signup/", timeout=60).close()
        csrf = next(cookie.value for cookie in jar if cookie.name == "csrftoken")
        form = urlencode({"email": email, "password": PASSWORD, "csrfmiddlewaretoken": csrf}).encode()
        opener.open(f"{self.address}/user/signup/", form, timeout=60).close()
        with opener.open(f"{self.address}/api/current-user/token", timeout=60) as response:
            token = json.loads(response.read())["token"]
        return known_user(self.address, token)

    def add_project(self, config: str, tasks: Sequence[dict[str, Any]] = (), **settings: Any) -> int:
        """The id of a new project with a labelling configuration, and tasks: the data of each.

        Parameters
        ----------
        config
            Labelling configuration, as `choices_config` writes one.
        tasks
            What `import_tasks` takes.
        settings
            Further fields of the project, such as title and maximum_annotations.
        """
        body = {"title": "A project of tests", "label_config": config, **settings}
        project = int(self.admin.call("POST", "/api/projects/", body)["id"])
        if tasks:
            self.import_tasks(project, tasks)
        return project

    def import_tasks(self, project: int, tasks: Sequence[dict[str, Any]]) -> list[int]:
        """The ids of new tasks: data alone, or tasks with data, annotations and predictions."""
        path = f"/api/projects/{project}/import?return_task_ids=true"
        return list(self.admin.call("POST", path, list(tasks))["task_ids"])

    def tasks(self, project: int) -> list[dict[str, Any]]:
        """All tasks as the data manager lists them, with annotations and predictions."""
        path = f"/api/tasks?project={project}&fields=all&page_size=10000"
        return list(self.admin.call("GET", path)["tasks"])

    def annotations(self, project: int) -> list[dict[str, Any]]:
        """All annotations of all tasks, those that are cancelled too."""
        return [one for task in self.tasks(project) for one in task["annotations"]]

    def export(self, project: int, kind: str = "JSON") -> Any:
        """The export of a project, with tasks that have no annotation."""
        path = f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true"
        return self.admin.call("GET", path)

    def webhooks(self, project: int) -> list[dict[str, Any]]:
        """The webhooks of a project."""
        return list(self.admin.call("GET", f"/api/webhooks/?project={project}"))

    def backends(self, project: int) -> list[dict[str, Any]]:
        """The ML backends of a project."""
        return list(self.admin.call("GET", f"/api/ml?project={project}"))


def known_user(address: str, token: str) -> User:
    """The user of a token."""
    nobody = User(address, token, 0, "")
    found = nobody.call("GET", "/api/current-user/whoami")
    return User(address, token, int(found["id"]), found["email"])


@contextmanager
def running_label_studio(folder: Path, *, guarded: bool = False, port: int = 0) -> Iterator[LabelStudio]:
    """A Label Studio whose data are in a folder, until the end of the block.

    Parameters
    ----------
    folder
        For its database and its log; one that it has left is taken up again.
    guarded
        Whether it refuses addresses of this machine and of private networks, as it does if nobody says
        otherwise.
    port
        Where it listens; 0 is a free one.
    """
    program = need(label_studio(), "label-studio")
    port = port or free_port()
    address, log = f"http://127.0.0.1:{port}", folder / "label-studio.log"
    protection = {name: str(guarded).lower() for name in ("SSRF_PROTECTION_ENABLED", "ML_BLOCK_LOCAL_IP")}
    data = {"LABEL_STUDIO_BASE_DATA_DIR": str(folder), **protection}
    with log.open("a") as output:
        process = subprocess.Popen(
            [program, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port),
             "--username", ADMIN, "--password", PASSWORD, "--user-token", TOKEN, "--enable-legacy-api-token"],
            env={**os.environ, **ALONE, **data}, cwd=folder, stdout=output, stderr=output,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        eventually(lambda: process.poll() is not None or is_up(address), START_SECONDS)
        assert process.poll() is None, f"Label Studio did not start:\n{log.read_text()[-2000:]}"
        yield LabelStudio(address, known_user(address, TOKEN), log)
    finally:
        process.terminate()
        process.wait(30)


def is_up(address: str) -> bool:
    """Whether Label Studio answers."""
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5):
            return True
    except OSError:
        return False
