"""Record: a row that a query gave, its columns by name."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

Record = Row[*tuple[Any, ...]]
