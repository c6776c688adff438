"""Projects of Label Studio that requesters connect: to a project here, or to a new one made after it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from crowdpilot.service import access
from crowdpilot.service.access import Requester
from crowdpilot.service.errors import InvalidRequestError, NotFoundError
from crowdpilot.service.label_studio import connection
from crowdpilot.service.label_studio.connection import Connection
from crowdpilot.service.requesters.project_creation import NewProject, create_empty_project
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.schemas.fields import Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store
from crowdpilot.service.store.erasure import projects as deletion

TAKEN_OVER = "name", "question", "classes", "instructions"  # of a project there, for one here
MAX_TOKEN_CHARACTERS = 4000  # a personal access token has about 300
RESERVED = "reserved network address"  # what Label Studio says of addresses that it does not call
HOW_TO_REACH = (
    "start Label Studio with the environment variable SSRF_PROTECTION_ENABLED=false, or the service with an "
    "--address that is public"
)
NOT_CONNECTED = "the project is not connected to Label Studio; connect it first"


def _check_address(text: str) -> str:
    """An address without spaces at its ends and slashes at its end."""
    if re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", text.strip()) is None:
        raise ValueError(
            "this is no address of a Label Studio server; write one such as https://studio.example.org"
        )
    return text.strip().rstrip("/")


def _check_token(text: str) -> str:
    if re.fullmatch(r"[\x21-\x7e]+", text.strip()) is None:
        raise ValueError(
            "this is no access token; copy one from Label Studio, where it is under Account & Settings"
        )
    return text.strip()


class ConnectionIn(Strict):
    """Where a project of Label Studio is: address of the server, access token, number of the project.

    `control` is the name of the choices that are asked, where its labelling configuration has several.
    """

    address: Annotated[Plain, Field(max_length=2000), AfterValidator(_check_address)]
    token: Annotated[Plain, Field(max_length=MAX_TOKEN_CHARACTERS), AfterValidator(_check_token)]
    project: Annotated[int, Field(ge=1, lt=2**31)]
    control: Annotated[Plain, Field(min_length=1, max_length=200)] | None = None

    def arguments(self) -> dict[str, Any]:
        """As functions of connections take them."""
        return {**self.model_dump(exclude={"project"}), "ls_project": self.project}


class Connected(NamedTuple):
    """A new project, and its connection."""

    new: NewProject
    connection: Connection


def read_target(values: Mapping[str, Any]) -> ConnectionIn:
    """What was typed, checked; an `InvalidRequestError` says what is wrong."""
    try:
        return ConnectionIn.model_validate(values)
    except ValidationError as error:
        raise _invalid(error) from None


def find(store: Store, project: str) -> Connection:
    """The connection of a project; a `NotFoundError` if it has none."""
    found = connection.find(store, project)
    if found is None:
        raise NotFoundError(NOT_CONNECTED)
    return found


def connect(store: Store, settings: Settings, project: str, actor: str, to: ConnectionIn) -> Connection:
    """Connect a project to one of Label Studio."""
    try:
        return connection.connect(store, settings, project, actor, **to.arguments())
    except ValueError as error:
        if RESERVED in str(error):
            raise InvalidRequestError(f"{error}; {HOW_TO_REACH}") from None
        raise


def read_spec(
    settings: Settings, requester: Requester, to: ConnectionIn, changes: Mapping[str, Any]
) -> ProjectIn:
    """The settings of a new project after one of Label Studio, with changes."""
    access.check_may_create(requester)
    found = connection.project_spec(settings, **to.arguments())
    try:
        return ProjectIn.model_validate({**{name: found[name] for name in TAKEN_OVER}, **changes})
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> InvalidRequestError:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    message = str(first["msg"]).removeprefix("Value error, ")
    return InvalidRequestError(f"{where}: {message}" if where else message)


def create_connected(
    store: Store, settings: Settings, requester: Requester, spec: ProjectIn, to: ConnectionIn
) -> Connected:
    """Create a project and connect it; if it cannot be connected, there is no project."""
    with store.writing() as c:
        new = create_empty_project(c, requester, spec.model_dump())
    try:
        return Connected(new, connect(store, settings, new.id, requester.actor, to))
    except Exception:
        with store.writing() as c:
            deletion.begin(c, new.id, requester.actor)
        raise
