"""Tables of workers: how they come, what they are leased and answer."""

from __future__ import annotations

import secrets

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    text,
)

from crowdpilot.service.store.tables.common import Long, project_column, table

invitations = table(
    "invitations",
    Column("id", String(16), primary_key=True),
    project_column(),
    Column("kind", String(32), nullable=False),  # of worker
    Column("worker", Text),  # the only one it admits, by name; null: each arrival is a new guest
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("max_uses", Integer),  # new workers that it admits in all
    Column("uses", Integer, nullable=False, default=0),
    Column("revoked", Float),
)

workers = table(
    "workers",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("platform", String(16), nullable=False),  # link, prolific, mturk, label_studio, relay
    Column("external", Text),  # their name there; empty once their personal data is erased
    Column("kind", String(32), nullable=False),  # crowd, expert
    Column("state", String(8), nullable=False),  # new, active, blocked, erased
    Column("approved", Boolean, nullable=False, default=False),  # for pay
    Column("consent", String(16)),  # version of the text agreed to
    Column("tries", Integer, nullable=False, default=0),  # at the quiz
    Column("created", Float, nullable=False),
    Column("nonce", String(32), nullable=False, default=lambda: secrets.token_hex(16)),  # of their sessions
    Column("guest", Boolean, nullable=False, default=False),  # came through a link for everybody
    Column("trusted", Boolean, nullable=False, default=True),  # whether their votes count
    Column("invitation", String(16)),  # id of the link they came through
    Column("notes", Text),  # of requesters
    Column("page", String(32)),  # random id of the labelling page that gave the last sign of life
    Column("identity_digest", String(64)),  # of an erased worker, so that they are not registered again
    Column("change_number", Long, nullable=False),
    UniqueConstraint("project", "platform", "external"),
    Index("ix_workers_project_change_number", "project", "change_number"),
)

assignments = table(  # pieces of work on a platform, each with its own completion code
    "assignments",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("worker", Long, ForeignKey("workers.id", ondelete="CASCADE"), nullable=False),
    Column("external", Text, nullable=False),  # its id on the platform; empty where there is none
    Column("started", Float, nullable=False),
    Column("finished", Float),
    Column("resumed", Float),  # since when the worker carries on after the end, if they do
    Column("outcome", String(8)),  # how it ended: done (a share), complete (nothing was left), failed (quiz)
    Column("review", String(8)),  # approved, rejected
    Column("review_reason", Text),
    Column("reviewed", Float),
    UniqueConstraint("worker", "external"),
    Index(  # an assignment of a platform belongs to one worker
        "uq_assignments_external", "project", "external", unique=True,
        sqlite_where=text("external <> ''"), postgresql_where=text("external <> ''"),
    ),
)  # fmt: skip

votes = table(
    "votes",
    project_column(),
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    Column("criterion", Integer, primary_key=True, default=0),
    Column("worker", Long, ForeignKey("workers.id", ondelete="CASCADE"), primary_key=True),
    Column("state", String(8), nullable=False),  # leased, voted, unsure (can't tell), returned (unanswered)
    Column("label", Integer),  # index of the class
    Column("seconds", Float),
    Column("time", Float),
    Column("key", String(64)),  # idempotency key of the request that brought it
    Column("lease_number", Long, nullable=False),  # change number of the lease, and the position in it
    Column("position", Integer, nullable=False, default=0),
    Column("leased", Float, nullable=False, default=0.0),  # when the lease began, in service time
    Column("expires", Float, nullable=False),  # when the lease ends, in service time
    Column("assignment", Long),  # in which it was answered
    Column("change_number", Long, nullable=False),
    Index("ix_votes_project_change_number", "project", "change_number"),
    Index("ix_votes_worker_state", "worker", "state"),
    Index(
        "ix_votes_leased", "project", "expires",
        sqlite_where=text("state = 'leased'"), postgresql_where=text("state = 'leased'"),
    ),
)  # fmt: skip

comments = table(  # of workers on items; a row without a text is a flag alone
    "comments",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), nullable=False),
    Column("criterion", Integer, nullable=False, default=0),
    Column("worker", Long, ForeignKey("workers.id", ondelete="CASCADE"), nullable=False),
    Column("text", Text, nullable=False),
    Column("flagged", Boolean, nullable=False, default=False),
    Column("time", Float, nullable=False),
    Column("resolved", Float),  # when a requester had seen to it
    UniqueConstraint("item", "criterion", "worker"),
    Index("ix_comments_project", "project"),
)

hits = table(  # on Mechanical Turk, created from the dashboard
    "hits",
    Column("id", String(64), primary_key=True),  # of MTurk
    project_column(),
    Column("sandbox", Boolean, nullable=False),
    Column("title", Text, nullable=False),
    Column("reward", String(16), nullable=False),  # dollars
    Column("assignments", Integer, nullable=False),  # how many workers may take it
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("preview_url", Text, nullable=False),  # where workers find it
)
