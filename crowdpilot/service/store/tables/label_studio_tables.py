"""Tables of connections to Label Studio: projects there, and the tasks that are items here."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Text,
)

from crowdpilot.service.store.tables.common import Long, project_column, table

label_studio_connections = table(
    "label_studio_connections",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("address", Text, nullable=False),
    Column("token", Text, nullable=False),  # encrypted
    Column("number", Long, nullable=False),  # of the project there
    Column("title", Text, nullable=False),
    Column("config", Text, nullable=False),  # the labelling configuration
    Column("control", Text, nullable=False),  # name of the choices that are asked
    Column("settings_before", JSON, nullable=False),  # of the project there, which a connection changes
    Column("skips_count", Boolean, nullable=False),  # whether a skipped task counts as annotated there
    Column("state", String(16), nullable=False),  # connecting, running, finished, stopped, failing
    Column("created", Float, nullable=False),
    Column("synced", Float),  # when all was last compared
    Column("seen", Text),  # the newest change there that was read, in the words of Label Studio
    Column("problems", JSON, nullable=False),  # (time, sentence), the newest first
    Column("driver", String(64)),  # who opens and closes tasks now
    Column("driver_until", Float),  # a driver that is not done until then has died
    Column("is_outdated", Boolean, nullable=False),  # whether something has changed since the driver began
)

label_studio_tasks = table(
    "label_studio_tasks",
    project_column(),
    Column("task", Long, nullable=False),  # its number there
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), nullable=False),
    Column("annotators", JSON, nullable=False),  # numbers of users who have an annotation on it
    Column("annotations", Integer, nullable=False),  # that count towards its overlap
    Column("ignored", JSON, nullable=False),  # annotations that only repeat a prediction of ours
    Column("is_open", Boolean, nullable=False),  # whether annotators are given it
    Column("written", JSON),  # label and confidence that stand in its data
    PrimaryKeyConstraint("project", "task"),
    Index("ix_label_studio_tasks_item", "item"),
)
