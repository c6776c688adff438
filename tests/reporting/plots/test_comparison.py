from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

from crowdpilot.aggregation import Comparison, compare
from crowdpilot.reporting.plots import strategy_accuracy
from crowdpilot.reporting.plots.comparison import save_comparison
from crowdpilot.simulation import one_coin


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    votes, truth = one_coin(tasks=200, skill=[0.95, 0.95, 0.5, 0.5, 0.5], seed=0)
    return compare(votes, dict(enumerate(truth.tolist())), ["dawid_skene", "wawa", "naive_soft"])


def dots(ax: Axes) -> dict[float, float]:
    """The place of each dot by its height."""
    lines = [line for line in ax.lines if line.get_marker() in ("o", "X", "D")]
    return {float(y): float(x) for line in lines for x, y in zip(*line.get_data(), strict=True)}


def test_each_strategy_has_a_dot_at_its_gain_and_the_best_is_on_top(comparison: Comparison) -> None:
    ax = strategy_accuracy(comparison)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[-1].startswith(comparison.rows[0].strategy)
    shown = dots(ax)
    gains = [100 * row.difference for row in comparison.rows[::-1]]
    np.testing.assert_allclose([shown[n] for n in range(len(gains))], gains)


def test_the_line_of_majority_voting_is_drawn(comparison: Comparison) -> None:
    assert [list(line.get_xdata()) for line in strategy_accuracy(comparison).lines[:1]] == [[0, 0]]


def test_the_legend_names_the_verdicts_that_there_are(comparison: Comparison) -> None:
    legend = strategy_accuracy(comparison).get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "reliably better",
        "may be chance",
        "majority",
    ]


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_file_is_written(comparison: Comparison, suffix: str, tmp_path: Path) -> None:
    save_comparison(tmp_path / f"compare.{suffix}", comparison)
    assert (tmp_path / f"compare.{suffix}").stat().st_size > 1000
