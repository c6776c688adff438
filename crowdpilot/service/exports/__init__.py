"""Exports: decisions, votes and comments as tables; items with their labels as archives."""

from crowdpilot.service.exports.archives import ARCHIVES, Archive, make_archive
from crowdpilot.service.exports.decisions import ProjectDecisions, decisions_table, project_decisions
from crowdpilot.service.exports.tables import MEDIA_TYPES, moment, write
from crowdpilot.service.exports.votes import comments_table, votes_tables

__all__ = [
    "ARCHIVES",
    "MEDIA_TYPES",
    "Archive",
    "ProjectDecisions",
    "comments_table",
    "decisions_table",
    "make_archive",
    "moment",
    "project_decisions",
    "votes_tables",
    "write",
]
