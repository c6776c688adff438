"""The JSON API."""

from __future__ import annotations
