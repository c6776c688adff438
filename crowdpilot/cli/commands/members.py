"""`crowdpilot members`: who requests labels, and what they may do in projects."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdpilot.cli.shared.completion import one_of
from crowdpilot.cli.shared.options import Json, examples
from crowdpilot.cli.shared.output import print_message, print_table
from crowdpilot.cli.shared.service_options import (
    DATABASE,
    Database,
    IsOperator,
    load_service,
    moment,
    write_transaction,
)

Name = Annotated[str, typer.Argument(help="Name of the member.")]
ROLES = ("read", "label-ops", "write", "admin")
NO_ROLE, OPERATOR, MEMBER = "none", "operator", "member"
members = typer.Typer(
    no_args_is_help=True,
    epilog=examples("members add ann", "members role ann write PROJECT"),
    help="List, add and remove members of the service, and give them roles.",
)


@members.command("list", epilog=examples("members list", "members list --json"))
def list_members(database: Database = DATABASE, as_json: Json = False) -> None:
    """List members with their projects."""
    with write_transaction(database) as c:
        store = load_service("store.requesters.members")
        roles: dict[str, list[str]] = {}
        for role in store.roles(c):
            roles.setdefault(role.member, []).append(f"{role.role} in {role.project}")
        rows = [
            (
                row.id,
                row.name,
                "yes" if row.operator else "",
                moment(row.created),
                "; ".join(roles.get(row.id, [])),
            )
            for row in store.list_all(c)
        ]
    print_table(("id", "name", "operator", "created", "projects"), rows, as_json=as_json)


@members.command(epilog=examples("members add ann", "members add root --operator"))
def add(name: Name, operator: IsOperator = False, database: Database = DATABASE) -> None:
    """Add a member, who has no project yet; give them a key with `crowdpilot keys create`."""
    actions = load_service("requesters.members")
    with write_transaction(database) as c:
        actions.add(c, actions.COMMAND_LINE, name, operator=operator)
    print_message(f"{name} is a member")


@members.command(epilog=examples("members remove ann"))
def remove(name: Name, database: Database = DATABASE) -> None:
    """Remove a member: their keys and sessions end at once, their projects stay."""
    actions = load_service("requesters.members")
    with write_transaction(database) as c:
        actions.remove(c, actions.COMMAND_LINE, actions.find_by_name(c, name).id)
    print_message(f"{name} is removed")


@members.command(epilog=examples("members role ann write PROJECT", "members role ann operator"))
def role(
    name: Name,
    role: Annotated[
        str,
        typer.Argument(
            help="In a project: read, label-ops, write, admin, or none. In the service: operator, or member.",
            autocompletion=one_of(*ROLES, NO_ROLE, OPERATOR, MEMBER),
        ),
    ],
    project: Annotated[str, typer.Argument(help="Id of the project.")] = "",
    database: Database = DATABASE,
) -> None:
    """Give a member a role in a project, or make them an operator of the service."""
    if (role in (OPERATOR, MEMBER)) == bool(project):
        needs = (
            "is for the whole service; leave the project out" if project else "is for a project; name its id"
        )
        raise ValueError(f"the role {role} {needs}")
    actions = load_service("requesters.members")
    with write_transaction(database) as c:
        by, member = actions.COMMAND_LINE, actions.find_by_name(c, name)
        if not project:
            actions.set_operator(c, by, member.id, role == OPERATOR)
        elif role == NO_ROLE:
            actions.remove_from_project(c, by, project, member.id)
        else:
            actions.set_role(c, by, project, name, role)
    print_message(f"{name} has the role {role}{f' in {project}' if project else ''}")
