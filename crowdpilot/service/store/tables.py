"""Tables of the database: their columns, indexes, and the constraints that the database itself enforces.

A row of `votes` is a lease when an item is leased to a worker, and becomes a vote when they answer. Its
primary key (item, criterion, worker) makes sure that nobody is leased the same item twice and nobody votes
twice. Every write to a project takes the next change number of the project and stamps the rows that it
changes with it, so that a replica which has read up to a number reads on from there.
"""

from __future__ import annotations

import secrets

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.schema import SchemaItem

NAMES = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s",
         "fk": "fk_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"}  # fmt: skip
metadata = MetaData(naming_convention=NAMES)
HAS_GOLD = "CAST(gold AS TEXT) <> 'null'"  # of items: None is written as the JSON value null
Long = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself for Integer only


def _table(name: str, *parts: SchemaItem) -> Table:
    return Table(name, metadata, *parts)


def _project() -> Column[str]:
    return Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), nullable=False)


# People who request labels, and what they may do

members = _table(
    "members",
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("subject", Text, unique=True),  # issuer and subject of OpenID Connect
    Column("operator", Boolean, nullable=False, default=False),  # has every role in every project
    Column("created", Float, nullable=False),
    Column("removed", Float),
)

api_keys = _table(
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

requester_sessions = _table(  # people who are signed in to the dashboard
    "requester_sessions",
    Column("id", String(64), primary_key=True),  # digest of the id in the cookie
    Column("member", String(16), ForeignKey("members.id", ondelete="CASCADE"), nullable=False),
    Column("key", String(16), ForeignKey("api_keys.id", ondelete="CASCADE")),  # null with OpenID Connect
    Column("link", String(64), unique=True),  # digest of the link that signed in, which works once
    Column("created", Float, nullable=False),
    Column("ended", Float),
)

projects = _table(
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
)

project_members = _table(
    "project_members",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("member", String(16), ForeignKey("members.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String(16), nullable=False),  # a scope
)

items = _table(
    "items",
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("name", Text, nullable=False),
    Column("content", JSON, nullable=False),  # {"text": ...}, {"image": address}, or both
    Column("classifier_probs", JSON),  # uploaded class probabilities; with criteria a mapping to such
    Column("gold", JSON),  # the known class; with criteria a mapping to such
    Column("file", String(64)),  # digest of its uploaded image
    Column("state", String(9), nullable=False),  # open, stopped, withdrawn
    Column("upload_number", Long, nullable=False),  # change number of the upload that brought it
    Column("change_number", Long, nullable=False),
    UniqueConstraint("project", "name"),
    Index("ix_items_project_change_number", "project", "change_number"),
    Index("ix_items_gold", "project", sqlite_where=text(HAS_GOLD), postgresql_where=text(HAS_GOLD)),
)

files = _table(
    "files",
    _project(),
    Column("digest", String(64), nullable=False),
    Column("type", String(32), nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("project", "digest"),
)

invitations = _table(
    "invitations",
    Column("id", String(16), primary_key=True),
    _project(),
    Column("kind", String(32), nullable=False),  # of worker
    Column("worker", Text),  # the only one it admits, by name; null: each arrival is a new guest
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("max_uses", Integer),  # new workers that it admits in all
    Column("uses", Integer, nullable=False, default=0),
    Column("revoked", Float),
)

workers = _table(
    "workers",
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
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
    Column("identity_digest", String(64)),  # of an erased worker, so that they are not registered again
    Column("change_number", Long, nullable=False),
    UniqueConstraint("project", "platform", "external"),
    Index("ix_workers_project_change_number", "project", "change_number"),
)

assignments = _table(  # pieces of work on a platform, each with its own completion code
    "assignments",
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("worker", Long, ForeignKey("workers.id", ondelete="CASCADE"), nullable=False),
    Column("external", Text, nullable=False),  # its id on the platform; empty where there is none
    Column("started", Float, nullable=False),
    Column("finished", Float),
    UniqueConstraint("worker", "external"),
    Index(  # an assignment of a platform belongs to one worker
        "uq_assignments_external", "project", "external", unique=True,
        sqlite_where=text("external <> ''"), postgresql_where=text("external <> ''"),
    ),
)  # fmt: skip

votes = _table(
    "votes",
    _project(),
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

model_updates = _table(  # the newest of each project
    "model_updates",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("change_number", Long, nullable=False),
    Column("votes", Long, nullable=False),  # that it was fitted to
    Column("data", LargeBinary, nullable=False),  # see `saved_state.pack_model_update`
)

jobs = _table(
    "jobs",
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("kind", String(16), nullable=False),
    Column("state", String(8), nullable=False),  # queued, running, done, failed
    Column("arguments", JSON, nullable=False),
    Column("result", JSON),
    Column("error", Text),
    Column("tries", Integer, nullable=False, default=0),
    Column("due", Float, nullable=False),  # not to be taken before
    Column("runner", String(64)),
    Column("claimed_until", Float),  # a runner that does not renew its claim until then has died
    Column("created", Float, nullable=False),
    Column("ended", Float),
    Index(
        "uq_jobs_running", "project", unique=True,
        sqlite_where=text("state = 'running'"), postgresql_where=text("state = 'running'"),
    ),
    Index(
        "uq_jobs_queued", "project", "kind", unique=True,
        sqlite_where=text("state = 'queued'"), postgresql_where=text("state = 'queued'"),
    ),
)  # fmt: skip

webhook_deliveries = _table(
    "webhook_deliveries",
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("event", String(16), nullable=False),  # item.decided, project.done
    Column("payload", JSON, nullable=False),
    Column("state", String(8), nullable=False),  # queued, done, failed
    Column("tries", Integer, nullable=False, default=0),
    Column("due", Float, nullable=False),
    Column("error", Text),
    Column("created", Float, nullable=False),
    Index("ix_webhook_deliveries_state_due", "state", "due"),
)

sent_labels = _table(  # the label of each item that was last sent by webhook
    "sent_labels",
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    _project(),
    Column("label", Text, nullable=False),
)

audits = _table(
    "audits",
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("data", JSON, nullable=False),  # of `Audit.to_dict`, with the names of the items
    Column("version", Long, nullable=False),  # number of writes, for optimistic locking
)

# The service itself

clock = _table(  # service time: seconds during which the service has run, see `store.clock`
    "clock",
    Column("id", Integer, primary_key=True),  # 1
    Column("seconds", Float, nullable=False),
    Column("version", Long, nullable=False),
)

counters = _table(  # of events that are limited, shared by all processes, see `store.counters`
    "counters",
    Column("name", String(120), primary_key=True),
    Column("window", Long, primary_key=True),  # number of the period of time
    Column("count", Integer, nullable=False),
)

action_log = _table(
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
