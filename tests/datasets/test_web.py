"""Whether the files on the web are still those of the registry; only where CROWDPILOT_WEB is set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crowdpilot.datasets import DATASETS, get, read_folder
from crowdpilot.datasets.local_copies import count_data

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("CROWDPILOT_WEB" not in os.environ, reason="CROWDPILOT_WEB is not set"),
]


@pytest.mark.parametrize("name", [name for name, dataset in DATASETS.items() if not dataset.is_bundled])
def test_a_set_can_be_got_and_is_as_registered(name: str, tmp_path: Path) -> None:
    folder = get(name, tmp_path)
    assert count_data(read_folder(folder, repeats="all")) == DATASETS[name].counts
