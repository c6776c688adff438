"""Tables of work in the background: jobs, deliveries, service time, counts of what is limited."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Float, ForeignKey, Index, Integer, String, Text, UniqueConstraint, text

from crowdpilot.service.store.tables.common import Long, project_column, table

jobs = table(
    "jobs",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
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

webhook_deliveries = table(
    "webhook_deliveries",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("event", String(16), nullable=False),  # item.decided, project.done, and others of `notifications`
    Column("payload", JSON, nullable=False),
    Column("state", String(8), nullable=False),  # queued, done, failed
    Column("tries", Integer, nullable=False, default=0),
    Column("due", Float, nullable=False),
    Column("error", Text),
    Column("created", Float, nullable=False),
    Index("ix_webhook_deliveries_state_due", "state", "due"),
)

notifications = table(  # of which somebody was told; a row is deleted when its reason is gone
    "notifications",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("event", String(16), nullable=False),  # done, stuck, budget, worker
    Column("about", String(64), nullable=False),  # a worker's id; empty for the project
    Column("created", Float, nullable=False),
    UniqueConstraint("project", "event", "about"),
)

email_deliveries = table(
    "email_deliveries",
    Column("id", Long, primary_key=True, autoincrement=True),
    project_column(),
    Column("recipient", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("state", String(8), nullable=False),  # queued, done, failed
    Column("tries", Integer, nullable=False, default=0),
    Column("due", Float, nullable=False),
    Column("error", Text),
    Column("created", Float, nullable=False),
    Index("ix_email_deliveries_state_due", "state", "due"),
)

sent_labels = table(  # the label of each item that was last sent by webhook
    "sent_labels",
    Column("item", Long, ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    project_column(),
    Column("label", Text, nullable=False),
)

clock = table(  # service time: seconds during which the service has run, see `store.clock`
    "clock",
    Column("id", Integer, primary_key=True),  # 1
    Column("seconds", Float, nullable=False),
    Column("version", Long, nullable=False),
)

counters = table(  # of events that are limited, shared by all processes, see `store.counters`
    "counters",
    Column("name", String(120), primary_key=True),
    Column("window", Long, primary_key=True),  # number of the period of time
    Column("count", Integer, nullable=False),
)
