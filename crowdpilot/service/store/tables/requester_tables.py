"""Tables of people who request labels, what they may do, and what they did."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Index, String, Text

from crowdpilot.service.store.tables.common import Long, table

members = table(
    "members",
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("subject", Text, unique=True),  # issuer and subject of OpenID Connect
    Column("operator", Boolean, nullable=False, default=False),  # has every role in every project
    Column("created", Float, nullable=False),
    Column("removed", Float),
)

api_keys = table(
    "api_keys",
    Column("id", String(16), primary_key=True),
    Column("member", String(16), ForeignKey("members.id", ondelete="CASCADE"), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("scope", String(16), nullable=False),  # read, label-ops, write, admin
    Column(
        "projects", JSON(none_as_null=True)
    ),  # ids of the only projects it opens; null: those of its member
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("used", Float),  # last, to the minute
    Column("revoked", Float),
)

requester_sessions = table(  # people who are signed in to the dashboard
    "requester_sessions",
    Column("id", String(64), primary_key=True),  # digest of the id in the cookie
    Column("member", String(16), ForeignKey("members.id", ondelete="CASCADE"), nullable=False),
    Column("key", String(16), ForeignKey("api_keys.id", ondelete="CASCADE")),  # null with OpenID Connect
    Column("link", String(64), unique=True),  # digest of the link that signed in, which works once
    Column("created", Float, nullable=False),
    Column("ended", Float),
)

project_members = table(
    "project_members",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("member", String(16), ForeignKey("members.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String(16), nullable=False),  # a scope
)

action_log = table(
    "action_log",
    Column("id", Long, primary_key=True, autoincrement=True),
    Column("time", Float, nullable=False),
    Column("category", String(16), nullable=False),  # sign-in, access, project, data, worker, arrival
    Column("actor", Text, nullable=False),  # id of a key or member, or the hash of a worker
    Column("action", Text, nullable=False),
    Column("project", String(32)),
    Column("address", String(64)),  # from which it was asked for
    Column("detail", JSON, nullable=False),
    Index("ix_action_log_project_id", "project", "id"),
    Index("ix_action_log_category_id", "category", "id"),
)
