"""Tables: what is kept, and the rules that the database itself enforces.

A row of `votes` is born when an item is lent to a worker and becomes a vote when they answer, so that
nobody can be lent the same question twice and nobody can vote on what they were not lent. Whatever
changes in a project gets the next number of its clock: who has read up to a number reads on from there.
"""

from __future__ import annotations

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

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMES)
Long = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself for Integer only


def _project() -> Column[str]:
    return Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), nullable=False)


projects = Table(
    "projects",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("spec", JSON, nullable=False),  # all that was asked for when it was made
    Column("state", String(8), nullable=False),  # open, paused, closed
    Column("created", Float, nullable=False),
    Column("clock", Long, nullable=False, default=0),  # number of the last change
    Column("asked", Long, nullable=False, default=0),  # how often items were lent
    Column("votes", Long, nullable=False, default=0),
    Column("fitted", Long, nullable=False, default=0),  # votes of which the last lesson knows
    Column("lesson", Long, nullable=False, default=0),  # clock of the last lesson, 0 if there is none
    Column("done", Boolean, nullable=False, default=False),
)

items = Table(
    "items",
    metadata,
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("name", Text, nullable=False),
    Column("content", JSON, nullable=False),  # {"text": ...}, {"image": address}, or both
    Column("machine", JSON),  # probabilities of the classes; with criteria a mapping to such
    Column("gold", JSON),  # the known class; with criteria a mapping to such
    Column("gone", String(9), nullable=False, default=""),  # "", stopped, withdrawn
    Column("added", Long, nullable=False),  # clock when it came; all of one upload have the same
    Column("at", Long, nullable=False),  # clock of the last change
    UniqueConstraint("project", "name"),
    Index("ix_items_project_at", "project", "at"),
)

files = Table(
    "files",
    metadata,
    _project(),
    Column("digest", String(64), nullable=False),
    Column("type", String(32), nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("project", "digest"),
)

workers = Table(
    "workers",
    metadata,
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("platform", String(16), nullable=False),  # link, prolific, mturk, label_studio, relay
    Column("external", Text),  # their name there; empty once their personal data is erased
    Column("assignment", Text),
    Column("kind", String(32), nullable=False),  # crowd, expert
    Column("state", String(8), nullable=False),  # new, active, blocked, erased
    Column("approved", Boolean, nullable=False, default=False),  # for pay
    Column("consent", String(16)),  # version of the text agreed to
    Column("tries", Integer, nullable=False, default=0),  # at the quiz
    Column("finished", Float),
    Column("created", Float, nullable=False),
    Column("at", Long, nullable=False),
    UniqueConstraint("project", "platform", "external"),
    Index("ix_workers_project_at", "project", "at"),
)

votes = Table(
    "votes",
    metadata,
    _project(),
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    Column("criterion", Integer, primary_key=True, default=0),
    Column("worker", Long, ForeignKey("workers.id", ondelete="CASCADE"), primary_key=True),
    Column(
        "state", String(6), nullable=False
    ),  # lent, voted, unsure (can't tell), back (not answered in time)
    Column("label", Integer),  # number of the class
    Column("seconds", Float),
    Column("time", Float),
    Column("key", String(64)),  # of the request that brought it
    Column("turn", Long, nullable=False),  # which lending, and the place in it
    Column("place", Integer, nullable=False, default=0),
    Column("expires", Float, nullable=False),
    Column("at", Long, nullable=False),
    Index("ix_votes_project_at", "project", "at"),
    Index("ix_votes_worker", "worker", "state"),
    Index(
        "ix_votes_lent",
        "project",
        "expires",
        sqlite_where=text("state = 'lent'"),
        postgresql_where=text("state = 'lent'"),
    ),
)

lessons = Table(
    "lessons",
    metadata,
    _project(),
    Column("at", Long, nullable=False),
    Column("votes", Long, nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("project", "at"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("kind", String(16), nullable=False),
    Column("state", String(8), nullable=False),  # queued, running, done, failed
    Column("given", JSON, nullable=False),
    Column("result", JSON),
    Column("error", Text),
    Column("tries", Integer, nullable=False, default=0),
    Column("due", Float, nullable=False),  # not to be taken before
    Column("runner", String(64)),
    Column("until", Float),  # when a running job is taken to be dead, unless it says it is not
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

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Long, primary_key=True, autoincrement=True),
    _project(),
    Column("event", String(16), nullable=False),  # item.decided, project.done
    Column("payload", JSON, nullable=False),
    Column("state", String(8), nullable=False),  # queued, done, failed
    Column("tries", Integer, nullable=False, default=0),
    Column("due", Float, nullable=False),
    Column("error", Text),
    Column("created", Float, nullable=False),
    Index("ix_deliveries_state_due", "state", "due"),
)

told = Table(  # what was last said of an item by webhook
    "told",
    metadata,
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    _project(),
    Column("label", Text, nullable=False),
)

audits = Table(
    "audits",
    metadata,
    Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("data", JSON, nullable=False),  # of Audit.to_dict, with the names of the items
    Column("at", Long, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", JSON, nullable=False),  # read, write, admin
    Column("created", Float, nullable=False),
    Column("revoked", Float),
)

log = Table(
    "log",
    metadata,
    Column("id", Long, primary_key=True, autoincrement=True),
    Column("time", Float, nullable=False),
    Column("who", Text, nullable=False),  # id of a key, or the hash of a worker
    Column("what", Text, nullable=False),
    Column("project", String(32)),
    Column("detail", JSON, nullable=False),
)
