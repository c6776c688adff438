"""Tables of what was created on Prolific: studies, and bonuses, each once for the token of a request."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, PrimaryKeyConstraint, String, Text

from crowdpilot.service.store.tables.common import project_column, table

prolific_studies = table(
    "prolific_studies",
    project_column(),
    Column("token", String(40), nullable=False),  # of the request that creates it
    Column("study", String(24)),  # its id on Prolific; empty until that is known
    Column("title", Text, nullable=False),
    Column("reward", Integer, nullable=False),  # for a submission, in hundredths of the currency
    Column("places", Integer, nullable=False),
    Column("currency", String(3), nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("begun", Float, nullable=False),  # when Prolific was last asked to create it
    PrimaryKeyConstraint("project", "token"),
    Index("uq_prolific_studies_study", "study", unique=True),
)

prolific_bonuses = table(
    "prolific_bonuses",
    project_column(),
    Column("token", String(40), nullable=False),  # of the request that pays it
    Column("study", String(24), nullable=False),
    Column("submission", String(64), nullable=False),
    Column("amount", String(16), nullable=False),
    Column("payment", String(64)),  # its id on Prolific, once it is set up
    Column("state", String(8), nullable=False),  # new, paying, paid
    Column("created", Float, nullable=False),
    PrimaryKeyConstraint("project", "token"),
)
