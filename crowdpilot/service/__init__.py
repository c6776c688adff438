"""The service: items in, votes through a page, decisions out; over one SQLite file or PostgreSQL."""

from __future__ import annotations
