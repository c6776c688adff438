"""`crowdpilot connect`: a project of another program, which the service follows and drives."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from crowdpilot.cli.commands.project import LOCAL_ADDRESS, Address, Key
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message
from crowdpilot.cli.shared.service_client import ServiceClient
from crowdpilot.cli.shared.service_options import (
    DATABASE,
    Database,
    SecretFile,
    WebhookNetworks,
    load_service,
    moment,
    open_store,
)

MAX_PROBLEMS_SHOWN = 5
STATES = {
    "connecting": "tasks are still being pulled",
    "running": "annotators are given tasks",
    "waiting": "tasks are open, and nobody has answered for an hour",
    "finished": "no more votes are needed",
    "stopped": "the project is paused or stopped",
    "failing": "the last synchronisation did not succeed",
}
connect = typer.Typer(
    no_args_is_help=True,
    epilog=examples("connect label-studio https://studio.example.org --project 7"),
    help="Connect a project of another program to the service, which then chooses what is labelled there.",
)


@connect.callback()
def _connect() -> None:
    """With a callback, the name of the program is typed although there is only one."""


class Target(NamedTuple):
    """A project of Label Studio, and the project here that it is or will be connected to."""

    address: str
    token: str
    number: int | None
    control: str | None
    into: str
    changes: dict[str, Any]  # of the settings of a new project

    def body(self) -> dict[str, Any]:
        """As the API takes it."""
        return {"address": self.address, "token": self.token, "project": self.number, "control": self.control}

    def check_all(self) -> None:
        """Raise a `ValueError` if something is missing or superfluous."""
        needed = {
            "the address of Label Studio": self.address,
            "--token": self.token,
            "--project": self.number,
        }
        if missing := [name for name, value in needed.items() if not value]:
            raise ValueError(f"{missing[0]} is missing; see crowdpilot connect label-studio --help")
        if self.into and self.changes:
            raise ValueError("--name and --settings are for new projects, and --into names one that is there")

    def check_id(self) -> None:
        """Raise a `ValueError` if no project here is named."""
        if not self.into:
            raise ValueError("say which project is meant: --into PROJECT, the end of the address of its page")


@connect.command(
    epilog=examples(
        "connect label-studio https://studio.example.org --project 7 --token TOKEN",
        "connect label-studio https://studio.example.org --project 7 --into PROJECT",
        "connect label-studio --into PROJECT --status",
    )
)
def label_studio(
    url: Annotated[str, typer.Argument(help="Address of the Label Studio server.")] = "",
    token: Annotated[
        str,
        typer.Option(
            envvar="LABEL_STUDIO_TOKEN",
            help="Access token of a user of Label Studio; as a variable, it is not in the shell's history.",
        ),
    ] = "",
    number: Annotated[
        int | None,
        typer.Option("--project", min=1, help="Number of the project there, as in its address /projects/7."),
    ] = None,
    control: Annotated[
        str | None, typer.Option(help="Name of the choices to ask, if the project there has several.")
    ] = None,
    into: Annotated[
        str, typer.Option(metavar="PROJECT", help="Id of a project here; without it, a new one is created.")
    ] = "",
    name: Annotated[str, typer.Option(help="Name of the new project, instead of the title there.")] = "",
    settings: Annotated[
        Path | None,
        typer.Option(
            help="Settings of the new project in JSON or TOML, such as costs; see `project create`."
        ),
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Only show where the connection stands.")] = False,
    disconnect: Annotated[
        bool, typer.Option("--disconnect", help="End the connection; tasks and votes stay in both programs.")
    ] = False,
    database: Database = DATABASE,
    address: Address = LOCAL_ADDRESS,
    key: Key = "",
    secret_file: SecretFile = None,
    webhook_network: WebhookNetworks = None,
) -> None:
    """Pull the tasks and annotations of a project of Label Studio, and choose there what is labelled next."""
    changes = _read_changes(settings) | ({"name": name} if name else {})
    target = Target(url, token, number, control, into, changes)
    if status and disconnect:
        raise ValueError("--status and --disconnect cannot be used together")
    if status or disconnect:
        target.check_id()
    else:
        target.check_all()
    if key:
        _run(_OverHttp(ServiceClient(address, key)), target, address, status, disconnect)
    else:
        networks = webhook_network or []
        with _in_database(database, address, secret_file, networks) as service:
            _run(service, target, address, status, disconnect)


def _run(
    service: _OverHttp | _InDatabase, target: Target, address: str, status: bool, disconnect: bool
) -> None:
    id = target.into
    if disconnect:
        service.disconnect(id)
        print_message("disconnected; tasks and votes stay in both programs")
        return
    if status:
        found = service.find(id)
    elif id:
        found = service.connect(id, target.body())
    else:
        id, found = service.create({**target.body(), "settings": target.changes})
    typer.echo(f"{address.rstrip('/')}/projects/{id}/label-studio")
    _print_connection(found)


def _print_connection(found: Mapping[str, Any]) -> None:
    """Where a connection stands, and what went wrong last."""
    words = STATES.get(found["state"], found["state"])
    print_message(f"project {found['project']} of {found['address']} ({found['title']}): {words}")
    print_message(
        f"{found['tasks']:,} tasks, {found['votes']:,} votes, {found['open_tasks']:,} tasks open now; "
        f"compared: {moment(found['last_sync']) or 'not yet'}"
    )
    for problem in found["problems"][:MAX_PROBLEMS_SHOWN]:
        print_message(f"{moment(problem['time'])}: {problem['sentence']}")


def _read_changes(file: Path | None) -> dict[str, Any]:
    """Some of the settings of a project, from a JSON or TOML file."""
    if file is None:
        return {}
    format = "TOML" if file.suffix.lower() == ".toml" else "JSON"
    try:
        text = file.read_text("utf-8-sig")
        found = tomllib.loads(text) if format == "TOML" else json.loads(text)
    except ValueError as error:
        raise ValueError(f"{file}: this is no {format} ({str(error).partition(chr(10))[0]})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: this holds no settings of a project; expected fields such as costs")
    return found


# Where the service is


class _OverHttp(NamedTuple):
    """A service that runs, asked with a key."""

    client: ServiceClient

    def create(self, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        new = self.client.post("/api/projects/label-studio", body)
        return new["id"], new["connection"]

    def connect(self, id: str, body: Mapping[str, Any]) -> Any:
        return self.client.post(_path(id), body)

    def find(self, id: str) -> Any:
        return self.client.get(_path(id))

    def disconnect(self, id: str) -> None:
        self.client.delete(_path(id))


def _path(id: str) -> str:
    return f"/api/projects/{id}/label-studio/connection"


class _InDatabase(NamedTuple):
    """The database of a service, with the key of its owner."""

    store: Any
    settings: Any
    requester: Any

    def create(self, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        module, to = self._read(body)
        spec = module.read_spec(self.settings, self.requester, to, body["settings"])
        made = module.create_connected(self.store, self.settings, self.requester, spec, to)
        return made.new.id, _as_sent(made.connection)

    def connect(self, id: str, body: Mapping[str, Any]) -> Any:
        module, to = self._read(body)
        return _as_sent(module.connect(self.store, self.settings, id, self.requester.actor, to))

    def find(self, id: str) -> Any:
        return _as_sent(_module().find(self.store, id))

    def disconnect(self, id: str) -> None:
        self.find(id)
        load_service("label_studio.connection").disconnect(
            self.store, self.settings, id, self.requester.actor
        )

    def _read(self, body: Mapping[str, Any]) -> tuple[Any, Any]:
        module = _module()
        return module, module.read_target({name: body[name] for name in body if name != "settings"})


def _module() -> Any:
    return load_service("requesters.label_studio_projects")


def _as_sent(connection: Any) -> dict[str, Any]:
    """A connection as the API writes it."""
    values = {**connection._asdict(), "problems": [problem._asdict() for problem in connection.problems]}
    return {**values, "project": values.pop("ls_project")}


@contextmanager
def _in_database(
    database: str, address: str, secret_file: Path | None, networks: Sequence[str]
) -> Iterator[_InDatabase]:
    module = load_service("settings")
    store = open_store(module.database_url(database))
    try:
        settings = module.load_settings(database, address, secret=secret_file, webhook_networks=networks)
        with store.writing() as c:
            keys = load_service("store.requesters.keys")
            requester = load_service("access").requester_of_key(keys.find_by_id(c, keys.local_key_id(c)))
        yield _InDatabase(store, settings, requester)
    except load_service("errors").RequestError as error:
        raise ValueError(str(error)) from None
    finally:
        store.close()
