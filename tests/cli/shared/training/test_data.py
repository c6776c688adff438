"""Folders of pictures in peerannot's layout: what their names and the votes say of the classes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import Result

from crowdpilot.cli.shared.training.data import classes_of_folders
from crowdpilot.votes import Votes

Run = Callable[..., Result]
TINY = (
    "--network", "resnet_small[width=4,blocks=1,stages=1]", "--img-size", "8",
    "--epochs", "15", "--lr", "0.05", "--batch-size", "8",
)  # fmt: skip
COLOURS = {"sky": (20, 40, 250), "grass": (30, 240, 30), "brick": (240, 20, 20)}
CLASSES = {"sky": 0, "grass": 1, "brick": 2}  # not in the order of the alphabet


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set with 24 pictures to learn from, 6 to validate and 6 to test, in folders by class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    answers: dict[str, dict[str, int]] = {}
    for part, count in (("train", 24), ("val", 6), ("test", 6)):
        for n in range(count):
            kind = list(COLOURS)[n % 3]
            pixels = np.clip(np.asarray(COLOURS[kind]) + rng.normal(0, 20, (10, 12, 3)), 0, 255)
            folder = tmp_path / "set" / part / kind
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{kind}_picture-{n}.png")
            if part == "train":
                wrong = (CLASSES[kind] + 1) % 3
                answers[str(n)] = {"a": CLASSES[kind], "b": CLASSES[kind] if n % 4 else wrong}
    (tmp_path / "set" / "answers.json").write_text(json.dumps(answers))
    (tmp_path / "set" / "metadata.json").write_text(
        json.dumps({"name": "set", "n_classes": 3, "n_workers": 2})
    )
    return tmp_path


def test_train_val_and_test_are_found(pictures: Path, cli: Run) -> None:
    result = cli("train", "set", *TINY, "-o", "out.json", "--save", "model.safetensors")
    assert "by most votes, brick is 2, grass is 1, sky is 0" in result.stderr
    found = json.loads(Path("out.json").read_text())
    assert found["scores"]["validation"]["accuracy"] == 1
    assert found["scores"]["test"]["accuracy"] == 1
    assert found["scores"]["train"]["accuracy"] > 0.9
    cli("predict", "model.safetensors", "set/test", "-o", "new.npy")
    label = np.load("new.npy").argmax(axis=1)
    assert label.tolist() == [CLASSES[list(COLOURS)[n % 3]] for n in range(6)]


def test_labels_that_peerannot_has_saved_are_learned_from(pictures: Path, cli: Run) -> None:
    np.save("labels_set_mv.npy", np.arange(24) % 3)
    result = cli("train", "set", *TINY, "--labels", "labels_set_mv.npy", "-o", "out.json")
    assert result.exit_code == 0
    assert json.loads(Path("out.json").read_text())["scores"]["test"]["accuracy"] == 1


def test_votes_may_lie_elsewhere(pictures: Path, cli: Run) -> None:
    (pictures / "set" / "answers.json").rename("votes.json")
    result = cli("aggregate-deep", "set", "--answers", "votes.json", *TINY, "-o", "out.csv")
    assert result.exit_code == 0
    assert len(Path("out.csv").read_text().splitlines()) == 25


def test_a_folder_without_pictures_needs_content(pictures: Path, cli: Run) -> None:
    (pictures / "set" / "train").rename("elsewhere")
    result = cli("train", "set", *TINY, "-o", "out.json")
    assert result.exit_code == 2
    assert "set has no folder train of pictures, so --x must say what the tasks hold" in result.stderr
    assert cli("train", "set", *TINY, "--x", "elsewhere", "-o", "out.json").exit_code == 0


def test_a_folder_of_no_class_asks_for_labels(pictures: Path, cli: Run) -> None:
    (pictures / "set" / "test" / "sky").rename(pictures / "set" / "test" / "heaven")
    result = cli("train", "set", *TINY, "-o", "out.json")
    assert result.exit_code == 2
    assert "the folder 'heaven' is called like no class; give their labels" in result.stderr


def votes(task: list[int], label: list[str]) -> Votes:
    return Votes.of(task, np.arange(len(task)), label, classes=["x", "y"])


@pytest.mark.parametrize(
    ("folders", "label", "found"),
    [
        (["x", "y"], ["y", "x"], {"x": 0, "y": 1}),  # names come before votes
        (["one", "two"], ["y", "x"], {"one": 1, "two": 0}),
        (["one", "two"], ["x", "x"], {}),  # both are mostly x
        (["one", "one"], ["x", "y"], {}),  # a single folder says nothing
        (["one", "y"], ["y", "x"], {"one": 1, "y": 0}),
    ],
)
def test_what_a_folder_holds(folders: list[str], label: list[str], found: dict[str, int]) -> None:
    assert classes_of_folders(votes([0, 1], label), np.arange(2), folders) == found
