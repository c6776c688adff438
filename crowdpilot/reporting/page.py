"""One page about a crowd: a single file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import scipy
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import crowdpilot
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.io.atomic_write import whole
from crowdpilot.reporting import sentences
from crowdpilot.reporting.advice import advise
from crowdpilot.reporting.formatting import count, percent, shorten
from crowdpilot.reporting.plot_list import PLOTS, Plot
from crowdpilot.reporting.svg import to_svg
from crowdpilot.reporting.tables import tasks_table, workers_table
from crowdpilot.reporting.task_cards import Dealer
from crowdpilot.reporting.truth import Measure, Truth, compare, measures

MEASURES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "brier": "Brier score",
    "log_loss": "log loss",
    "ece": "calibration error (ECE)",
}


def make_report(
    diagnosis: Diagnosis,
    *,
    truth: Truth | None = None,
    texts: Mapping[Any, Any] | None = None,
    images: str | os.PathLike[str] | None = None,
    title: str = "Crowd report",
    source: str = "VOTES",
    made: str = "",
) -> str:
    """A diagnosis as one HTML page that loads nothing from anywhere.

    Parameters
    ----------
    diagnosis
        What `crowdpilot.diagnosis.diagnose` found.
    truth
        The true class of some tasks, to measure how good labels and confidence are.
    texts
        The text of tasks, to show beside the hardest and the most ambiguous ones.
    images
        A folder with a picture for each task, named like it, for the same purpose.
    title
        Of the page.
    source
        The file of votes, for the commands that the page proposes.
    made
        When it was made, in any words.
    """
    known = None if truth is None else compare(diagnosis.result, truth)
    checks = [] if known is None else measures(known)
    dealer = Dealer(diagnosis, known, texts, images)
    return _environment().get_template("report.html").render(
        title=title, made=made, known=known, checks=checks, measures=MEASURES,
        size=sentences.size_in_words(diagnosis), findings=sentences.summary(diagnosis, known, checks),
        figures=_figures(diagnosis, checks), actions=advise(diagnosis, source, checked=known is not None),
        plots=_draw(diagnosis, truth), cards=dealer.review(), ambiguous=dealer.ambiguous(),
        workers=workers_table(diagnosis), tasks=tasks_table(diagnosis, known),
        level=percent(diagnosis.rules.level), target=percent(diagnosis.rules.target),
        agreement=[(sentences.name_of(row.measure), *row[1:]) for row in diagnosis.agreement],
        scores=diagnosis.result.params.get("scores", []), facts=_facts(diagnosis, made),
    )  # fmt: skip


def save_report(path: str | os.PathLike[str], diagnosis: Diagnosis, **settings: Any) -> None:
    """Write the page of `make_report` to a file, whole or not at all."""
    text = make_report(diagnosis, **settings)
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


@cache
def _environment() -> Environment:
    """Templates that escape everything, with the style and the script put inside."""
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


def _draw(diagnosis: Diagnosis, truth: Truth | None) -> dict[str, list[tuple[Plot, Markup]]]:
    """The plots of each section, as drawings inside the page."""
    sections: dict[str, list[tuple[Plot, Markup]]] = {}
    for plot in PLOTS:
        if (axes := plot.draw(diagnosis, truth)) is not None:
            sections.setdefault(plot.section, []).append((plot, Markup(to_svg(axes, plot.name))))
    return sections


def _brief(share: float) -> str:
    return percent(share).replace("over ", ">").replace("under ", "<")


def _figures(diagnosis: Diagnosis, checks: list[Measure]) -> list[tuple[str, str, str]]:
    """The few numbers that everybody asks for: name, value, note."""
    found = [
        ("accuracy", _brief(row.value), f"{percent(row.low)} to {percent(row.high)}") for row in checks[:1]
    ]
    sure = float(diagnosis.result.confidence.mean())
    found.append(("expected accuracy", _brief(sure), "by the model's own account"))
    if (alpha := sentences.alpha_of(diagnosis)) is not None:
        found.append(("agreement", f"{alpha.value:.2f}".replace("-", "−"), sentences.name_of(alpha.measure)))
    bad, needy = int(diagnosis.flagged.sum()), int((diagnosis.tasks["more_votes"] > 0).sum())
    target = percent(diagnosis.rules.target)
    workers, tasks = len(diagnosis.votes.workers), len(diagnosis.votes.tasks)
    found.append((f"flagged worker{'' if bad == 1 else 's'}", f"{bad:,}", f"of {workers:,}"))
    found.append((f"task{'' if needy == 1 else 's'} in doubt", f"{needy:,}", f"of {tasks:,}, below {target}"))
    return found


def _facts(diagnosis: Diagnosis, made: str) -> list[tuple[str, str]]:
    """How the result was made, so that it can be made again."""
    result = diagnosis.result
    rounds = f"{len(result.trace):,}{'' if result.converged else ', not settled'}" if result.trace else ""
    found = [
        ("strategy", str(result.model)),
        ("votes", f"{len(result.votes):,}"),
        ("rows without a vote", f"{result.votes.dropped:,}"),
        ("gold tasks", "" if result.votes.gold is None else f"{(result.votes.gold >= 0).sum():,}"),
        ("rounds", rounds),
        ("seed", str(diagnosis.seed)),
        ("crowdpilot", crowdpilot.__version__),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
        ("Python", platform.python_version()),
        ("made", made),
    ]
    return [(name, value) for name, value in found if value]
