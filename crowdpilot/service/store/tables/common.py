"""What the tables share: their metadata, names of constraints, and columns that many have."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, MetaData, String, Table
from sqlalchemy.schema import SchemaItem

NAMES = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s",
         "fk": "fk_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"}  # fmt: skip
metadata = MetaData(naming_convention=NAMES)
HAS_GOLD = "CAST(gold AS TEXT) <> 'null'"  # of items: None is written as the JSON value null
Long = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself for Integer only


def table(name: str, *parts: SchemaItem) -> Table:
    """A table with these columns and constraints."""
    return Table(name, metadata, *parts)


def project_column() -> Column[str]:
    """The project that a row belongs to, and with which it is deleted."""
    return Column("project", String(32), ForeignKey("projects.id", ondelete="CASCADE"), nullable=False)
