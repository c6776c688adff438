"""Members, roles, sessions of requesters; links, assignments, trust of workers; service time; limits."""

from __future__ import annotations

import secrets
import time

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

Long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SCOPES = ("read", "label-ops", "write", "admin")


def upgrade() -> None:
    """Every key keeps what it could do: its owner becomes a member of all projects there are."""
    op.create_table(
        "members",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text()),
        sa.Column("operator", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("removed", sa.Float()),
        sa.PrimaryKeyConstraint("id", name="pk_members"),
        sa.UniqueConstraint("name", name="uq_members_name"),
        sa.UniqueConstraint("subject", name="uq_members_subject"),
    )
    op.create_table(
        "project_members",
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("member", sa.String(16), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        _reference("project_members", "project", "projects"),
        _reference("project_members", "member", "members"),
        sa.PrimaryKeyConstraint("project", "member", name="pk_project_members"),
    )
    _upgrade_keys()
    op.create_table(
        "requester_sessions",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("member", sa.String(16), nullable=False),
        sa.Column("key", sa.String(16)),
        sa.Column("link", sa.String(64)),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float()),
        _reference("requester_sessions", "member", "members"),
        _reference("requester_sessions", "key", "api_keys"),
        sa.PrimaryKeyConstraint("id", name="pk_requester_sessions"),
        sa.UniqueConstraint("link", name="uq_requester_sessions_link"),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("worker", sa.Text()),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float()),
        sa.Column("max_uses", sa.Integer()),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("revoked", sa.Float()),
        _reference("invitations", "project", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
    )
    op.create_table(
        "assignments",
        sa.Column("id", Long, autoincrement=True, nullable=False),
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("worker", Long, nullable=False),
        sa.Column("external", sa.Text(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("finished", sa.Float()),
        _reference("assignments", "project", "projects"),
        _reference("assignments", "worker", "workers"),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
        sa.UniqueConstraint("worker", "external", name="uq_assignments_worker_external"),
    )
    named = sa.text("external <> ''")
    op.create_index(
        "uq_assignments_external", "assignments", ["project", "external"],
        unique=True, sqlite_where=named, postgresql_where=named,
    )  # fmt: skip
    op.create_table(
        "clock",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("version", Long, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_clock"),
    )
    op.execute(f"INSERT INTO clock (id, seconds, version) VALUES (1, {time.time()}, 1)")
    op.create_table(
        "counters",
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("window", Long, autoincrement=False, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", "window", name="pk_counters"),
    )
    op.add_column("projects", sa.Column("closed", sa.Float()))
    op.add_column("projects", sa.Column("deletion_number", Long, nullable=False, server_default="0"))
    op.execute(f"UPDATE projects SET closed = {time.time()} WHERE state = 'closed'")
    op.add_column("items", sa.Column("file", sa.String(64)))
    has_gold = sa.text("CAST(gold AS TEXT) <> 'null'")
    op.create_index("ix_items_gold", "items", ["project"], sqlite_where=has_gold, postgresql_where=has_gold)
    for column in (
        sa.Column("nonce", sa.String(32), nullable=False, server_default=""),
        sa.Column("guest", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("trusted", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("invitation", sa.String(16)),
        sa.Column("identity_digest", sa.String(64)),
    ):
        op.add_column("workers", column)
    _upgrade_workers()
    op.add_column("votes", sa.Column("leased", sa.Float(), nullable=False, server_default="0"))
    op.add_column("votes", sa.Column("assignment", Long))
    op.execute("UPDATE votes SET leased = expires")
    _upgrade_assignments()
    op.add_column(
        "action_log", sa.Column("category", sa.String(16), nullable=False, server_default="project")
    )
    op.add_column("action_log", sa.Column("address", sa.String(64)))
    op.create_index("ix_action_log_project_id", "action_log", ["project", "id"])
    op.create_index("ix_action_log_category_id", "action_log", ["category", "id"])


def _upgrade_keys() -> None:
    """Keys have an owner and one scope."""
    c = op.get_bind()
    old = sa.Table("api_keys", sa.MetaData(), autoload_with=c)
    rows = c.execute(sa.select(old).order_by(old.c.created)).mappings().all()
    projects = [row.id for row in c.execute(sa.text("SELECT id FROM projects"))]
    op.drop_table("api_keys")
    new = op.create_table(
        "api_keys",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("member", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("projects", sa.JSON()),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float()),
        sa.Column("used", sa.Float()),
        sa.Column("revoked", sa.Float()),
        _reference("api_keys", "member", "members"),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    members = sa.table("members", *map(sa.column, ("id", "name", "operator", "created")))
    roles = sa.table("project_members", *map(sa.column, ("project", "member", "role")))
    ids: dict[str, str] = {}
    for row in rows:
        scope = row["scopes"][-1]
        name = row["name"]
        if name not in ids:
            ids[name] = secrets.token_hex(6)
            own = [one["scopes"][-1] for one in rows if one["name"] == name]
            values = {"id": ids[name], "name": name, "operator": "admin" in own, "created": row["created"]}
            c.execute(sa.insert(members).values(values))
            role = max(own, key=SCOPES.index)
            for project in projects:
                c.execute(sa.insert(roles).values(project=project, member=ids[name], role=role))
        kept = {column: row[column] for column in ("id", "digest", "name", "created", "revoked")}
        c.execute(sa.insert(new).values(**kept, member=ids[name], scope=scope, projects=sa.null()))


def _upgrade_workers() -> None:
    """Sessions of before end: each worker gets a nonce of their own, in as many statements as workers."""
    c = op.get_bind()
    workers = sa.table("workers", *map(sa.column, ("id", "nonce", "guest", "platform", "external")))
    ids = [row.id for row in c.execute(sa.select(workers.c.id))]
    if ids:
        change = (
            sa.update(workers).where(workers.c.id == sa.bindparam("_id")).values(nonce=sa.bindparam("_n"))
        )
        c.execute(change, [{"_id": id, "_n": secrets.token_hex(16)} for id in ids])
    guests = workers.c.platform == "link", workers.c.external.like("guest-%")
    c.execute(sa.update(workers).where(*guests).values(guest=True))


def _upgrade_assignments() -> None:
    """What a worker has done so far is one assignment; of several workers with its id the first has it."""
    c = op.get_bind()
    names = "id", "project", "assignment", "created", "finished"
    workers = sa.table("workers", *map(sa.column, names))
    new: list[dict[str, object]] = []
    seen: set[tuple[str, str]] = set()
    for row in c.execute(sa.select(workers).order_by(workers.c.id)):
        external = row.assignment or ""
        is_taken = (row.project, external) in seen
        seen.add((row.project, external))
        new.append({"project": row.project, "worker": row.id, "external": "" if is_taken else external,
                    "started": row.created, "finished": row.finished})  # fmt: skip
    columns = "project", "worker", "external", "started", "finished"
    if new:
        c.execute(sa.insert(sa.table("assignments", *map(sa.column, columns))), new)
    op.execute(
        "UPDATE votes SET assignment = (SELECT id FROM assignments WHERE assignments.worker = votes.worker) "
        "WHERE state IN ('voted', 'unsure')"
    )
    for column in ("assignment", "finished"):
        op.drop_column("workers", column)


def _reference(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE")


def downgrade() -> None:
    """Not possible: what members may do has no place in the schema of before."""
    raise NotImplementedError("restore a backup made before the upgrade")
