"""Client of the API of Label Studio: projects, tasks, annotations, predictions, webhooks, ML backends.

Calls: https://api.labelstud.io/api-reference/introduction/getting-started; tokens:
https://labelstud.io/guide/access_tokens.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from crowdpilot import __version__
from crowdpilot.service.outgoing.addresses import Resolver, checked_addresses, parse_url, resolve
from crowdpilot.service.outgoing.connection import Deadline, connect
from crowdpilot.service.settings import Network

TASKS_PER_PAGE = 200
CALL_SECONDS = 30.0  # for one call, with its retries
TRIES = 3
PAUSE_SECONDS = 0.3  # before the second try, then twice as long
MAX_ANSWER_BYTES = 256 << 20
CHUNK_BYTES = 1 << 18
RETRIED_STATUSES = (429, 500, 502, 503, 504)
REFRESH_PATH = "/api/token/refresh"
OWN_TITLE = "Crowdpilot"  # of the ML backend, which people see there


class LabelStudioError(ValueError):
    """Label Studio did not do what was asked; the message says in one sentence why.

    Parameters
    ----------
    message
        For people.
    status
        The HTTP status code of its answer; 0 if there was none.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class LabelStudio:
    """A server of Label Studio and one of its users.

    Parameters
    ----------
    address
        Of the server; it may have a path.
    token
        A legacy token, or a personal access token, which is exchanged for one that lasts for minutes.
    networks
        Those that may be reached although they are not public, as for webhooks.
    seconds
        That one call may take.
    resolver
        Of names.
    """

    def __init__(
        self,
        address: str,
        token: str,
        networks: Sequence[Network] = (),
        *,
        seconds: float = CALL_SECONDS,
        resolver: Resolver = resolve,
    ) -> None:
        self.address, self._token = address.rstrip("/"), token.strip()
        self._networks, self._seconds, self._resolver = networks, seconds, resolver
        self._url = parse_url(self.address)
        if "?" in self._url.target:
            raise ValueError("the address of Label Studio has a query; leave out all from the question mark")
        self._is_personal = is_personal(self._token)
        self._access = ""  # the token of now, if the other is a personal one

    # Reading ---------------------------------------------------------------------------------

    def user(self) -> dict[str, Any]:
        """The user whose token it is."""
        return _record(self.call("GET", "/api/current-user/whoami"))

    def users(self) -> list[dict[str, Any]]:
        """All users of the organisation, with their numbers, e-mail addresses and last activity."""
        found = self.call("GET", "/api/users")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def project(self, number: int) -> dict[str, Any]:
        """A project."""
        try:
            return _record(self.call("GET", f"/api/projects/{number}"))
        except LabelStudioError as error:
            if error.status != 404:
                raise
            where = f"project {number} is not at {self.address}, or the user of the token may not see it"
            raise LabelStudioError(f"{where}; check the number, or disconnect", 404) from None

    def tasks(self, project: int, since: str | None = None) -> Iterator[list[dict[str, Any]]]:
        """All tasks with annotations and predictions, page by page; or those changed after a moment."""
        query: dict[str, Any] = {"project": project, "fields": "all", "page_size": TASKS_PER_PAGE}
        if since is not None:
            changed = {"filter": "filter:tasks:updated_at", "operator": "greater", "type": "Datetime"}
            filters = {"conjunction": "and", "items": [{**changed, "value": since}]}
            query["query"] = json.dumps({"filters": filters})
        page, seen = 1, 0
        while True:
            found = _record(self.call("GET", f"/api/tasks?{urlencode({**query, 'page': page})}"))
            tasks = found.get("tasks")
            if not isinstance(tasks, list):
                raise LabelStudioError("Label Studio gave no list of tasks; its version may not be supported")
            yield tasks
            page, seen = page + 1, seen + len(tasks)
            if not tasks or seen >= int(found.get("total") or 0):
                return

    def prediction(self, number: int) -> dict[str, Any]:
        """A prediction."""
        return _record(self.call("GET", f"/api/predictions/{number}"))

    def model_versions(self, project: int) -> list[str]:
        """The model versions of which a project has predictions."""
        found = self.call("GET", f"/api/projects/{project}/model-versions/")
        return [str(name) for name in found] if isinstance(found, dict) else []

    # Writing ---------------------------------------------------------------------------------

    def change_project(self, number: int, **values: Any) -> dict[str, Any]:
        """Set fields of a project."""
        return _record(self.call("PATCH", f"/api/projects/{number}", values))

    def change_task(self, number: int, **values: Any) -> dict[str, Any]:
        """Set fields of a task; returns it as it is then, with its annotations."""
        return _record(self.call("PATCH", f"/api/tasks/{number}", values))

    def change_annotation(self, number: int, **values: Any) -> None:
        """Set fields of an annotation."""
        self.call("PATCH", f"/api/annotations/{number}", values)

    def add_predictions(self, project: int, predictions: Sequence[Mapping[str, Any]]) -> None:
        """Add predictions, each with the number of its task."""
        self.call("POST", f"/api/projects/{project}/import/predictions", list(predictions))

    def delete_predictions(self, project: int, version: str) -> None:
        """Delete all predictions of a model version."""
        self.call("DELETE", f"/api/projects/{project}/model-versions/", {"model_version": version})

    def install_backend(self, project: int, url: str) -> None:
        """Make an ML backend of an address, unless there is one; Label Studio calls it at once."""
        if not any(one.get("url") == url for one in self._list(f"/api/ml?project={project}")):
            self.call("POST", "/api/ml", {"project": project, "url": url, "title": OWN_TITLE})

    def install_webhook(self, project: int, url: str) -> None:
        """Have all events of a project sent to an address, unless they are already."""
        if not any(one.get("url") == url for one in self._list(f"/api/webhooks/?project={project}")):
            sent = {"send_payload": True, "send_for_all_actions": True}
            self.call("POST", "/api/webhooks/", {"project": project, "url": url, **sent})

    def uninstall(self, project: int, url: str) -> None:
        """Remove webhooks and ML backends whose address begins with this one."""
        for path, one_path in (("/api/webhooks/", "/api/webhooks/{}/"), ("/api/ml", "/api/ml/{}")):
            for one in self._list(f"{path}?project={project}"):
                if str(one.get("url")).startswith(url):
                    self.call("DELETE", one_path.format(int(one["id"])))

    def _list(self, path: str) -> list[dict[str, Any]]:
        found = self.call("GET", path)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    # HTTP ------------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON that a call answers with; a `LabelStudioError` if it is refused or nobody answers.

        Calls that only read, and changes that can be made twice, are tried again.
        """
        deadline, pause = Deadline(self._seconds), PAUSE_SECONDS
        for left in range(TRIES if method in ("GET", "PATCH") else 1, 0, -1):
            try:
                return self._authorized(method, path, body, deadline)
            except LabelStudioError as error:
                if left == 1 or error.status not in (0, *RETRIED_STATUSES):
                    raise
            time.sleep(pause)
            pause *= 2
        raise AssertionError("a try either returns or raises")

    def _authorized(self, method: str, path: str, body: Any, deadline: Deadline) -> Any:
        if not self._is_personal:
            return self._answer(method, path, body, f"Token {self._token}", deadline)
        if self._access:
            try:
                return self._answer(method, path, body, f"Bearer {self._access}", deadline)
            except LabelStudioError as error:
                if error.status != 401:
                    raise
        refreshed = _record(self._answer("POST", REFRESH_PATH, {"refresh": self._token}, "", deadline))
        self._access = str(refreshed.get("access", ""))
        return self._answer(method, path, body, f"Bearer {self._access}", deadline)

    def _answer(self, method: str, path: str, body: Any, authorization: str, deadline: Deadline) -> Any:
        """The answer to one request, to addresses that were checked; redirects are not followed."""
        try:
            status, data = self._exchange(method, path, body, authorization, deadline)
        except (OSError, http.client.HTTPException) as error:
            raise LabelStudioError(f"Label Studio at {self.address} does not answer: {_why(error)}") from None
        if status >= 300:
            raise LabelStudioError(self._error_message(status, data), status)
        try:
            return json.loads(data) if data else None
        except ValueError:
            raise LabelStudioError(f"what answers at {self.address} is not Label Studio; check it") from None

    def _exchange(
        self, method: str, path: str, body: Any, authorization: str, deadline: Deadline
    ) -> tuple[int, bytes]:
        addresses = checked_addresses(self._url, self._networks, deadline.left(), self._resolver)
        connection = http.client.HTTPConnection(self._url.host, self._url.port)
        connection.sock = sock = connect(self._url, addresses, deadline)
        headers = {
            "Host": self._url.host_header, "User-Agent": f"Crowdpilot/{__version__}",
            "Accept": "application/json", "Connection": "close",
        }  # fmt: skip
        if authorization:
            headers["Authorization"] = authorization
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        with closing(sock), closing(connection):
            sock.settimeout(deadline.left())
            connection.request(method, self._url.target.rstrip("/") + path, data, headers)
            response = connection.getresponse()
            answer = bytearray()
            while piece := response.read1(CHUNK_BYTES):
                answer += piece
                if len(answer) > MAX_ANSWER_BYTES:
                    raise LabelStudioError(
                        "Label Studio answers with more than can be read; split its project"
                    )
                sock.settimeout(deadline.left())
            return response.status, bytes(answer)

    def _error_message(self, status: int, data: bytes) -> str:
        detail = _detail(data)
        if status == 401:
            return "Label Studio does not accept the access token; make a new one there and connect again"
        if status == 404:
            return f"there is nothing like this at {self.address}: {detail}"
        if 300 <= status < 400:
            return f"{self.address} sends elsewhere; give the address under which Label Studio is reached"
        return f"Label Studio refuses with status {status}: {detail}"


def is_personal(token: str) -> bool:
    """Whether a token is a personal access token (a JSON Web Token), not a legacy one."""
    parts = token.split(".")
    if len(parts) != 3:
        return False
    try:
        return isinstance(json.loads(base64.urlsafe_b64decode(parts[1] + "==")), dict)
    except (ValueError, binascii.Error):
        return False


def _record(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise LabelStudioError("Label Studio gave another answer than expected; its version may not be supported")


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it takes too long"
    return str(error).strip() or type(error).__name__


def _detail(data: bytes) -> str:
    """What an error answer says, in one line; validation errors are in a field of their own."""
    try:
        found = json.loads(data)
    except ValueError:
        return "no reason is given"
    if not isinstance(found, dict):
        return json.dumps(found)[:200]
    more = found.get("validation_errors")
    texts = [f"{name}: {json.dumps(text)}" for name, text in more.items()] if isinstance(more, dict) else []
    return "; ".join(texts)[:300] or str(found.get("detail") or "no reason is given")[:300]
