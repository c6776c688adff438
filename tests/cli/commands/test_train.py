"""`crowdpilot train`: what is learned, measured and left behind."""

from __future__ import annotations

import csv
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

import crowdpilot
from crowdpilot import io
from crowdpilot.aggregation import parse_strategy
from crowdpilot.cli.shared.completion import complete_method, complete_network
from crowdpilot.cli.shared.training.options import TrainingOptions
from crowdpilot.learning import CrowdClassifier
from crowdpilot.metrics import METRICS

Run = Callable[..., Result]
Start = Callable[..., subprocess.Popen[str]]
Load = Callable[[str], dict[str, np.ndarray]]
QUICK = ("--x", "x.npz", "--network", "linear", "--epochs", "8", "--lr", "0.05")
TEST = ("--test-x", "test.npz", "--test-labels", "test.csv")


def scores(text: str) -> dict[tuple[str, str], float]:
    rows = csv.DictReader(StringIO(text))
    return {(row["tasks"], row["measure"]): float(row["value"]) for row in rows}


def library(load: Load, method: str, **settings: Any) -> Any:
    """The same training by the library."""
    file = load("x.npz")
    model = CrowdClassifier("linear", method, epochs=8, lr=0.05, **settings)
    return model.fit(file["x"], io.read("crowd.csv"), tasks=file["task"].tolist())


def test_scores_go_to_standard_output(crowd_files: Path, cli: Run) -> None:
    found = scores(cli("train", "crowd.csv", *QUICK, *TEST, "--truth", "truth.csv").stdout)
    assert set(found) == {(part, measure) for part in ("train", "test") for measure in METRICS}
    assert found["test", "accuracy"] > 0.8


def test_it_is_what_the_library_does(crowd_files: Path, cli: Run, load: Load) -> None:
    model = library(load, "two_stage[labels='dawid_skene',targets='shard']", seed=3, balance="reweight")
    test = load("test.npz")
    truth = io.read_labels("test.csv")
    expected = model.score(test["x"], [truth[name] for name in test["task"].tolist()])
    args = ("--labels", "ds", "--targets", "shard", "--seed", "3", "--balance", "reweight")
    result = cli("train", "crowd.csv", *QUICK, *TEST, *args, "-o", "out.json", "--save", "model.safetensors")
    assert result.stdout == ""
    assert json.loads(Path("out.json").read_text())["scores"]["test"]["accuracy"] == expected
    cli("predict", "model.safetensors", "test.npz", "-o", "probs.npy")
    np.testing.assert_allclose(np.load("probs.npy"), model.predict_proba(test["x"]), atol=1e-6)


def test_results_hold_all_that_is_worth_keeping(crowd_files: Path, cli: Run) -> None:
    validation = ("--val-x", "test.npz", "--val-labels", "test.csv", "--patience", "8")
    cli("train", "crowd.csv", *QUICK, *validation, "-o", "out.json", "--optimizer", "SGD", "--decay", "0.25")
    found = json.loads(Path("out.json").read_text())
    assert found["model"]["network"] == "linear"
    assert found["model"]["classes"] == ["bird", "fish", "newt"]
    assert found["settings"]["optimizer"] == "sgd"
    assert found["settings"]["weight_decay"] == 0.25
    assert set(found["scores"]) == {"validation"}
    assert {"accuracy", "macro_f1", "ece"} <= set(found["scores"]["validation"])
    assert [row["epoch"] for row in found["epochs"]] == list(range(8))
    best = max(row["val_accuracy"] for row in found["epochs"])
    assert found["scores"]["validation"]["accuracy"] == best
    assert found["seconds"] > 0


@pytest.mark.parametrize("name", ["labels.npy", "hard.npy", "labels.csv", "labels.parquet", "hard.csv"])
def test_labels_of_a_file_are_those_of_the_strategy_that_made_it(
    name: str, crowd_files: Path, cli: Run, load: Load
) -> None:
    soft = name.startswith("labels")
    result = parse_strategy("ds").fit(io.read("crowd.csv"))
    if name == "labels.npy":
        np.save(name, result.probs)
    elif name == "hard.npy":
        np.save(name, result.labels.astype(str))
    else:
        io.write_table(result.to_table(probs=soft), name)
    targets = ("--targets", "soft" if soft else "hard")
    for output, labels in (("by_file.npy", name), ("by_name.npy", "ds")):
        args = (*QUICK, *targets, "--labels", labels, "--save", "m.safetensors")
        assert cli("train", "crowd.csv", *args).exit_code == 0
        cli("predict", "m.safetensors", "x.npz", "-o", output)
    np.testing.assert_allclose(np.load("by_file.npy"), np.load("by_name.npy"), atol=1e-5)


def test_tasks_that_a_file_names_are_not_learned_from(crowd_files: Path, cli: Run, load: Load) -> None:
    lines = Path("crowd.csv").read_text().splitlines()
    out = list(dict.fromkeys(line.partition(",")[0] for line in lines[1:]))[:20]
    Path("out.txt").write_text("\n".join(out))
    result = cli("train", "crowd.csv", *QUICK, "--path-remove", "out.txt", "--save", "a.safetensors")
    assert "20 of 120 tasks are removed from training" in result.stderr
    Path("less.csv").write_text("\n".join(line for line in lines if line.partition(",")[0] not in out))
    cli("train", "less.csv", *QUICK, "--save", "b.safetensors")
    for model in ("a", "b"):
        cli("predict", f"{model}.safetensors", "test.npz", "-o", f"{model}.npy")
    np.testing.assert_allclose(np.load("a.npy"), np.load("b.npy"), atol=1e-6)


def test_tasks_without_content_are_left_out_and_counted(crowd_files: Path, cli: Run, load: Load) -> None:
    file = load("x.npz")
    np.savez("some.npz", task=file["task"][5:], x=file["x"][5:])
    result = cli("train", "crowd.csv", *QUICK, "--x", "some.npz", "--save", "model.safetensors")
    assert result.exit_code == 0
    assert "5 of 120 tasks with votes are not in some.npz" in result.stderr


def test_rows_without_names_are_tasks_in_their_order(crowd_files: Path, cli: Run, load: Load) -> None:
    file, tasks = load("x.npz"), io.read("crowd.csv").tasks.tolist()
    index = {name: n for n, name in enumerate(file["task"].tolist())}
    np.save("x.npy", file["x"][[index[task] for task in tasks]])
    by_name = cli("train", "crowd.csv", *QUICK, "--truth", "truth.csv").stdout
    by_position = cli("train", "crowd.csv", *QUICK, "--x", "x.npy", "--truth", "truth.npy").stdout
    assert scores(by_name)["train", "accuracy"] > 0.8
    assert scores(by_position)["train", "accuracy"] == pytest.approx(
        scores(by_name)["train", "accuracy"], abs=0.1
    )


def test_options_of_peerannot_are_understood(crowd_files: Path, cli: Run) -> None:
    ours = cli("train", "crowd.csv", *QUICK, *TEST).stdout
    names = ("--x", "x.npz", "--model", "linear", "--n-epochs", "8", "--lr", "0.05", "-optim", "Adam")
    assert cli("train", "crowd.csv", *names, *TEST).stdout == ours


def test_defaults_are_those_of_the_library() -> None:
    library = {p.name: p.default for p in inspect.signature(CrowdClassifier).parameters.values()}
    own = {field.name.replace("decay", "weight_decay"): field.default for field in fields(TrainingOptions)}
    shared = own.keys() & library.keys()
    assert {"epochs", "lr", "weight_decay", "network", "seed", "balance"} <= shared
    assert {name: own[name] or None for name in shared} == {name: library[name] or None for name in shared}


KEPT = (*QUICK, "-o", "out.json")
WRONG = {
    "no content": ("-o", "out.json"),
    "no such content": (*KEPT, "--x", "none.npz"),
    "content of other tasks": (*KEPT, "--x", "other.npz"),
    "an unknown network": (*KEPT, "--network", "brain"),
    "an option the network does not have": (*KEPT, "--network", "mlp[size=3]"),
    "an unknown strategy": (*KEPT, "--labels", "nothing"),
    "unknown targets": (*KEPT, "--targets", "fuzzy"),
    "an unknown optimizer": (*KEPT, "--optimizer", "magic"),
    "an unknown balance": (*KEPT, "--balance", "magic"),
    "no epochs": (*KEPT, "--epochs", "0"),
    "a validation set without labels": (*KEPT, "--val-x", "test.npz"),
    "test labels without content": (*KEPT, "--test-labels", "test.csv"),
    "labels of other tasks": (*KEPT, "--test-x", "test.npz", "--test-labels", "truth.csv"),
    "a label that is no class": (*KEPT, "--test-x", "test.npz", "--test-labels", "strange.csv"),
    "labels of the wrong shape": (*KEPT, "--labels", "wrong.npy"),
    "labels that are no numbers": (*KEPT, "--labels", "broken.npy"),
    "a negative probability": (*KEPT, "--labels", "negative.npy"),
    "pruning without votes": (*KEPT, "--labels", "hard.csv", "--prune", "waum"),
    "tasks to remove that are not there": (*KEPT, "--path-remove", "bad.csv"),
    "results that are no JSON": (*QUICK, "--results", "out.csv"),
    "a model of another format": (*KEPT, "--save", "model.pkl"),
    "no folder for the model": (*KEPT, "--save", "crowd.csv/model.safetensors"),
    "a NaN in the content": (*KEPT, "--x", "nan.npz"),
    "an unknown device": (*KEPT, "--device", "abacus"),
    "nothing to keep or to measure": QUICK,
}


@pytest.mark.parametrize("args", WRONG.values(), ids=WRONG)
def test_a_mistake_ends_in_one_sentence_and_changes_no_file(
    args: tuple[str, ...], crowd_files: Path, cli: Run, load: Load
) -> None:
    file = load("x.npz")
    np.savez("other.npz", task=["a", "b"], x=file["x"][:2])
    np.savez("nan.npz", task=file["task"], x=np.full_like(file["x"], np.nan))
    np.save("wrong.npy", np.ones((3, 3)))
    np.save("negative.npy", -np.ones((120, 3)))
    Path("broken.npy").write_text("nothing")
    Path("strange.csv").write_text("task,label\nnew0,dragon\n")
    Path("hard.csv").write_text(Path("truth.csv").read_text())
    Path("out.json").write_text("precious")
    before = {path: path.read_bytes() for path in crowd_files.iterdir()}
    result = cli("train", "crowd.csv", *args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("crowdpilot: ")
    assert result.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in crowd_files.iterdir()} == before


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from crowdpilot.cli import main
main()
"""


def test_a_missing_package_is_named_with_the_way_to_install_it(crowd_files: Path) -> None:
    home = str(Path(crowdpilot.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "train", "crowd.csv", *KEPT],
        env={**os.environ, "PYTHONPATH": home}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == 'crowdpilot: training needs torch: pip install "crowdpilot[learn]"\n'
    assert done.returncode == 2
    assert not Path("out.json").exists()


@pytest.mark.thorough  # kills a process; tests/learning/training has a quicker one
def test_a_run_that_was_killed_goes_on_where_it_was(crowd_files: Path, cli: Run, start: Start) -> None:
    args = ("train", "crowd.csv", "--x", "x.npz", "--epochs", "100", "-o", "out.json", "--truth", "truth.csv")
    process = start(*args, "--checkpoint", "state")
    state = crowd_files / "state" / "train.safetensors"
    while not state.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert not Path("out.json").exists()
    assert cli(*args, "--checkpoint", "state").exit_code == 0
    resumed = json.loads(Path("out.json").read_text())
    assert cli(*args).exit_code == 0
    whole = json.loads(Path("out.json").read_text())
    assert len(resumed["epochs"]) == 100
    assert resumed["epochs"] == whole["epochs"]
    assert resumed["scores"] == whole["scores"]


def test_a_checkpoint_of_another_run_is_refused(crowd_files: Path, cli: Run) -> None:
    assert cli("train", "crowd.csv", *KEPT, "--checkpoint", "state").exit_code == 0
    result = cli("train", "crowd.csv", *KEPT, "--checkpoint", "state", "--lr", "0.5")
    assert result.exit_code == 2
    assert "belongs to a run with lr = 0.05, not 0.5" in result.stderr


def test_names_are_completed() -> None:
    assert complete_network("lin") == ["linear"]
    assert complete_method("crowd") == ["crowdlayer"]
    assert complete_method("das") == ["dasc"]
