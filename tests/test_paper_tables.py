"""The published comparisons of the peerannot paper come out the same over many seeds."""

from __future__ import annotations

import pytest

from benchmarks.paper_tables import TABLES, Table, find_winner, measure


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.title)
def test_the_model_that_wins_in_the_paper_wins_over_twenty_seeds(table: Table) -> None:
    """Lefort et al., Peerannot, 2023: DS in table 1, DSWC in table 2, GLAD in table 3."""
    assert find_winner(table, measure(table, seeds=20)) == table.winner
