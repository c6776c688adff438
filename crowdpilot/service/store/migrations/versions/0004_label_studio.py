"""Connections to Label Studio, and the tasks there that are items here."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

Long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add two tables."""
    op.create_table(
        "label_studio_connections",
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("number", Long, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("control", sa.Text(), nullable=False),
        sa.Column("settings_before", sa.JSON(), nullable=False),
        sa.Column("skips_count", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("synced", sa.Float()),
        sa.Column("seen", sa.Text()),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("driver", sa.String(64)),
        sa.Column("driver_until", sa.Float()),
        sa.Column("is_outdated", sa.Boolean(), nullable=False),
        _reference("label_studio_connections", "project", "projects"),
        sa.PrimaryKeyConstraint("project", name="pk_label_studio_connections"),
    )
    op.create_table(
        "label_studio_tasks",
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("task", Long, nullable=False),
        sa.Column("item", Long, nullable=False),
        sa.Column("annotators", sa.JSON(), nullable=False),
        sa.Column("annotations", sa.Integer(), nullable=False),
        sa.Column("ignored", sa.JSON(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("written", sa.JSON()),
        _reference("label_studio_tasks", "project", "projects"),
        _reference("label_studio_tasks", "item", "items"),
        sa.PrimaryKeyConstraint("project", "task", name="pk_label_studio_tasks"),
    )
    op.create_index("ix_label_studio_tasks_item", "label_studio_tasks", ["item"])


def _reference(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE")


def downgrade() -> None:
    """Drop them: what was pulled from Label Studio stays as items and votes."""
    op.drop_table("label_studio_tasks")
    op.drop_table("label_studio_connections")
