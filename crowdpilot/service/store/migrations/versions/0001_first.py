"""The first schema of the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """From an empty database."""
    op.create_table(
        "action_log",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("project", sa.String(length=32), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_action_log")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("change_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lease_requests", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("votes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fitted", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("update_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_table(
        "audits",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_audits_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_audits")),
    )
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
        sa.Column("classifier_probs", sa.JSON(), nullable=True),
        sa.Column("gold", sa.JSON(), nullable=True),
        sa.Column("state", sa.String(length=9), nullable=False),
        sa.Column("upload_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("change_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_items_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_items_project_name")),
    )
    op.create_index("ix_items_project_change_number", "items", ["project", "change_number"], unique=False)
    op.create_table(
        "jobs",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("runner", sa.String(length=64), nullable=True),
        sa.Column("claimed_until", sa.Float(), nullable=True),
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
        "model_updates",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("change_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("votes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_model_updates_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_model_updates")),
    )
    op.create_table(
        "webhook_deliveries",
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
            ["project"], ["projects.id"], name=op.f("fk_webhook_deliveries_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
    )
    op.create_index("ix_webhook_deliveries_state_due", "webhook_deliveries", ["state", "due"], unique=False)
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
        sa.Column("change_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_workers_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
        sa.UniqueConstraint(
            "project", "platform", "external", name=op.f("uq_workers_project_platform_external")
        ),
    )
    op.create_index("ix_workers_project_change_number", "workers", ["project", "change_number"], unique=False)
    op.create_table(
        "sent_labels",
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_sent_labels_item"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_sent_labels_project"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("item", name=op.f("pk_sent_labels")),
    )
    op.create_table(
        "votes",
        sa.Column("project", sa.String(length=32), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("criterion", sa.Integer(), nullable=False),
        sa.Column("worker", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("label", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("time", sa.Float(), nullable=True),
        sa.Column("key", sa.String(length=64), nullable=True),
        sa.Column("lease_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("change_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_votes_item"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_votes_project"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["worker"], ["workers.id"], name=op.f("fk_votes_worker"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "criterion", "worker", name=op.f("pk_votes")),
    )
    op.create_index(
        "ix_votes_leased",
        "votes",
        ["project", "expires"],
        unique=False,
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_index("ix_votes_project_change_number", "votes", ["project", "change_number"], unique=False)
    op.create_index("ix_votes_worker_state", "votes", ["worker", "state"], unique=False)


def downgrade() -> None:
    """To an empty database."""
    op.drop_index("ix_votes_worker_state", table_name="votes")
    op.drop_index("ix_votes_project_change_number", table_name="votes")
    op.drop_index(
        "ix_votes_leased",
        table_name="votes",
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.drop_table("votes")
    op.drop_table("sent_labels")
    op.drop_index("ix_workers_project_change_number", table_name="workers")
    op.drop_table("workers")
    op.drop_index("ix_webhook_deliveries_state_due", table_name="webhook_deliveries")
    op.drop_table("webhook_deliveries")
    op.drop_table("model_updates")
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
    op.drop_index("ix_items_project_change_number", table_name="items")
    op.drop_table("items")
    op.drop_table("files")
    op.drop_table("audits")
    op.drop_table("projects")
    op.drop_table("api_keys")
    op.drop_table("action_log")
