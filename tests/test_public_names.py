"""What `import crowdpilot` gives, and what it costs."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import crowdpilot


@pytest.mark.parametrize("name", crowdpilot.__all__)
def test_every_public_name_is_there(name):
    assert getattr(crowdpilot, name) is not None


def test_rooms_are_found_without_an_import_of_their_own():
    code = "import crowdpilot as cp; print(cp.aggregation.MODELS['glad'].name, cp.metrics.accuracy([1], [1]))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["glad", "1.0"]


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        crowdpilot.nothing  # noqa: B018 - looking it up is the test


def test_importing_loads_nothing_yet_and_lists_everything():
    code = (
        "import crowdpilot, sys;"
        "print(*[m for m in sys.modules if m.startswith(('crowdpilot.', 'numpy', 'scipy', 'pyarrow'))]);"
        "print(*dir(crowdpilot))"
    )
    loaded, listed = subprocess.check_output([sys.executable, "-c", code], text=True).split("\n")[:2]
    assert loaded == ""
    assert {*crowdpilot.__all__, "aggregation", "io", "reporting", "__version__"} <= set(listed.split())


def test_votes_are_the_same_from_wherever_they_are_imported():
    from crowdpilot.votes import Votes

    votes = crowdpilot.Votes.of(["a"], ["x"], ["cat"])
    assert crowdpilot.Votes is Votes
    assert isinstance(votes, crowdpilot.Votes)
    assert pickle.loads(pickle.dumps(votes)).tasks.tolist() == ["a"]
