"""Alembic environment: runs migrations on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from crowdpilot.service.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
