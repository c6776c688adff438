"""The service: items in, votes through a page, decisions out; over one SQLite file or PostgreSQL."""

from __future__ import annotations

from crowdpilot.optional_packages import check_installed

check_installed("sqlalchemy", "alembic", "fastapi", "uvicorn", "jinja2", "matplotlib", what="the service")
