"""The command lines in peerannot's documentation, typed with this program's name.

Sources: its README, `doc/interface_cli/*.rst` and `doc/tutorials/*` (github.com/peerannot/peerannot), and the
paper (Lefort, Charlier, Joly and Salmon, Peerannot, Computo 2024). Data sets are small and in its layout.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import Result

Run = Callable[..., Result]

SIMULATIONS = [  # cli_simulate.rst, run_aggregation_notebook.ipynb, run_pipeline_notebook.ipynb
    "simulate --n-worker=30 --n-task=200  --n-classes=5 --strategy independent-confusion --feedback=10 "
    "--seed 0 --folder ./simus/independent",
    "simulate --n-worker=30 --n-task=200  --n-classes=5 --strategy student-teacher --ratio 0.8 --feedback=10 "
    "--seed 0 --folder ./simus/student_teacher",
    "simulate --n-worker=100 --n-task=200  --n-classes=5 --strategy discrete-difficulty --ratio 0.35 "
    "--ratio-diff 1 --feedback 10 --seed 0 --folder ./simus/discrete_difficulty",
    "simulate --n-worker=30 --n-task=200  --n-classes=5 --strategy independent-confusion --feedback=10 "
    "--seed 0 --folder ../_build/notebooks/",
    "simulate --n-worker=100 --n-task=300  --n-classes=5 --strategy hammer-spammer --ratio 0.7 --feedback=10 "
    "--seed 0 --folder ../_build/notebooks",
]
HELP = [
    "--help", "aggregate --help", "aggregate-deep --help", "identify --help", "simulate --help",
    "train --help", "aggregate -h",
]  # fmt: skip
AGGREGATIONS = [
    *(f"aggregate . -s {name}" for name in ("MV", "NaiveSoft", "DS", "GLAD", "WDS")),  # README of releases
    *(f"aggregate . -s {name}" for name in ("majority_voting", "dawid_skene")),  # README of today
    *(f"aggregate ../birds/ -s {name}" for name in ("MV", "NaiveSoft", "DS", "GLAD", "DSWC[L=5]", "Wawa")),
    "aggregate ../birds/ -s DSWC[L=10]",  # the paper
    "agginfo",
]
IDENTIFICATIONS = [  # run_pipeline_notebook.ipynb, the paper
    "identify -s krippendorffalpha ../birds --labels ../birds/answers.json --n-classes 5",
    "identify -s spam_score ../birds --labels ../birds/answers.json --n-classes 5",
    "identify ../birds -s entropy -K 10 --labels ../birds/answers.json",
    "identify ../birds/ --n-classes=10 -s trace_confusion --labels ../birds/answers.json",
    "identify ../birds/ --n-classes=10 -s spam_score --labels ../birds/answers.json",
]
OTHERWISE = {  # what is not done as in peerannot, and the sentence that says what to do
    "install ./datasets/cifar10H/cifar10h.py": "crowdpilot datasets get NAME downloads one",
    "install installationFile.py": "crowdpilot datasets get NAME",
    "install cifar10h.py": "crowdpilot datasets get NAME",
    "install labelme.py": "crowdpilot datasets get NAME",
    "install ../customDataset.py --no-task --answers answersFile.json --answers-format 1": "is read as it is",
    "install datasets/customDataset.py --answers-format 2 --answers PATH/answers.json --no-task": "as it is",
    "install datasets/customDataset.py --train-path PATH_TO_TRAIN_DIR --test-path PATH_TO_TEST_DIR "
    "--val-path PATH_TO_VAL_DIR --answers PATH/answers.txt --files-path PATH/filenames.txt "
    "--label-names PATH/labelNames.txt": "is read as it is",
    "install datasets/customDataset.py --train-path PATH_TO_TRAIN_DIR --answers-format 1 "
    "--files-path PATH/filenames.txt --answers PATH/answers.json --label-names PATH/names.txt": "as it is",
    "install --help": "crowdpilot datasets get NAME",
    "modelinfo --help": "those of torchvision by name",
    "modelinfo": "crowdpilot train --help",
    "identificationinfo": "crowdpilot identify --help",
    # the file that `aggregate` would have written there
    "train . -o cifar10H_mv -K 10 --labels=./labels/labels_cifar-10h_mv.npy --model resnet18 --img-size=32 "
    "--n-epochs=1000 --lr=0.1 --scheduler -m 100 -m 250 --num-workers=8": "crowdpilot aggregate . -s mv -o",
}
TRAINING = [  # README
    "train . -o cifar10H_mv -K 10 --labels=./labels/labels_birds_mv.npy --model resnet18 --img-size=32 "
    "--n-epochs=1000 --lr=0.1 --scheduler -m 100 -m 250 --num-workers=8",
    "aggregate-deep . -o cifar10h_crowdlayer --answers ./answers.json --model resnet18 -K=10 --n-epochs 150 "
    "--lr 0.1 --optimizer sgd --batch-size 64 --num-workers 8 --img-size=32 -s crowdlayer",
    "aggregate-deep . -o cifar10h_conal --answers ./answers.json --model resnet18 -K=10 --n-epochs 150 "
    "--lr 0.1 --optimizer sgd --batch-size 64 --num-workers 8 --img-size=32 -s CoNAL[scale=1e-4]",
]


@pytest.fixture
def birds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set in the layout of peerannot, in which one works."""
    folder = tmp_path / "birds"
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 12)
    answers = {
        str(task): {
            str(w): int(kind if rng.random() < 0.8 else rng.integers(0, 3)) for w in rng.permutation(5)[:3]
        }
        for task, kind in enumerate(kinds)
    }
    for part in ("train", "val", "test"):
        for task, kind in enumerate(kinds):
            picture = folder / part / str(kind) / f"bird-{task}.png"
            picture.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(picture)
    (folder / "answers.json").write_text(json.dumps(answers))
    (folder / "metadata.json").write_text(json.dumps({"name": "birds", "n_classes": 10, "n_workers": 5}))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("typed", HELP)
def test_help_is_there(typed: str, cli: Run) -> None:
    result = cli(*shlex.split(typed))
    assert result.exit_code == 0
    assert "Usage: crowdpilot" in result.stdout


@pytest.mark.parametrize("typed", SIMULATIONS)
def test_simulations_are_written_as_there(typed: str, birds: Path, cli: Run) -> None:
    folder = Path(typed.split()[-1])
    if folder.name == "notebooks":
        folder.mkdir(parents=True)  # as the tutorials do
    assert cli(*shlex.split(typed)).exit_code == 0
    answers = json.loads((folder / "answers.json").read_text())
    assert len(answers) == len(np.load(folder / "ground_truth.npy"))
    assert (folder / "metadata.json").exists()


@pytest.mark.parametrize("typed", AGGREGATIONS)
def test_labels_are_printed(typed: str, birds: Path, cli: Run) -> None:
    result = cli(*shlex.split(typed))
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) >= 13


def test_labels_are_written_where_peerannot_writes_them(birds: Path, cli: Run) -> None:
    assert cli("aggregate", ".", "-s", "MV", "-o", "labels/labels_birds_mv.npy").exit_code == 0
    assert np.load("labels/labels_birds_mv.npy").shape == (12, 10)


@pytest.mark.parametrize("typed", IDENTIFICATIONS)
def test_scores_are_printed(typed: str, birds: Path, cli: Run) -> None:
    result = cli(*shlex.split(typed))
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) >= 2


@pytest.mark.parametrize("typed", OTHERWISE)
def test_what_is_done_otherwise_is_said(typed: str, birds: Path, cli: Run) -> None:
    result = cli(*shlex.split(typed))
    assert (result.exit_code, result.stdout) == (2, "")
    assert OTHERWISE[typed] in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("typed", TRAINING)
def test_training_on_a_network_of_torchvision_says_what_it_needs(
    typed: str, birds: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("aggregate", ".", "-s", "MV", "-o", "labels/labels_birds_mv.npy")
    monkeypatch.setitem(sys.modules, "torchvision", None)
    result = cli(*shlex.split(typed))
    assert result.exit_code == 2
    assert 'resnet18 needs torchvision: pip install "crowdpilot[vision]"' in result.stderr


@pytest.mark.thorough  # trains networks on images
@pytest.mark.parametrize("typed", TRAINING)
def test_training_runs_as_typed_but_for_the_network_and_epochs(typed: str, birds: Path, cli: Run) -> None:
    cli("aggregate", ".", "-s", "MV", "-o", "labels/labels_birds_mv.npy")
    quick = [*shlex.split(typed), "--model", "resnet_small", "--epochs", "1", "--device", "cpu"]
    assert cli(*quick).exit_code == 0
    assert Path(quick[quick.index("-o") + 1]).exists()
