"""Tables of the database: their columns, indexes, and the constraints that the database itself enforces.

A row of `votes` is a lease when an item is leased to a worker, and becomes a vote when they answer. Its
primary key (item, criterion, worker) makes sure that nobody is leased the same item twice and nobody votes
twice. Every write to a project takes the next change number of the project and stamps the rows that it
changes with it, so that a replica which has read up to a number reads on from there.
"""

from crowdpilot.service.store.tables.background_tables import (
    clock,
    counters,
    email_deliveries,
    jobs,
    notifications,
    sent_labels,
    webhook_deliveries,
)
from crowdpilot.service.store.tables.common import HAS_GOLD, metadata
from crowdpilot.service.store.tables.label_studio_tables import label_studio_connections, label_studio_tasks
from crowdpilot.service.store.tables.project_tables import audits, files, items, model_updates, projects
from crowdpilot.service.store.tables.prolific_tables import prolific_bonuses, prolific_studies
from crowdpilot.service.store.tables.requester_tables import (
    action_log,
    api_keys,
    members,
    project_members,
    requester_sessions,
)
from crowdpilot.service.store.tables.worker_tables import (
    assignments,
    comments,
    hits,
    invitations,
    votes,
    workers,
)

__all__ = [
    "HAS_GOLD",
    "action_log",
    "api_keys",
    "assignments",
    "audits",
    "clock",
    "comments",
    "counters",
    "email_deliveries",
    "files",
    "hits",
    "invitations",
    "items",
    "jobs",
    "label_studio_connections",
    "label_studio_tasks",
    "members",
    "metadata",
    "model_updates",
    "notifications",
    "project_members",
    "projects",
    "prolific_bonuses",
    "prolific_studies",
    "requester_sessions",
    "sent_labels",
    "votes",
    "webhook_deliveries",
    "workers",
]
