"""The first form of the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """From an empty database."""
    op.create_table(
        "keys",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
    )
    op.create_table(
        "log",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("project", sa.String(length=32), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("clock", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("asked", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("votes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fitted", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lesson", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_table(
        "audits",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_audits_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_audits")),
    )
    op.create_table(
        "deliveries",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_deliveries_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
    )
    op.create_index("ix_deliveries_state_due", "deliveries", ["state", "due"], unique=False)
    op.create_table(
        "files",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_files_project"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("project", "digest", name=op.f("uq_files_project_digest")),
    )
    op.create_table(
        "items",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("machine", sa.JSON(), nullable=True),
        sa.Column("gold", sa.JSON(), nullable=True),
        sa.Column("gone", sa.String(length=9), nullable=False),
        sa.Column("added", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_items_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_items_project_name")),
    )
    op.create_index("ix_items_project_at", "items", ["project", "at"], unique=False)
    op.create_table(
        "jobs",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("runner", sa.String(length=64), nullable=True),
        sa.Column("until", sa.Float(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_jobs_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(
        "uq_jobs_queued",
        "jobs",
        ["project", "kind"],
        unique=True,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.create_index(
        "uq_jobs_running",
        "jobs",
        ["project"],
        unique=True,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_table(
        "lessons",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("votes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_lessons_project"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("project", "at", name=op.f("uq_lessons_project_at")),
    )
    op.create_table(
        "workers",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("external", sa.Text(), nullable=True),
        sa.Column("assignment", sa.Text(), nullable=True),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("approved", sa.Boolean(), nullable=False),
        sa.Column("consent", sa.String(length=16), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("finished", sa.Float(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_workers_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
        sa.UniqueConstraint(
            "project", "platform", "external", name=op.f("uq_workers_project_platform_external")
        ),
    )
    op.create_index("ix_workers_project_at", "workers", ["project", "at"], unique=False)
    op.create_table(
        "told",
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_told_item"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_told_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("item", name=op.f("pk_told")),
    )
    op.create_table(
        "votes",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("criterion", sa.Integer(), nullable=False),
        sa.Column("worker", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=6), nullable=False),
        sa.Column("label", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("time", sa.Float(), nullable=True),
        sa.Column("key", sa.String(length=64), nullable=True),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_votes_item"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_votes_project"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["worker"], ["workers.id"], name=op.f("fk_votes_worker"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "criterion", "worker", name=op.f("pk_votes")),
    )
    op.create_index(
        "ix_votes_lent",
        "votes",
        ["project", "expires"],
        unique=False,
        sqlite_where=sa.text("state = 'lent'"),
        postgresql_where=sa.text("state = 'lent'"),
    )
    op.create_index("ix_votes_project_at", "votes", ["project", "at"], unique=False)
    op.create_index("ix_votes_worker", "votes", ["worker", "state"], unique=False)


def downgrade() -> None:
    """To an empty database."""
    op.drop_index("ix_votes_worker", table_name="votes")
    op.drop_index("ix_votes_project_at", table_name="votes")
    op.drop_index(
        "ix_votes_lent",
        table_name="votes",
        sqlite_where=sa.text("state = 'lent'"),
        postgresql_where=sa.text("state = 'lent'"),
    )
    op.drop_table("votes")
    op.drop_table("told")
    op.drop_index("ix_workers_project_at", table_name="workers")
    op.drop_table("workers")
    op.drop_table("lessons")
    op.drop_index(
        "uq_jobs_running",
        table_name="jobs",
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.drop_index(
        "uq_jobs_queued",
        table_name="jobs",
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.drop_table("jobs")
    op.drop_index("ix_items_project_at", table_name="items")
    op.drop_table("items")
    op.drop_table("files")
    op.drop_index("ix_deliveries_state_due", table_name="deliveries")
    op.drop_table("deliveries")
    op.drop_table("audits")
    op.drop_table("projects")
    op.drop_table("log")
    op.drop_table("keys")
