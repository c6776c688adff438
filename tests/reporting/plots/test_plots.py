from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import matplotlib.axes
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting import plots, report
from crowdpilot.reporting.plots.score_pairs import correlations, describe
from crowdpilot.reporting.plots.style import BLUE, FLAG_MARKS, SHARE_COLORMAP, SKY
from crowdpilot.reporting.plots.votes import imbalance
from crowdpilot.reporting.report_plots import PLOTS, RANKED_SCORES

Of = Callable[[str], Diagnosis]

EACH = {getattr(plot.function, "func", plot.function): plot for plot in PLOTS}  # one of a kind
SINGLE = (plots.effort, plots.load, plots.entropy, plots.confidence, plots.class_balance, plots.skill,
          plots.ranking, plots.confusion)  # fmt: skip
CROWDED = [
    "one vote",
    "tasks and workers without votes",
    "nasty names",
    "200 classes",
    "many workers",
    "all there is",
]


def truth_of(diagnosis: Diagnosis) -> dict[Any, Any]:
    return dict.fromkeys(diagnosis.votes.tasks.tolist(), diagnosis.votes.classes[0])


def figure_of(axes: Any) -> Figure:
    figure: Figure = np.asarray(axes, object).flat[0].figure
    return figure


def outer(figure: Figure) -> Iterator[Axis]:
    """The axes that stand at the edge of a figure and are seen."""
    for ax in figure.axes:
        box = ax.get_subplotspec()
        if ax.axison and box is not None:
            yield from [ax.xaxis] * box.is_last_row() + [ax.yaxis] * box.is_first_col()


@pytest.mark.parametrize("name", CROWDED)
@pytest.mark.parametrize("plot", EACH.values(), ids=lambda plot: plot.name)
def test_every_axis_has_a_name_and_nothing_is_cut_or_overlaps(plot: Any, name: str, of: Of) -> None:
    axes = plot.draw(of(name), truth_of(of(name)))
    if axes is None:
        return
    figure = figure_of(axes)
    shared = figure.get_supxlabel() and figure.get_supylabel()
    assert shared or all(axis.get_label_text() for axis in outer(figure))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the font here knows no Japanese
        figure.draw_without_rendering()
        drawn = figure.get_tightbbox()
        assert [axis.get_label_text() for axis in all_axes(figure) if labels_overlap(axis)] == []
    width, height = figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) > -0.01
    assert drawn.x1 < width + 0.01
    assert drawn.y1 < height + 0.01


def all_axes(figure: Figure) -> list[Axis]:
    return [axis for ax in figure.axes if ax.axison for axis in (ax.xaxis, ax.yaxis)]


def labels_overlap(axis: Axis) -> bool:
    shown = [label for label in axis.get_ticklabels() if label.get_visible() and label.get_text()]
    boxes = [label.get_window_extent().padded(-0.5) for label in shown]
    return any(a.overlaps(b) for a, b in pairwise(boxes))


def test_pyplot_knows_a_plot_once_and_no_setting_is_changed(whole: Diagnosis) -> None:
    """So a notebook shows it once, and `plt.show()` and `plt.savefig` in a script find it."""
    before, known = dict(mpl.rcParams), plt.get_fignums()
    ax = plots.skill(whole)
    assert dict(mpl.rcParams) == before
    assert len(plt.get_fignums()) == len(known) + 1
    assert plt.gcf() is ax.figure


def test_a_report_leaves_no_figure_to_pyplot(whole: Diagnosis) -> None:
    known = plt.get_fignums()
    report(whole)
    assert plt.get_fignums() == known


def test_importing_plots_chooses_no_backend() -> None:
    code = "import crowdpilot.reporting.plots, matplotlib as mpl; print(mpl.get_backend(auto_select=False))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "None"


@pytest.mark.parametrize("plot", SINGLE, ids=lambda plot: plot.__name__)
def test_a_plot_can_be_drawn_into_existing_axes(plot: Any, whole: Diagnosis) -> None:
    ax = Figure().subplots()
    assert plot(whole, ax=ax) is ax
    assert isinstance(plot(whole), matplotlib.axes.Axes)


def test_votes_per_task_are_counted(whole: Diagnosis) -> None:
    bars = plots.effort(whole).patches
    assert sum(bar.get_height() for bar in bars) == len(whole.votes.tasks)


def test_votes_per_worker_are_counted(of: Of) -> None:
    for name in ("many workers", "all there is"):
        bars = plots.load(of(name)).patches
        assert sum(bar.get_height() for bar in bars) == (of(name).workers["votes"] > 0).sum()


def test_tasks_without_votes_have_no_entropy(of: Of) -> None:
    found = of("tasks and workers without votes")
    bars = plots.entropy(found).containers[0]
    assert sum(bar.get_height() for bar in bars) == (found.tasks["votes"] > 0).sum()


def test_shares_of_classes_sum_to_one_hundred(of: Of) -> None:
    for group in plots.class_balance(of("a class without a vote")).containers:
        assert sum(bar.get_width() for bar in group) == pytest.approx(100)


def test_the_imbalance_ratio_is_shown() -> None:
    assert imbalance(np.array([30, 12, 10])) == "imbalance 3 : 1"
    assert imbalance(np.array([30, 0, 10])) == "1 empty class"
    assert imbalance(np.array([30])) == "one class"


def test_all_known_seconds_are_counted(of: Of) -> None:
    found = of("seconds and times")
    bars = plots.seconds(found).containers[0]
    assert sum(bar.get_height() for bar in bars) == (found.votes.seconds > 0).sum()


def test_a_ranking_rises_and_marks_the_flagged(whole: Diagnosis) -> None:
    for score in set(RANKED_SCORES) & set(whole.workers):
        plain, flagged = plots.ranking(whole, score).lines
        x, y = (np.concatenate([plain.get_data()[n], flagged.get_data()[n]]) for n in (0, 1))
        assert (np.diff(y[np.argsort(x)]) >= 0).all()
        assert len(flagged.get_xdata()) == (whole.workers["flags"] != "").sum()


def test_few_workers_are_named(of: Of) -> None:
    names = [label.get_text() for label in plots.ranking(of("one task")).get_xticklabels()]
    assert sorted(names, key=int) == [str(w) for w in range(12)]


def test_an_unknown_score_is_an_error(whole: Diagnosis) -> None:
    with pytest.raises(ValueError, match="there is no score 'charm', expected one of skill"):
        plots.ranking(whole, "charm")


def test_each_worker_is_one_mark_with_its_first_flag(whole: Diagnosis) -> None:
    ax = plots.skill(whole)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    marks = [len(marks.get_offsets()) for marks in ax.collections if len(marks.get_offsets()) > 1]
    assert f"spammer ({whole.flags['spammer'].sum()})" in legend
    assert sum(marks) == len(whole.votes.workers)


def test_best_and_worst_worker_are_sure_to_be(whole: Diagnosis) -> None:
    best, worst = (plots.confusion(whole, which).get_title(loc="left") for which in ("best", "worst"))
    assert best.startswith(f"best: {whole.workers['skill_low'].argmax()} ")
    assert worst.startswith(f"worst: {whole.workers['skill_high'].argmin()} ")
    with pytest.raises(ValueError, match="which is 'oldest', expected one of best, mean, worst"):
        plots.confusion(whole, "oldest")


def test_drifting_workers_have_a_picture_each(whole: Diagnosis) -> None:
    seen = [ax for ax in plots.drift(whole).flat if ax.lines]
    assert len(seen) == whole.flags["drifting"].sum()


def test_what_is_not_known_cannot_be_drawn(of: Of) -> None:
    with pytest.raises(ValueError, match="no worker drifts"):
        plots.drift(of("one worker"))
    with pytest.raises(ValueError, match="no seconds"):
        plots.seconds(of("one worker"))


def test_pairs_of_scores_make_a_corner(whole: Diagnosis) -> None:
    axes = plots.pairs(whole, ["skill", "ability", "drift"])
    assert axes.shape == (3, 3)
    assert all(ax.lines for ax in axes[np.tril_indices(3, -1)])
    assert all(ax.texts for ax in axes[np.triu_indices(3, 1)])


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 50).astype(float)
    y = x + rng.normal(size=50)
    assert correlations(x, y) == pytest.approx((spearmanr(x, y).statistic, np.corrcoef(x, y)[0, 1]))
    assert np.isnan(correlations(x, np.ones(50))).all()


@pytest.mark.parametrize(
    ("r", "said"),
    [
        (0.95, "nearly the same"),
        (-0.75, "strong, inverse"),
        (0.1, "none"),
        (np.nan, "unknown"),
    ],
)
def test_a_correlation_has_words(r: float, said: str) -> None:
    assert describe(r) == said


def test_the_reliability_of_honest_labels_is_on_the_diagonal(whole: Diagnosis) -> None:
    labels = dict(zip(whole.votes.tasks.tolist(), whole.result.labels.tolist(), strict=True))
    ax = plots.reliability(whole, labels)
    confidence, right = ax.lines[1].get_data()
    assert (np.asarray(right) == 100).all()
    assert sum(int(text.get_text().replace(",", "")) for text in ax.texts) == len(labels)
    assert confidence[-1] == pytest.approx(100 * whole.result.confidence.max(), abs=5)


def test_colours_differ_in_grey() -> None:
    def grey(color: str) -> float:
        return float(np.dot(to_rgb(color), [0.299, 0.587, 0.114]))

    shades = SHARE_COLORMAP(np.linspace(0, 1, 20))[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(shades) < 0).all()
    assert abs(grey(BLUE) - grey(SKY)) > 0.2
    shapes = [marker for _, marker in FLAG_MARKS.values()]
    assert len(set(shapes)) == len(shapes) - 1  # gold tasks and traps share one: they never meet
