"""The package, built once for all tests of it."""

from __future__ import annotations

import pytest

from tests.packaging.building import Built, build_both, copy_tracked


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The package as it would be released now."""
    folder = tmp_path_factory.mktemp("package")
    return build_both(copy_tracked(folder / "source"), folder / "dist")
