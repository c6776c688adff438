"""Studies and bonuses created on Prolific; descriptions of projects say whether links are signed."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add two tables, and a field to the descriptions of projects."""
    op.create_table(
        "prolific_studies",
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("token", sa.String(40), nullable=False),
        sa.Column("study", sa.String(24)),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("reward", sa.Integer(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(3), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("begun", sa.Float(), nullable=False),
        _project("prolific_studies"),
        sa.PrimaryKeyConstraint("project", "token", name="pk_prolific_studies"),
    )
    op.create_index("uq_prolific_studies_study", "prolific_studies", ["study"], unique=True)
    op.create_table(
        "prolific_bonuses",
        sa.Column("project", sa.String(32), nullable=False),
        sa.Column("token", sa.String(40), nullable=False),
        sa.Column("study", sa.String(24), nullable=False),
        sa.Column("submission", sa.String(64), nullable=False),
        sa.Column("amount", sa.String(16), nullable=False),
        sa.Column("payment", sa.String(64)),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        _project("prolific_bonuses"),
        sa.PrimaryKeyConstraint("project", "token", name="pk_prolific_bonuses"),
    )
    _add_field()


def _add_field() -> None:
    c = op.get_bind()
    projects = sa.table("projects", sa.column("id"), sa.column("spec", sa.JSON()))
    for row in c.execute(sa.select(projects)).all():
        spec = json.loads(row.spec) if isinstance(row.spec, str) else row.spec
        if spec.get("prolific"):
            new = {**spec, "prolific": {"signed": False, **spec["prolific"]}}
            c.execute(sa.update(projects).where(projects.c.id == row.id).values(spec=new))


def _project(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["project"], ["projects.id"], name=f"fk_{table}_project", ondelete="CASCADE"
    )


def downgrade() -> None:
    """Drop them: studies stay on Prolific."""
    op.drop_table("prolific_bonuses")
    op.drop_table("prolific_studies")
