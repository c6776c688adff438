"""Costs as people write them; `tests/cli/shared/test_costs.py` has the errors of the option."""

from __future__ import annotations

import pytest

from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.costs_text import as_costs


def test_text_dict_and_costs_say_the_same() -> None:
    costs = Costs.binary(fp=1, fn=5, crowd=0.05, budget=20)
    same = (
        as_costs("fp=1, fn=5, crowd=.05, budget=20", 2),
        as_costs({"fp": 1, "fn": 5, "crowd": 0.05, "budget": 20}, 2),
    )
    assert [each.to_dict() for each in same] == [costs.to_dict()] * 2
    assert as_costs(costs, 2) is costs


def test_errors_name_no_option() -> None:
    with pytest.raises(ValueError, match=r"^costs has fp twice$"):
        as_costs("fp=1,fp=2", 2)
