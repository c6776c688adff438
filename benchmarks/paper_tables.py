"""Tables 1 to 3 of the peerannot paper over many seeds: `python -m benchmarks.paper_tables`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, markdown, write
from crowdpilot.aggregation import NotConverged, parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.simulation import Crowd, DiscreteDifficulty, IndependentConfusion, StudentTeacher


@dataclass(frozen=True)
class Table:
    """A simulated crowd, what the paper found there with one seed, and which kind of model should win."""

    title: str
    crowd: Crowd
    published: dict[str, float]
    winner: str

    @property
    def models(self) -> list[str]:
        """Strategies, as the paper names them."""
        return list(self.published)


TABLES = (
    Table(
        "Table 1: independent mistakes",
        IndependentConfusion(tasks=200, workers=30, classes=5, votes_per_task=10),
        {"MV": 0.78, "NaiveSoft": 0.76, "GLAD": 0.78, "DS": 0.89, "DSWC[L=5]": 0.775, "DSWC[L=10]": 0.77},
        winner="DS",
    ),
    Table(
        "Table 2: correlated mistakes",
        StudentTeacher(tasks=200, workers=30, classes=5, votes_per_task=10, ratio=0.8),
        {"MV": 0.715, "NaiveSoft": 0.69, "GLAD": 0.645, "DS": 0.755, "DSWC[L=5]": 0.795, "DSWC[L=10]": 0.815},
        winner="DSWC",
    ),
    Table(
        "Table 3: easy and hard tasks",
        DiscreteDifficulty(tasks=200, workers=100, classes=5, votes_per_task=10, ratio=0.35, ratio_diff=1),
        {"MV": 0.79, "NaiveSoft": 0.79, "GLAD": 0.845, "DS": 0.81, "DSWC[L=2]": 0.6, "DSWC[L=5]": 0.66},
        winner="GLAD",
    ),
)


def measure(table: Table, seeds: int) -> Floats:
    """Share of the tasks labelled right, (seeds, models)."""
    return np.array(
        [[_accuracy(table.crowd, model, seed) for model in table.models] for seed in range(seeds)]
    )


def _accuracy(crowd: Crowd, model: str, seed: int) -> float:
    votes, truth = replace(crowd, seed=seed).run()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return float(np.mean(parse_strategy(model).fit(votes).codes == truth))


def find_winner(table: Table, scores: Floats) -> str:
    """The model with the best mean, without its options."""
    return table.models[int(scores.mean(axis=0).argmax())].split("[")[0]


def main(
    seeds: Annotated[int, typer.Option(help="Crowds to draw for each table.")] = 20,
    output: Annotated[Path, typer.Option(help="Folder for paper_tables.md and .json.")] = RESULTS,
) -> None:
    """Average the three tables over seeds and write them beside the published figures."""
    record: dict[str, Any] = {"seeds": seeds}
    text = TEXT.format(seeds=seeds)
    for table in TABLES:
        scores = measure(table, seeds)
        mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(seeds)
        wins = find_winner(table, scores)
        record[table.title] = {
            "mean": _round(table, mean), "standard_error": _round(table, error), "published": table.published,
            "winner": wins, "published_winner": table.winner, "seeds_won_by_it": _seeds_won(table, scores),
        }  # fmt: skip
        top = mean.max()
        ours = [f"**{m:.3f}**" if m == top else f"{m:.3f}" for m in mean]
        rows = [
            ["mean", *ours],
            ["standard error", *(f"{e:.3f}" for e in error)],
            ["published (one seed)", *(f"{p:.3f}" for p in table.published.values())],
        ]
        text += f"\n## {table.title}\n\nBest here: {wins}; in the paper: {table.winner}.\n\n"
        text += markdown(["", *table.models], rows)
    write(output, "paper_tables", text, record)
    typer.echo(text)


def _round(table: Table, values: Floats) -> dict[str, float]:
    return dict(zip(table.models, values.round(4).tolist(), strict=True))


def _seeds_won(table: Table, scores: Floats) -> int:
    """In how many seeds a model of the published winner's kind is best or equal to the best."""
    own = np.array([model.split("[")[0] == table.winner for model in table.models])
    return int((scores[:, own].max(axis=1) >= scores.max(axis=1)).sum())


TEXT = """# Tables 1 to 3 of the peerannot paper

Written by `python -m benchmarks.paper_tables`.

Share of the tasks labelled right in three simulated crowds: mean and standard error over {seeds} seeds,
beside the figures of one seed published in Lefort, Charlier, Joly and Salmon, Peerannot: learning from
crowdsourced image datasets with Python, 2023. The settings are those of the paper's commands; for table 3
its text says 500 tasks, but its command and its figures (multiples of 1/200) are of 200.
"""


if __name__ == "__main__":
    launch(main)
