"""The benchmark of calibration, on small sets made here."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks import calibration_fusion, calibration_runs
from benchmarks.calibration_runs import Row, fused_posterior, if_honest, perform
from benchmarks.calibration_sets import read_set
from benchmarks.calibration_tables import render_model
from crowdpilot.metrics import ece

WORDS = ("good fine nice", "bad poor ugly")


def texts(truth: np.ndarray, rng: np.random.Generator) -> list[str]:
    """Two words of the class and one of either."""
    return [
        " ".join([*rng.choice(WORDS[k].split(), 2), rng.choice(WORDS[rng.integers(2)].split())])
        for k in truth
    ]


def write(path: Path, header: list[str], *columns: object) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *zip(*columns, strict=True)])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A set with shares and a set with votes, which has no test of its own."""
    rng = np.random.default_rng(0)
    shares, votes = tmp_path / "fig8_01_gop_sentiment", tmp_path / "movie_reviews_text"
    shares.mkdir()
    votes.mkdir()
    for part, n in (("", 80), ("val_", 30), ("test_balanced_", 40), ("test_", 40)):
        truth = np.arange(n) % 2
        names = [f"{part}{i}" for i in range(n)]
        sure = np.where(truth == 1, 0.2, 0.8)
        write(shares / f"{part}texts.csv", ["task", "text"], names, texts(truth, rng))
        write(shares / f"{part}soft.csv", ["task", "conf0", "conf1"], names, sure, 1 - sure)
        write(shares / f"{part}truth.csv", ["task", "label"], names, truth)
    truth = np.arange(120) % 2
    write(votes / "texts.csv", ["task", "text"], range(120), texts(truth, rng))
    write(votes / "truth.csv", ["task", "label"], range(120), truth)
    task = np.repeat(np.arange(120), 3)
    said = np.where(rng.random(360) < 0.85, truth[task], 1 - truth[task])
    write(votes / "answers.csv", ["task", "worker", "label"], task, np.tile(["x", "y", "z"], 120), said)
    return tmp_path


def test_no_text_is_both_learned_from_and_tested(data: Path) -> None:
    crowd = read_set(data, "movie_reviews_text")
    sizes = len(crowd.texts), len(crowd.validation[0]), len(crowd.tests["test"][0])
    assert sum(sizes) == 120
    assert len(crowd.votes) == 3 * len(crowd.texts)
    assert (crowd.truth == [int(name) % 2 for name in crowd.votes.tasks]).all()


@pytest.mark.parametrize("name", ["fig8_01_gop_sentiment", "movie_reviews_text"])
def test_a_row_has_each_map_and_a_table(data: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {"backbone": ["tfidf[min_df=1]"], "weight_decay": [0.0], "balance": ["none", "reweight"]}
    monkeypatch.setitem(calibration_runs.GRIDS, "NN1", grid)
    monkeypatch.setitem(calibration_runs.LEARNING, "epochs", 5)
    runs = {
        f"NN1 | {name} | MV | {target}": perform(
            Row("NN1", name, "MV", target), data, None, fused_posterior(name, "MV", data)
        )
        for target in ("hard", "sHard")
    }
    found = next(iter(runs.values()))
    assert set(found["maps"]) == {"none", "temperature", "best"}
    assert len(found["tried"]) == 2
    scores = next(iter(found["maps"]["temperature"].values()))
    low, high = scores["macro_f1_interval"]
    assert low <= scores["macro_f1"] <= high
    assert f"### NN1: {name}" in render_model(runs, "NN1")


def test_honest_probabilities_show_an_error_on_small_tests_and_none_on_large_ones() -> None:
    probs = np.random.default_rng(0).dirichlet([1, 1], 20_000)
    assert if_honest(probs) < 0.015 < 0.08 < if_honest(probs[:50])
    assert if_honest(np.array([[1.0, 0.0]] * 10)) == ece([0] * 10, np.array([[1.0, 0.0]] * 10)) == 0


def test_fusion_is_better_than_the_machine_and_more_votes_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 1500)
    machine = rng.dirichlet([1] * 4, 1500) + 0.4 * np.eye(4)[truth]
    machine /= machine.sum(axis=1, keepdims=True)
    counts = np.stack([rng.multinomial(20, np.where(np.arange(4) == k, 0.7, 0.1)) for k in truth])
    monkeypatch.setattr(calibration_fusion, "FITTED", 500)
    error = [calibration_fusion._split(machine, counts, truth, n, 0)["truth"]["error"] for n in (0, 1, 5)]
    assert error[0] > error[1] > error[2]
    assert calibration_fusion._split(machine, counts, truth, 3, 0)["votes"]["ece"] < 0.1
