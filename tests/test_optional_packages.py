"""What needs a package that is not installed says so in Python as it does at the prompt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.optional_packages import (
    EXTRAS,
    WITHOUT_EXTRA,
    MissingPackageError,
    check_installed,
    load,
    needed_for,
)

TYPED = {  # in Python, and the package that is missed first
    "cp.train(votes, [[0.0]])": 'training needs torch: pip install "crowdpilot[learn]"',
    "cp.CrowdClassifier()": 'training needs torch: pip install "crowdpilot[learn]"',
    "cp.learning": 'training needs torch: pip install "crowdpilot[learn]"',
    "cp.report(votes, 'r.html')": 'reporting needs matplotlib: pip install "crowdpilot[report]"',
    "cp.reporting.plots": 'reporting needs matplotlib: pip install "crowdpilot[report]"',
    "cp.scale.Torch('cpu')": 'scale.Torch needs torch: pip install "crowdpilot[learn]"',
    "cp.scale.DaskEngine": 'scale.DaskEngine needs distributed: pip install "crowdpilot[scale]"',
    "cp.service": 'the service needs sqlalchemy: pip install "crowdpilot[service]"',
    "cp.write(votes, 'votes.parquet')": 'Parquet needs pyarrow: pip install "crowdpilot[arrow]"',
    "cp.aggregate(votes, 'mv').to_table()": 'to_table() needs pyarrow: pip install "crowdpilot[arrow]"',
}
BARE = """
import json, sys
MISSING = set(sys.argv[1].split(","))
class Finder:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
import crowdpilot as cp
votes = cp.Votes.of(["a", "a", "b"], ["x", "y", "x"], ["cat", "cat", "dog"])
said = {}
for typed in sys.argv[2:]:
    try:
        eval(typed)
    except ImportError as error:
        said[typed] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The error of each line where no optional package is installed."""
    done = subprocess.run(
        [sys.executable, "-c", BARE, ",".join([*EXTRAS, *WITHOUT_EXTRA]), *TYPED],
        env={**os.environ, "PYTHONPATH": str(Path(crowdpilot.__file__).parents[1])},
        cwd=tmp_path_factory.mktemp("bare"), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("typed", TYPED)
def test_a_missing_package_is_named_with_its_extra(typed: str, said: dict[str, str]) -> None:
    assert said.get(typed) == TYPED[typed]


def test_the_error_is_that_of_an_import_and_names_the_package() -> None:
    with pytest.raises(ImportError) as caught, needed_for("a frame"):
        raise ModuleNotFoundError("No module named 'pandas.core'", name="pandas.core")
    assert (str(caught.value), caught.value.name) == ("a frame needs pandas: pip install pandas", "pandas")


def test_what_needs_it_is_said_by_the_innermost() -> None:
    with pytest.raises(MissingPackageError, match=r"^a plot needs matplotlib"):
        with_two_reasons("this", "a plot")


def with_two_reasons(outer: str, inner: str) -> None:
    with needed_for(outer), needed_for(inner):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")


def test_a_module_that_no_extra_has_is_an_error_as_it_is() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'crowdpilot.nowhere'"):
        load("crowdpilot.nowhere", "this")


def test_installed_packages_are_not_missed() -> None:
    check_installed("numpy", "scipy", what="everything")
