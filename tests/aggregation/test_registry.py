from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from crowdpilot.aggregation import MODELS, parse_strategy
from crowdpilot.aggregation.registry import MODELS_OF_SHARES, check_shares
from crowdpilot.cli import app
from crowdpilot.io import from_shares
from crowdpilot.votes import Votes

SHARES = from_shares([[0.25, 0.75], [1, 0]], tasks=["a", "b"], classes=["cat", "dog"])


def test_votes_of_one_worker_are_no_shares_if_each_task_has_one() -> None:
    assert SHARES.are_shares
    assert not Votes.of(["a", "b"], ["x", "x"], ["cat", "dog"]).are_shares
    assert not Votes.of(["a", "a"], ["x", "y"], ["cat", "dog"]).are_shares


@pytest.mark.parametrize("name", MODELS)
def test_models_of_workers_refuse_shares(name: str) -> None:
    model = parse_strategy(name)
    if model.name in MODELS_OF_SHARES:
        check_shares(model, SHARES)
    else:
        with pytest.raises(ValueError, match="choose naive_soft or majority_voting"):
            check_shares(model, SHARES)


def test_the_command_says_what_to_choose(tmp_path) -> None:
    file = tmp_path / "soft.csv"
    file.write_text("task,conf0,conf1\na,0.25,0.75\nb,1,0\n")
    refused = CliRunner().invoke(app, ["aggregate", str(file)])
    assert refused.exit_code
    assert "auto cannot learn what workers are like" in refused.stderr
    given = CliRunner().invoke(app, ["aggregate", str(file), "-s", "naive_soft"])
    assert given.stdout.splitlines()[1] == "a,1,0.75"


def test_slow_parts_of_scipy_wait_until_they_are_used() -> None:
    code = "import crowdpilot.aggregation, sys; print(*{'scipy.optimize', 'scipy.stats'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == []
