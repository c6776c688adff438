"""`crowdpilot predict`: labels of new tasks by a classifier that was saved."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from crowdpilot import io
from crowdpilot.learning import CrowdClassifier

Run = Callable[..., Result]
Load = Callable[[str], dict[str, np.ndarray]]


@pytest.fixture
def model(crowd_files: Path, load: Load) -> CrowdClassifier:
    """A trained classifier, also saved in model.safetensors."""
    file = load("x.npz")
    model = CrowdClassifier("linear", "crowdlayer", epochs=8, lr=0.05)
    model.fit(file["x"], io.read("crowd.csv"), tasks=file["task"].tolist())
    model.save("model.safetensors")
    return model


def test_labels_go_to_standard_output(model: CrowdClassifier, cli: Run, load: Load) -> None:
    test = load("test.npz")
    rows = list(csv.DictReader(StringIO(cli("predict", "model.safetensors", "test.npz").stdout)))
    assert list(rows[0]) == ["task", "label", "confidence"]
    assert [row["task"] for row in rows] == test["task"].tolist()
    assert [row["label"] for row in rows] == model.predict(test["x"]).tolist()


def test_probabilities_are_those_of_the_library(model: CrowdClassifier, cli: Run, load: Load) -> None:
    cli("predict", "model.safetensors", "test.npz", "-o", "out.npy")
    expected = model.predict_proba(load("test.npz")["x"])
    np.testing.assert_allclose(np.load("out.npy"), expected, atol=1e-7)
    cli("predict", "model.safetensors", "test.npz", "-o", "out.csv", "--probs")
    (row, *_) = csv.DictReader(StringIO(Path("out.csv").read_text()))
    assert [float(row[f"p_{name}"]) for name in model.classes_] == pytest.approx(expected[0].tolist())


def test_tasks_without_names_are_numbers(model: CrowdClassifier, cli: Run, load: Load) -> None:
    np.save("plain.npy", load("test.npz")["x"][:3])
    shown = cli("predict", "model.safetensors", "plain.npy").stdout
    assert [row["task"] for row in csv.DictReader(StringIO(shown))] == ["0", "1", "2"]


def test_what_is_written_can_be_scored(model: CrowdClassifier, cli: Run, load: Load) -> None:
    cli("predict", "model.safetensors", "test.npz", "-o", "out.csv", "--probs")
    shown = cli("score", "out.csv", "test.csv", "--samples", "10").stdout
    accuracy = next(row for row in csv.DictReader(StringIO(shown)) if row["measure"] == "accuracy")
    test, truth = load("test.npz"), io.read_labels("test.csv")
    assert float(accuracy["value"]) == model.score(test["x"], [truth[name] for name in test["task"].tolist()])


WRONG = {
    "no such model": ("none.safetensors", "test.npz"),
    "no model at all": ("crowd.csv", "test.npz"),
    "no such content": ("model.safetensors", "none.npz"),
    "votes in the place of content": ("model.safetensors", "crowd.csv"),
    "content of another width": ("model.safetensors", "wide.npy"),
    "a NaN in the content": ("model.safetensors", "nan.npy"),
    "a table of another format": ("model.safetensors", "test.npz", "-o", "out.xlsx"),
}


@pytest.mark.parametrize("args", WRONG.values(), ids=WRONG)
def test_a_mistake_ends_in_one_sentence(args: tuple[str, ...], model: CrowdClassifier, cli: Run) -> None:
    np.save("wide.npy", np.ones((4, 7)))
    np.save("nan.npy", np.full((4, 3), np.nan))
    before = set(Path().iterdir())
    result = cli("predict", *args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("crowdpilot: ")
    assert result.stderr.count("\n") == 1
    assert set(Path().iterdir()) == before
