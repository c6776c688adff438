"""The JSON API: middleware, authentication, error responses, metrics and routes."""

from __future__ import annotations
