"""A web of its own for each test."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def _web() -> Any:
    """The module beside this one: tests are no package."""
    if "datasets_web" not in sys.modules:
        spec = importlib.util.spec_from_file_location("datasets_web", Path(__file__).with_name("web.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["datasets_web"] = module
        spec.loader.exec_module(module)
    return sys.modules["datasets_web"]


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty server; no proxy stands before it."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    module = _web()
    with module.serve(module.Web()) as server:
        yield server
