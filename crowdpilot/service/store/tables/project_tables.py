"""Tables of projects: descriptions, items, files, fitted models, audits."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    text,
)

from crowdpilot.service.store.tables.common import HAS_GOLD, Long, project_column, table

IS_OPEN = "state = 'open'"  # of items

projects = table(
    "projects",
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("spec", JSON, nullable=False),  # the description that the requester sent
    Column("state", String(8), nullable=False),  # open, paused, closed, deleted
    Column("created", Float, nullable=False),
    Column("change_number", Long, nullable=False, default=0),  # of the last write
    Column("lease_requests", Long, nullable=False, default=0),  # requests for which items were leased
    Column("votes", Long, nullable=False, default=0),
    Column("fitted", Long, nullable=False, default=0),  # votes that the last model update was fitted to
    Column("update_number", Long, nullable=False, default=0),  # change number of the last model update, or 0
    Column("done", Boolean, nullable=False, default=False),  # no more votes are needed
    Column("closed", Float),  # when it was closed, from which retention counts
    Column("deletion_number", Long, nullable=False, default=0),  # of the last deletion of items, or 0
    Column("spec_number", Long, nullable=False, default=0),  # of the last change of the description, or 0
    Column("archived", Float),  # when it was put away; it is closed then
    Column("earlier_prices", JSON(none_as_null=True)),  # [{"until", "prices"}]: of leases with lower numbers
)

items = table(
    "items",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("name", Text, nullable=False),
    Column("content", JSON, nullable=False),  # text, and addresses of image, audio, video; one or more
    Column("classifier_probs", JSON),  # uploaded class probabilities; with criteria a mapping to such
    Column("gold", JSON),  # the known class; with criteria a mapping to such
    Column("file", String(64)),  # digest of its uploaded image, sound or video
    Column("state", String(9), nullable=False),  # open, stopped, withdrawn
    Column("override", JSON(none_as_null=True)),  # {"label", "by", "time"}: what an expert decided instead
    Column("votes_wanted", Integer),  # how many votes it is to have, whatever another is worth; null: any
    Column("upload_number", Long, nullable=False),  # change number of the upload that brought it
    Column("change_number", Long, nullable=False),
    UniqueConstraint("project", "name"),
    Index("ix_items_project_change_number", "project", "change_number"),
    Index("ix_items_gold", "project", sqlite_where=text(HAS_GOLD), postgresql_where=text(HAS_GOLD)),
    Index("ix_items_open", "project", sqlite_where=text(IS_OPEN), postgresql_where=text(IS_OPEN)),
)

files = table(
    "files",
    project_column(),
    Column("digest", String(64), nullable=False),
    Column("type", String(32), nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("project", "digest"),
)

model_updates = table(  # the newest of each project
    "model_updates",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("change_number", Long, nullable=False),
    Column("votes", Long, nullable=False),  # that it was fitted to
    Column("data", LargeBinary, nullable=False),  # see `saved_state.pack_model_update`
)

audits = table(
    "audits",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("data", JSON, nullable=False),  # of `Audit.to_dict`, with the names of the items
    Column("version", Long, nullable=False),  # number of writes, for optimistic locking
)
