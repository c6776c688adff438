"""`crowdpilot project`: projects of the service from files of settings, and their settings as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message
from crowdpilot.cli.shared.service_client import SentFile, ServiceClient
from crowdpilot.cli.shared.service_options import DATABASE, Database, SecretFile, load_service, open_store

LOCAL_ADDRESS = "http://127.0.0.1:8000"
Address = Annotated[
    str,
    typer.Option(
        envvar="CROWDPILOT_ADDRESS", help="Public URL of the service, as in https://label.example.org."
    ),
]
Key = Annotated[
    str,
    typer.Option(
        envvar="CROWDPILOT_KEY",
        help="Key of the service at --address, which is asked over HTTP; without it, the database is used.",
    ),
]
project = typer.Typer(
    no_args_is_help=True,
    epilog=examples("project create study.toml --upload texts.csv", "project settings PROJECT -o study.json"),
    help="Create a project of the service from a file of settings, or write the settings of one to a file.",
)


@project.command(
    epilog=examples(
        "project create study.toml --upload texts.csv",
        "project create study.json --upload pictures/ --name 'Second round'",
        "project create study.json --address https://label.example.org --key KEY",
    )
)
def create(
    file: Annotated[
        Path,
        typer.Argument(help="Settings in JSON or TOML: the fields of the API, such as name and classes."),
    ],
    upload: Annotated[
        list[Path] | None,
        typer.Option(
            "--upload",
            help="A table of items, images, sounds, videos, a zip archive or a folder; repeat it.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the project, instead of that in the file.")] = "",
    database: Database = DATABASE,
    address: Address = LOCAL_ADDRESS,
    key: Key = "",
    secret_file: SecretFile = None,
) -> None:
    """Create a project from FILE, with items if there are any; print its page and the link for workers."""
    changes = {"name": name} if name else {}
    read_settings = load_service("schemas.settings_files").read_settings
    spec = read_settings(file.name, file.read_bytes(), changes).model_dump()
    files = _read_files(upload or [])
    if key:
        id, link = _create_over_http(ServiceClient(address, key), spec, files)
    else:
        id, link = _create_in_database(database, address, secret_file, spec, files)
    typer.echo(f"{address.rstrip('/')}/projects/{id}")
    typer.echo(link)
    print_message("the first is the page of the project, the second the link for workers")


@project.command(epilog=examples("project settings PROJECT", "project settings PROJECT -o study.json"))
def settings(
    id: Annotated[
        str, typer.Argument(metavar="PROJECT", help="Id of the project: the end of the address of its page.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; if not given, standard output.")
    ] = None,
    database: Database = DATABASE,
    address: Address = LOCAL_ADDRESS,
    key: Key = "",
) -> None:
    """Write the settings of a project as JSON, from which `create` makes another."""
    spec = ServiceClient(address, key).get(f"/api/projects/{id}")["spec"] if key else _read_spec(database, id)
    text = load_service("schemas.settings_files").write_settings(spec)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, "utf-8")


def _read_files(paths: Sequence[Path]) -> list[SentFile]:
    """Files, and all files in folders, called by their path below the folder."""
    found = []
    for path in paths:
        inside = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        if path.is_dir() and not inside:
            raise ValueError(f"the folder {path} has no files; name another")
        found += [SentFile(str(one.relative_to(path.parent)), one.read_bytes()) for one in inside]
    return found


def _create_over_http(
    client: ServiceClient, spec: dict[str, Any], files: Sequence[SentFile]
) -> tuple[str, str]:
    new = client.post("/api/projects", spec)
    if files:
        try:
            client.post_files(f"/api/projects/{new['id']}/items", files)
        except ValueError as error:
            raise ValueError(f"the project {new['id']} is created, but has no items: {error}") from None
    return new["id"], new["link"]


def _create_in_database(
    database: str, address: str, secret_file: Path | None, spec: dict[str, Any], files: Sequence[SentFile]
) -> tuple[str, str]:
    creation, File = load_service("requesters.project_creation"), load_service("uploads.files").File
    module = load_service("settings")
    store = open_store(module.database_url(database))
    try:
        settings = module.load_settings(database, address, secret=secret_file)
        with store.writing() as c:
            keys = load_service("store.requesters.keys")
            requester = load_service("access").requester_of_key(keys.find_by_id(c, keys.local_key_id(c)))
        contents = creation.NewContents([File(*file) for file in files])
        new = creation.create_project(store, requester, spec, contents)
        link = load_service("platforms.invitation_links").invitation_url(
            settings.address, settings.secret, *new
        )
    except load_service("errors").RequestError as error:
        raise ValueError(str(error)) from None
    finally:
        store.close()
    return new.id, link


def _read_spec(database: str, id: str) -> dict[str, Any]:
    store = open_store(load_service("settings").database_url(database))
    try:
        with store.reading() as c:
            return dict(load_service("store.projects").find(c, id).spec)
    except load_service("errors").RequestError as error:
        raise ValueError(str(error)) from None
    finally:
        store.close()
