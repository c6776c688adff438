"""The benchmark beside cleanlab, on small crowds made here and without cleanlab."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import crowdlab, crowdlab_runner
from benchmarks.cleanlab_runner import load
from benchmarks.crowdlab import Limits, Outcome, decide, ece, score
from benchmarks.crowdlab_sets import AssistedCrowd, classify, read_set, simulate
from benchmarks.crowdlab_tables import render
from crowdpilot import metrics

WORDS = ("good fine nice", "bad poor ugly")


@pytest.fixture(scope="module")
def assisted_crowd() -> AssistedCrowd:
    return simulate(300, 20, classes=4)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a set of texts and one of features; one task of each has no known class."""
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    task = np.repeat(np.arange(60), 3)
    said = np.where(rng.random(180) < 0.85, truth[task], 1 - truth[task])
    for name in ("texts", "numbers"):
        folder = tmp_path / name
        folder.mkdir()
        write(folder / "answers.csv", ["task", "worker", "label"], task, np.tile(list("xyz"), 60), said)
        write(folder / "truth.csv", ["task", "label"], range(59), truth[:59])
    texts = [" ".join(rng.choice(WORDS[k].split(), 3)) for k in truth]
    order = rng.permutation(60)
    write(tmp_path / "texts" / "texts.csv", ["task", "text"], order, [texts[n] for n in order])
    x = np.eye(2)[truth] * 1000 + rng.normal(0, 300, (60, 2))
    np.savez(tmp_path / "numbers" / "features.npz", task=order, x=x[order])
    return tmp_path


def write(path: Path, header: list[str], *columns: Any) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *zip(*columns, strict=True)])


@pytest.mark.parametrize("name", ["texts", "numbers"])
def test_a_classifier_sees_every_task_in_the_order_of_the_votes(data: Path, name: str) -> None:
    found = read_set(data / name, runs=2)
    assert found.probs.shape == (2, 60, 2)
    assert (found.truth == -1).sum() == 1
    known = found.truth >= 0
    assert ((found.probs.argmax(axis=2) == found.truth)[:, known].mean(axis=1) > 0.9).all()
    np.testing.assert_allclose(found.probs.sum(axis=2), 1)


def test_a_classifier_is_not_asked_about_what_it_has_learned(assisted_crowd: AssistedCrowd) -> None:
    noise = np.random.default_rng(0).normal(size=(300, 500))  # enough to learn every label by heart
    probs = classify(noise, assisted_crowd.votes, seed=0)
    assert (probs.argmax(axis=1) == assisted_crowd.truth).mean() < 0.4


def test_a_set_without_anything_to_see_is_refused(data: Path) -> None:
    (data / "texts" / "texts.csv").unlink()
    with pytest.raises(ValueError, match=r"neither texts\.csv nor features\.npz"):
        read_set(data / "texts", runs=1)


def test_a_task_without_features_is_refused_by_name(data: Path) -> None:
    write(data / "texts" / "texts.csv", ["task", "text"], range(59), ["good"] * 59)
    with pytest.raises(ValueError, match="no row for task '59'"):
        read_set(data / "texts", runs=1)


def test_both_runners_load_the_same_votes(assisted_crowd: AssistedCrowd) -> None:
    v = assisted_crowd.votes
    columns = {"task": v.task, "worker": v.worker, "label": v.label}
    table = load(columns)
    assert table.shape == (300, 20)
    assert (~np.isnan(table)).sum() == len(v)
    ours = crowdlab_runner.load(columns)
    np.testing.assert_array_equal(table[ours.task, ours.worker], ours.label)
    np.testing.assert_array_equal(ours.tally(), v.tally())


@pytest.mark.parametrize("method", list(crowdlab_runner.METHODS))
def test_every_method_of_ours_gives_a_label_and_a_confidence(
    assisted_crowd: AssistedCrowd, method: str
) -> None:
    label, confidence = crowdlab_runner.METHODS[method](assisted_crowd.votes, assisted_crowd.probs[0])
    assert (label == assisted_crowd.truth).mean() > (0.5 if method == "classifier" else 0.8)
    assert ((confidence > 0) & (confidence <= 1)).all()


def test_a_classifier_makes_the_fusion_better_than_votes_alone(assisted_crowd: AssistedCrowd) -> None:
    alone, fused = (
        crowdlab_runner.METHODS[m](assisted_crowd.votes, assisted_crowd.probs[0])[0]
        for m in ("auto", "fusion")
    )
    assert (fused == assisted_crowd.truth).mean() > (alone == assisted_crowd.truth).mean()


def test_the_error_of_confidences_is_that_of_probabilities(assisted_crowd: AssistedCrowd) -> None:
    probs = assisted_crowd.probs[0]
    right = probs.argmax(axis=1) == assisted_crowd.truth
    assert ece(right, probs.max(axis=1)) == pytest.approx(metrics.ece(assisted_crowd.truth, probs))


def test_scores_are_counted_on_known_tasks_and_beside_the_peer(assisted_crowd: AssistedCrowd) -> None:
    some = AssistedCrowd(
        assisted_crowd.votes, assisted_crowd.probs, np.where(np.arange(300) < 200, assisted_crowd.truth, -1)
    )
    sure = np.linspace(0.5, 1, 300)[None]
    wrong_first = np.where(np.arange(300) < 50, (assisted_crowd.truth + 1) % 4, assisted_crowd.truth)[None]
    ours, peer = Outcome(assisted_crowd.truth[None], sure, {}), Outcome(wrong_first, sure, {})
    assert score(some, ours, peer)["accuracy"] == [1.0]
    assert score(some, ours, peer)["auroc"] == []  # nothing is wrong
    assert score(some, ours, peer)["more_accurate"][0] == pytest.approx(0.25)
    assert score(some, ours, peer)["same_labels"] == pytest.approx(250 / 300)
    theirs = score(some, peer, peer)
    assert theirs["auroc"] == [1.0]  # what is wrong is least sure
    assert theirs["more_accurate"] == [0.0, 0.0]


def test_a_process_gives_what_the_method_gives_and_its_cost(
    assisted_crowd: AssistedCrowd, tmp_path: Path
) -> None:
    found = decide("crowdlab", assisted_crowd.save(tmp_path / "v.npz"), Limits(60))
    label, confidence = crowdlab_runner.METHODS["crowdlab"](assisted_crowd.votes, assisted_crowd.probs[0])
    np.testing.assert_array_equal(found.label[0], label)
    np.testing.assert_allclose(found.confidence[0], confidence)
    assert found.cost is not None
    assert len(found.cost["seconds"]) == 1
    assert 0 < found.cost["memory_before_mb"] <= found.cost["memory_peak_mb"]


def test_a_process_that_takes_too_much_leaves_its_reason(
    assisted_crowd: AssistedCrowd, tmp_path: Path
) -> None:
    path = assisted_crowd.save(tmp_path / "v.npz")
    assert decide("crowdlab", path, Limits(0.001)).reason == "more than 0.001 s"


def test_the_page_shows_what_was_measured_and_what_was_not(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: crowdlab_runner.METHODS[name] for name in ("majority", "crowdlab")}
    monkeypatch.setattr(crowdlab, "METHODS", few)
    monkeypatch.setattr(crowdlab, "QUICK", ["crowdlab"])
    common: dict[str, Any] = {"with_peer": False, "output": data / "out"}
    crowdlab.main(data, parts="sets", names="texts,numbers", runs=2, **common)
    crowdlab.main(parts="large", sizes="200x10", **common)
    record = json.loads((data / "out" / "crowdlab.json").read_text())
    assert list(record["sets"]["crowds"]) == ["texts", "numbers"]  # kept when the other part was measured
    assert record["large"]["crowds"]["200 tasks, 10 workers"]["votes"] == 1000
    record["large"]["crowds"]["200 tasks, 10 workers"]["methods"]["cleanlab"] = {"reason": "out of memory"}
    text = render(record)
    share = 100 * np.mean(record["sets"]["crowds"]["texts"]["methods"]["majority"]["accuracy"])
    assert f"| majority vote | {share:.1f} |" in text
    assert "| cleanlab | – | – | – | – | – | – |" in text
    assert "cleanlab: out of memory" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parts": "both"}, "no part called 'both'"),
        ({"parts": "sets"}, "--data must name the folder"),
        ({"parts": "large", "sizes": "50000"}, "expected tasks x workers"),
    ],
)
def test_wrong_options_are_one_sentence(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        crowdlab.main(**options, output=tmp_path)
    assert not list(tmp_path.iterdir())
