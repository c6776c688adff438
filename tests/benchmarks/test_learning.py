"""The benchmark of learning, on crowds small enough to train in a moment."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import learning, learning_gpu, learning_methods, learning_sets, learning_speed
from benchmarks.learning_methods import SETTINGS, Entry, Settings, choose, entries
from benchmarks.learning_own_runner import CONTESTANTS, prepare
from benchmarks.learning_peer_runner import answer
from benchmarks.learning_runs import Kept, Run, learn
from benchmarks.learning_sets import Crowd, deal, one_against_rest, read, thin
from benchmarks.learning_studies import STUDIES
from benchmarks.learning_tables import cross, gains, spread
from crowdpilot.learning import METHODS

FAST = Settings("linear", epochs=2, batch_size=32, lr=0.05)


def write_set(folder: Path, *, tasks: int = 60, classes: int = 3, seed: int = 0) -> None:
    """A folder like LabelMe's: classes that are easy to tell apart, workers mostly right."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for prefix in ("", "valid_", "test_"):
        truth = np.arange(tasks) % classes
        names = np.array([f"{prefix}t{n}" for n in range(tasks)])
        order = rng.permutation(tasks)
        x = np.eye(classes)[truth] + rng.normal(0, 0.2, (tasks, classes))
        np.savez(folder / f"{prefix}features.npz", task=names[order], x=x[order].astype(np.float16))
        lines = [f"{name},{label}" for name, label in zip(names, truth, strict=True)]
        (folder / f"{prefix}truth.csv").write_text("\n".join(["task,label", *lines]) + "\n")
        if not prefix:
            said = np.where(
                rng.random((tasks, 4)) < 0.8, truth[:, None], rng.integers(0, classes, (tasks, 4))
            )
            votes = [f"t{n},w{j},{said[n, j]}" for n in range(tasks) for j in range(4)]
            (folder / "answers.csv").write_text("\n".join(["task,worker,label", *votes]) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_set(tmp_path / "labelme")
    return tmp_path


@pytest.fixture
def labelme_crowd(data: Path) -> Crowd:
    return read(data, "labelme")


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SETTINGS, "labelme", FAST)


def test_rows_votes_and_classes_belong_together_whatever_the_order_of_the_files(labelme_crowd: Crowd) -> None:
    assert (labelme_crowd.x.argmax(axis=1) == labelme_crowd.truth).mean() > 0.95
    assert (labelme_crowd.votes.label == labelme_crowd.truth[labelme_crowd.votes.task]).mean() > 0.7
    assert (labelme_crowd.test[0].argmax(axis=1) == labelme_crowd.test[1]).mean() > 0.95
    assert labelme_crowd.validation is not None


def test_dealt_votes_are_those_that_were_counted() -> None:
    rng = np.random.default_rng(0)
    tally = rng.multinomial(8, [0.5, 0.3, 0.2], size=50)
    np.testing.assert_array_equal(deal(tally, 8, 20, rng).tally(), tally)


def test_dealt_votes_come_from_different_workers_and_are_no_more_than_were_counted() -> None:
    rng = np.random.default_rng(0)
    tally = rng.multinomial(8, [0.5, 0.3, 0.2], size=50)
    votes = deal(tally, 5, 6, rng)
    assert (votes.task_sum() == 5).all()
    assert (votes.tally() <= tally).all()
    assert len(np.unique(votes.task * 6 + votes.worker)) == len(votes)


def test_thinning_removes_the_share_by_the_seed(labelme_crowd: Crowd) -> None:
    first, same, other = (
        thin(labelme_crowd, 0.4, 1).votes,
        thin(labelme_crowd, 0.4, 1).votes,
        thin(labelme_crowd, 0.4, 2).votes,
    )
    assert len(first) == round(0.6 * len(labelme_crowd.votes)) == len(other)
    np.testing.assert_array_equal(first.task, same.task)
    assert (first.task != other.task).any()


def test_one_against_the_rest_has_a_balanced_test_and_an_imbalanced_crowd(labelme_crowd: Crowd) -> None:
    binary = one_against_rest(labelme_crowd, "1")
    np.testing.assert_array_equal(binary.votes.label == 1, labelme_crowd.votes.label == 1)
    np.testing.assert_array_equal(binary.truth == 1, labelme_crowd.truth == 1)
    assert binary.test[1].mean() == 0.5
    assert binary.describe()["imbalance"] == pytest.approx(2)


def test_a_set_that_is_not_there_is_an_error(data: Path) -> None:
    with pytest.raises(ValueError, match="no set called 'nothing'"):
        read(data, "nothing")
    with pytest.raises(ValueError, match="no folder 'music'"):
        read(data, "music")


def test_every_method_has_a_row_and_every_row_another_name() -> None:
    names = [entry.name for entry in entries(SETTINGS["labelme"])]
    assert len(set(names)) == len(names)
    assert set(METHODS) - {"two_stage"} <= set(names)
    assert {entry.base for entry in entries(SETTINGS["music"])} - {None} <= set(names)


def test_rows_are_chosen_by_a_part_or_a_pattern_of_their_name() -> None:
    rows = [Entry("crowdlayer", "x"), Entry("crowdlayer + dasc", "x"), Entry("wdn + dasc", "x")]
    assert [e.name for e in choose(rows, "wdn")] == ["wdn + dasc"]
    assert [e.name for e in choose(rows, "crowd*dasc")] == ["crowdlayer + dasc"]
    assert choose(rows, "") == rows


def test_a_crowd_is_learned_and_gold_is_the_ceiling(labelme_crowd: Crowd) -> None:
    settings = replace(FAST, epochs=20)
    gold, votes = (
        learn(labelme_crowd, Entry("row", "two_stage[labels='mv',targets='hard']", gold=gold), settings, 0)
        for gold in (True, False)
    )
    assert gold["accuracy"] >= votes["accuracy"] > 0.9
    assert gold["best_epoch"] < gold["epochs"] == 20


def test_noise_is_added_while_training_alone(labelme_crowd: Crowd) -> None:
    entry, noisy = Entry("row", "two_stage"), replace(FAST, noise=5.0)
    assert learn(labelme_crowd, entry, noisy, 0)["ece"] != learn(labelme_crowd, entry, FAST, 0)["ece"]


def records(folder: Path) -> Any:
    return json.loads((folder / "learning.json").read_text())["runs"]["labelme"]


@pytest.mark.usefixtures("fast")
def test_what_was_trained_is_kept_and_what_has_other_settings_is_trained_anew(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = data / "out"
    options: dict[str, Any] = {"sets": "labelme", "methods": "kind='v", "output": out}
    learning.main(data, seeds=1, **options)
    kept = json.loads((out / "learning.json").read_text())
    kept["runs"]["labelme"]["crowdlayer[kind='vw']"]["0"]["accuracy"] = 0.123
    (out / "learning.json").write_text(json.dumps(kept))
    learning.main(data, seeds=2, **options)
    assert records(out)["crowdlayer[kind='vw']"]["0"]["accuracy"] == 0.123
    assert set(records(out)["crowdlayer[kind='vw']"]) == {"0", "1"}
    assert "| crowdlayer[kind='vw'] |" in (out / "learning.md").read_text()
    learning.main(data, seeds=1, again=True, **options)
    assert records(out)["crowdlayer[kind='vw']"]["0"]["accuracy"] != 0.123
    monkeypatch.setitem(SETTINGS, "labelme", replace(FAST, epochs=3))
    learning.main(data, seeds=1, **options)
    assert {seed: scores["epochs"] for seed, scores in records(out)["crowdlayer[kind='vb']"].items()} == {
        "0": 3
    }


def test_a_run_that_fails_leaves_its_reason_and_is_tried_again(data: Path) -> None:
    run = Run("labelme", "labelme", Entry("row", "nobody"), FAST, 0)
    kept = Kept(data / "kept.json", [run])
    learning.perform([run], data, kept, {})
    assert "no method is called 'nobody'" in kept.scores["labelme"]["row"]["0"]["reason"]
    assert not Kept(data / "kept.json", [run]).has(run)


def test_a_gain_is_taken_seed_by_seed() -> None:
    table = {
        "base": {"0": {"accuracy": 0.5}, "1": {"accuracy": 0.7}, "2": {"accuracy": 0.1}},
        "better": {"0": {"accuracy": 0.6}, "1": {"accuracy": 0.9}, "3": {"accuracy": 0.9}},
    }
    assert gains(table, Entry("better", "x", base="base")) == pytest.approx([0.1, 0.2])
    assert spread([0.1, 0.2], sign=True) == "+15.0 ± 7.1"
    assert spread([0.1]) == "10.0"


def test_a_cross_table_has_a_column_for_each_table_or_for_each_row() -> None:
    tables = {"a": {"row": {"0": {"accuracy": 0.5}}}, "b": {"row": {"0": {"accuracy": 0.25}}}}
    assert "| row | 50.0 | 25.0 |" in cross(tables, ["row", "none"])
    assert "| b | 25.0 |" in cross(tables, ["row"], flip=True)


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_runs_of_which_no_two_are_one(study: str) -> None:
    plan = STUDIES[study]
    runs = [run for name in plan.sets for run in plan.runs(name, 0)]
    assert runs
    assert len({(run.title, run.entry.name) for run in runs}) == len(runs)
    assert len({run.about for run in runs}) == len(runs)


@pytest.mark.usefixtures("fast")
def test_sparsity_has_a_column_for_each_share_that_is_removed(data: Path) -> None:
    out = data / "out"
    learning.main(data, seeds=1, sets="labelme", methods="crowdlayer", study="sparsity", output=out)
    text = (out / "learning_sparsity.md").read_text()
    assert "|  | labelme without 20% | labelme without 40% |" in text
    assert "| crowdlayer |" in text


def test_ablation_has_a_row_for_each_change() -> None:
    plan = STUDIES["ablation"]
    tables = {run.title: {run.entry.name: {"0": {"accuracy": 0.5}}} for run in plan.runs("labelme", 0)}
    rows = {"labelme": [run.entry for run in plan.runs("labelme", 0)]}
    assert "| labelme: no dropout |" in plan.render(tables, rows)


def test_images_are_for_a_gpu(data: Path) -> None:
    if not learning.torch.cuda.is_available():
        with pytest.raises(ValueError, match="needs a GPU"):
            learning.main(data, sets="cifar10h")


def write_images(folder: Path) -> None:
    """A folder like CIFAR-10H's: black images, ten votes each."""
    from PIL import Image

    folder.mkdir()
    Image.new("RGB", (3200, 3200)).save(folder / "images.webp", lossless=True)
    lines = [f"{n}," + ",".join(str(10 * (k == n % 10)) for k in range(10)) for n in range(10_000)]
    (folder / "counts.csv").write_text("\n".join(["task," + ",".join(f"n{k}" for k in range(10)), *lines]))
    truth = [f"{n},{n % 10}" for n in range(10_000)]
    (folder / "truth.csv").write_text("\n".join(["task,label", *truth]))


def test_images_are_learned_row_by_row_until_time_runs_out(tmp_path: Path) -> None:
    write_images(tmp_path / "cifar10h")
    settings = replace(
        SETTINGS["cifar10h"], network="resnet_small[width=4,blocks=1,stages=1]", epochs=1, precision="full"
    )
    options: dict[str, Any] = {"seed": 0, "limit": 20, "again": False}
    out = tmp_path / "gpu.json"
    record = learning_gpu.measure(tmp_path, out, settings, methods="gold,crowdlayer", seconds=0, **options)
    assert "gold" in record["left_out"]
    record = learning_gpu.measure(tmp_path, out, settings, methods="gold", seconds=600, **options)
    assert record["left_out"] == []
    assert json.loads(out.read_text())["runs"]["cifar10h"]["gold"]["0"]["epochs"] == 1
    assert "| gold |" in (tmp_path / "gpu.md").read_text()


def test_a_test_of_images_has_as_many_of_each_class(tmp_path: Path) -> None:
    write_images(tmp_path / "cifar10h")
    made = learning_sets.cifar10h(tmp_path / "cifar10h")
    assert (np.bincount(made.test[1]) == learning_sets.CIFAR_TEST).all()
    assert len(made.truth) == 9000
    np.testing.assert_array_equal(made.votes.tally().argmax(axis=1), made.truth)


def test_a_runner_tells_the_time_of_one_epoch() -> None:
    script = "import sys\nfor line in sys.stdin: print(2 * float(line.split()[-1]), flush=True)"
    with learning_speed.Runner([sys.executable, "-c", script]) as runner:
        assert runner.time("any", 4) == 2
    with (
        learning_speed.Runner([sys.executable, "-c", ""]) as gone,
        pytest.raises(ValueError, match="any did"),
    ):
        gone.time("any", 4)


def test_our_contestants_train_when_they_are_asked_to(
    labelme_crowd: Crowd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learning_speed.save(tmp_path / "crowd.npz", labelme_crowd, batch_size=32, hidden=8)
    makers = {name: partial(prepare, method) for name, method in CONTESTANTS.items()}
    monkeypatch.setattr("sys.stdin", StringIO("crowdlayer 2\ncross-entropy 1\ncrowdlayer 1\n"))
    answer(makers, str(tmp_path / "crowd.npz"))
    assert [float(line) > 0 for line in capsys.readouterr().out.splitlines()] == [True] * 3
    assert set(makers) == set(learning_speed.OWN)


def test_the_report_of_times_has_ratios() -> None:
    times = {"crowdlayer": [0.02, 0.03], "cross-entropy": [0.01, 0.03], "crowd-kit": [0.1, 0.2]}
    case = {"crowd": "x", "tasks": 5, "votes": 9, "batch_size": 4, "seconds_of_an_epoch": times}
    text = learning_speed.render({"machine": "2 cores", "epochs_in_a_turn": 3, "cases": [case]})
    assert "| 20.0 | 10.0 | – | – | 100.0 | 2.00 | 1.50 | – | – | 5.0 |" in text


def test_our_own_methods_are_those_of_no_paper() -> None:
    assert not set(learning_methods.own()) & learning_methods.PAPERS
