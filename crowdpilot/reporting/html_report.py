"""The report: one HTML file about a crowd that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, overload

import numpy as np
import scipy
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import crowdpilot
from crowdpilot.aggregation import suggest_gold
from crowdpilot.diagnosis import Diagnosis, diagnose
from crowdpilot.io import as_labels
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.reporting.advice import recommend
from crowdpilot.reporting.decisions import ItemDecisions, make_section
from crowdpilot.reporting.findings import describe_size, list_findings, measure_name, nominal_alpha
from crowdpilot.reporting.formatting import count, percent, shorten
from crowdpilot.reporting.headline import make_headline
from crowdpilot.reporting.plots.style import figures_for_files
from crowdpilot.reporting.report_plots import PLOTS, ReportPlot
from crowdpilot.reporting.svg import to_svg
from crowdpilot.reporting.tables import tasks_table, workers_table
from crowdpilot.reporting.task_cards import CardBuilder
from crowdpilot.reporting.task_content import Images
from crowdpilot.reporting.truth import MetricInterval, Truth, match_truth, truth_metrics

METRIC_NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "brier": "Brier score",
    "log_loss": "log loss",
    "ece": "calibration error (ECE)",
}


WORDS = {
    "task": "one item that is to be classified: a text, a picture, a sound",
    "vote": "one answer of one worker about one task",
    "class": "one of the answers to choose from",
    "label": "the class that is decided for a task",
    "confidence": "how likely a label is right, by this estimate",
    "expected accuracy": "the share of labels that are likely right; the range says how sure that is",
    "skill": "how often a worker is right, by this estimate",
    "gold": "tasks whose right answer was known before",
    "Krippendorff's alpha": "how far workers agree beyond chance: 0 is chance, 1 is full agreement",
    "entropy": "how much the votes of a task differ: 0 if all are the same",
    "posterior": "the probabilities of the classes of a task, after all votes",
    "spammer": "a worker whose answers do not depend on the task",
}


@overload
def report(
    votes: Any,
    path: None = None,
    *,
    truth: Any = None,
    texts: Mapping[Any, Any] | None = None,
    images: Images | None = None,
    decisions: ItemDecisions | None = None,
    title: str = "Crowd report",
    source: str | None = "VOTES",
    date: str = "",
) -> str: ...
@overload
def report(
    votes: Any,
    path: str | os.PathLike[str],
    *,
    truth: Any = None,
    texts: Mapping[Any, Any] | None = None,
    images: Images | None = None,
    decisions: ItemDecisions | None = None,
    title: str = "Crowd report",
    source: str | None = "VOTES",
    date: str = "",
) -> Path: ...
def report(
    votes: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    truth: Any = None,
    texts: Mapping[Any, Any] | None = None,
    images: Images | None = None,
    decisions: ItemDecisions | None = None,
    title: str = "Crowd report",
    source: str | None = "VOTES",
    date: str = "",
) -> str | Path:
    """Write a report about votes: one HTML file that loads nothing from anywhere.

    Returns the path of the file, or the HTML as text if there is no path. The same data give the
    same text.

    Parameters
    ----------
    votes
        Votes of any kind or the result of a model, to which `diagnose` is applied, or a diagnosis.
    path
        The file, written whole or not at all.
    truth
        The true class of some tasks, to measure accuracy and calibration: a mapping or a Series from tasks to
        classes, a table or a file.
    texts
        The text of tasks, shown beside those that should be reviewed.
    images
        A folder with an image for each task, named like it, or a function that gives the data URL of the
        image of a task, for the same purpose.
    decisions
        The decisions of a campaign about all its items, also about those without votes.
    title
        Of the page.
    source
        The file of votes, for the commands that the report recommends. None: the votes are those of a project
        of the service, and the report names its pages and says what they call tasks and votes.
    date
        Of the report, as it is shown.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=20, skill=[0.9, 0.8, 0.7], seed=0)
    >>> report(votes, title="My crowd").startswith("<!DOCTYPE html>")
    True
    """
    if path is not None:
        _check_path(path)
    diagnosis = votes if isinstance(votes, Diagnosis) else diagnose(votes)
    truth = None if truth is None else as_labels(truth)
    known = None if truth is None else match_truth(diagnosis.result, truth)
    metrics = [] if known is None else truth_metrics(known)
    cards = CardBuilder(diagnosis, known, texts, images)
    suggestion = suggest_gold(diagnosis.result, None)
    html = _environment().get_template("report.html").render(
        title=title, date=date, words=WORDS, of_service=source is None, known=known, metrics=metrics,
        metric_names=METRIC_NAMES,
        size=describe_size(diagnosis), headline=make_headline(diagnosis.result, suggestion),
        findings=list_findings(diagnosis, known, metrics),
        figures=_key_figures(diagnosis, metrics),
        actions=recommend(diagnosis, source, checked=known is not None, suggestion=suggestion),
        plots=_draw_plots(diagnosis, truth), cards=cards.review_cards(), ambiguous=cards.ambiguous_tasks(),
        workers=workers_table(diagnosis), tasks=tasks_table(diagnosis, known),
        agreement=[(measure_name(row.measure), *row[1:]) for row in diagnosis.agreement],
        decisions=None if decisions is None else make_section(decisions, texts, images),
        scores=diagnosis.result.params.get("scores", []), facts=_settings_and_versions(diagnosis, date),
    )  # fmt: skip
    if path is None:
        return html
    with atomic_path(path) as draft:
        draft.write_text(html, encoding="utf-8", errors="xmlcharrefreplace")
    return Path(path)


def _check_path(path: Any) -> None:
    """Raise before the work begins if it cannot be the path of a page."""
    if not isinstance(path, str | os.PathLike) or Path(path).suffix.lower() not in (".html", ".htm", ""):
        raise ValueError(
            f"the report is one page of HTML: found {str(path)!r}, expected a path such as report.html"
        )


@cache
def _environment() -> Environment:
    """Templates that escape everything, with the style sheet and the script embedded."""
    loader = PackageLoader("crowdpilot.reporting")
    page = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style, script = (loader.get_source(page, name)[0] for name in ("report.css", "report.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page.globals |= {"style": Markup(style), "script": Markup(script), "digest": digest, "count": count}
    page.filters |= {"percent": percent, "number": _number, "shorten": shorten}
    return page


def _number(value: Any, digits: int = 3) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def _draw_plots(diagnosis: Diagnosis, truth: Truth | None) -> dict[str, list[tuple[ReportPlot, Markup]]]:
    """The plots of each section as SVG."""
    sections: dict[str, list[tuple[ReportPlot, Markup]]] = {}
    with figures_for_files():
        for plot in PLOTS:
            if (axes := plot.draw(diagnosis, truth)) is not None:
                sections.setdefault(plot.section, []).append((plot, Markup(to_svg(axes, plot.name))))
    return sections


def _short_percent(share: float) -> str:
    return percent(share).replace("over ", ">").replace("under ", "<")


def _key_figures(diagnosis: Diagnosis, metrics: list[MetricInterval]) -> list[tuple[str, str, str]]:
    """The most important numbers: name, value, note."""
    figures = [
        ("accuracy", _short_percent(row.value), f"{percent(row.low)} to {percent(row.high)}")
        for row in metrics[:1]
    ]
    estimate = diagnosis.result.expected_accuracy
    low, high = (percent(round(share, 2)) for share in (estimate.low, estimate.high))
    figures.append(("expected accuracy", _short_percent(round(estimate.mean, 2)), f"{low} to {high}"))
    if (alpha := nominal_alpha(diagnosis)) is not None:
        figures.append(("agreement", f"{alpha.value:.2f}".replace("-", "−"), measure_name(alpha.measure)))
    flagged, below = int(diagnosis.flagged.sum()), int((diagnosis.tasks["more_votes"] > 0).sum())
    target = percent(diagnosis.rules.target)
    workers, tasks = len(diagnosis.votes.workers), len(diagnosis.votes.tasks)
    figures.append((f"flagged worker{'' if flagged == 1 else 's'}", f"{flagged:,}", f"of {workers:,}"))
    figures.append(
        (
            f"task{'' if below == 1 else 's'} below the target",
            f"{below:,}",
            f"of {tasks:,}, confidence under {target}",
        )
    )
    return figures


def _settings_and_versions(diagnosis: Diagnosis, date: str) -> list[tuple[str, str]]:
    """Settings and versions, to reproduce the result."""
    result = diagnosis.result
    iterations = (
        f"{len(result.trace):,}{'' if result.converged else ', not converged'}" if result.trace else ""
    )
    facts = [
        ("strategy", str(result.model)),
        ("votes", f"{len(result.votes):,}"),
        ("rows without a vote", f"{result.votes.dropped:,}"),
        ("gold tasks", "" if result.votes.gold is None else f"{(result.votes.gold >= 0).sum():,}"),
        ("iterations", iterations),
        ("seed", str(diagnosis.seed)),
        ("crowdpilot", crowdpilot.__version__),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
        ("Python", platform.python_version()),
        ("date", date),
    ]
    return [(name, value) for name, value in facts if value]
