"""Settings that change, overrides, comments, notes, reviews of assignments, HITs, notifications, e-mails."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

Long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NEW_FIELDS: dict[str, object] = {  # of descriptions of projects, with what held before they existed
    "class_details": {}, "pictures": [], "seconds_per_answer": None, "currency": "", "language": "en",
    "markdown": False, "comments": False, "flags": False,
    "notify": {"emails": [], "events": ["done", "stuck", "budget", "worker"]},
}  # fmt: skip
NEW_PROLIFIC_FIELDS: dict[str, object] = {
    "code_failed": "",
    "code_complete": "",
    "reward": None,
    "places": None,
}


def upgrade() -> None:
    """Add columns and tables; descriptions of projects get the fields that are new."""
    _add("projects", sa.Column("spec_number", Long, nullable=False, server_default="0"))
    _add("projects", sa.Column("archived", sa.Float()), sa.Column("earlier_prices", sa.JSON()))
    _add("items", sa.Column("override", sa.JSON()), sa.Column("votes_wanted", sa.Integer()))
    is_open = sa.text("state = 'open'")
    op.create_index("ix_items_open", "items", ["project"], sqlite_where=is_open, postgresql_where=is_open)
    _add("workers", sa.Column("notes", sa.Text()), sa.Column("page", sa.String(32)))
    _add("assignments", sa.Column("resumed", sa.Float()))
    _add("assignments", sa.Column("outcome", sa.String(8)), sa.Column("review", sa.String(8)),
         sa.Column("review_reason", sa.Text()), sa.Column("reviewed", sa.Float()))  # fmt: skip
    op.execute("UPDATE assignments SET outcome = 'done' WHERE finished IS NOT NULL")
    op.create_table(
        "comments",
        sa.Column("id", Long, nullable=False, autoincrement=True),
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("item", Long, nullable=False),
        sa.Column("criterion", sa.Integer(), nullable=False),
        sa.Column("worker", Long, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("resolved", sa.Float()),
        _reference("comments", "project", "projects"),
        _reference("comments", "item", "items"),
        _reference("comments", "worker", "workers"),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sa.UniqueConstraint("item", "criterion", "worker", name="uq_comments_item_criterion_worker"),
    )
    op.create_index("ix_comments_project", "comments", ["project"])
    op.create_table(
        "hits",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("sandbox", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("reward", sa.String(16), nullable=False),
        sa.Column("assignments", sa.Integer(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("preview_url", sa.Text(), nullable=False),
        _reference("hits", "project", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_hits"),
    )
    _create_notifications()
    _add_fields()


def _create_notifications() -> None:
    op.create_table(
        "notifications",
        sa.Column("id", Long, nullable=False, autoincrement=True),
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("event", sa.String(16), nullable=False),
        sa.Column("about", sa.String(64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        _reference("notifications", "project", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_notifications"),
        sa.UniqueConstraint("project", "event", "about", name="uq_notifications_project_event_about"),
    )
    op.create_table(
        "email_deliveries",
        sa.Column("id", Long, nullable=False, autoincrement=True),
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("created", sa.Float(), nullable=False),
        _reference("email_deliveries", "project", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_email_deliveries"),
    )
    op.create_index("ix_email_deliveries_state_due", "email_deliveries", ["state", "due"])


def _add_fields() -> None:
    c = op.get_bind()
    projects = sa.table("projects", sa.column("id"), sa.column("spec", sa.JSON()))
    for row in c.execute(sa.select(projects)).all():
        spec = json.loads(row.spec) if isinstance(row.spec, str) else row.spec
        new = {**NEW_FIELDS, **spec}
        if new.get("prolific"):
            new["prolific"] = {**NEW_PROLIFIC_FIELDS, **new["prolific"]}
        c.execute(sa.update(projects).where(projects.c.id == row.id).values(spec=new))


def _add(table: str, *columns: sa.Column[object]) -> None:
    for column in columns:
        op.add_column(table, column)


def _reference(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE")


def downgrade() -> None:
    """Not possible: comments, overrides and reviews have no place in the schema of before."""
    raise NotImplementedError("restore a backup made before the upgrade")
