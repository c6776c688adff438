"""Tables of the benchmarks, and the paper's tables on few seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.paper_tables import TABLES, find_winner, measure
from benchmarks.tables import markdown, numbers


def test_the_best_of_a_row_is_bold_and_equals_share_it() -> None:
    assert numbers([0.5, 0.9, None, 0.9001]) == ["0.500", "**0.900**", "–", "**0.900**"]


def test_a_table_is_markdown() -> None:
    assert markdown(["set", "a"], [["x", "1"]]) == "| set | a |\n| --- | ---: |\n| x | 1 |\n"


def test_every_model_of_a_paper_table_is_measured_on_every_seed() -> None:
    table = replace(TABLES[0], published={"MV": 0.78, "DS": 0.89})
    scores = measure(table, seeds=3)
    assert scores.shape == (3, 2)
    assert (np.ptp(scores, axis=0) > 0).all()
    assert scores.min() > 0.5


def test_the_winner_has_the_best_mean_whatever_its_options() -> None:
    table = replace(TABLES[1], published={"MV": 0.7, "DSWC[L=5]": 0.8, "DSWC[L=10]": 0.8})
    assert find_winner(table, np.array([[0.9, 0.2, 0.8], [0.5, 0.2, 0.8]])) == "DSWC"
