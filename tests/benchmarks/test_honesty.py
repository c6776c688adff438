"""The benchmark of honesty, on crowds small enough to count by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from benchmarks import experience, honesty, honesty_methods, peers, sets
from benchmarks.experience import Labels, learn
from benchmarks.honesty_crowds import GOLD_SEEDS, Crowd, read_crowd
from benchmarks.honesty_measures import (
    Archive,
    Case,
    Measures,
    Prediction,
    mean_measures,
    measure,
    share_of_right_labels,
)
from benchmarks.honesty_tables import means, means_table
from crowdpilot.calibration.experience import FEATURES, CrowdMap, load_experience
from crowdpilot.votes import Votes

ANSWERS = "task,worker,label\na,x,0\na,y,0\na,z,1\nb,x,1\nb,y,1\nb,z,1\nc,x,0\nc,y,0\nc,z,1\nc,z,0\n"
TRUTH = "task,label\na,1\nb,1\nc,5\nunvoted,0\n"


def folder(path: Path, name: str, answers: str = ANSWERS, truth: str = TRUTH) -> Path:
    (path / name).mkdir()
    (path / name / "answers.csv").write_text(answers)
    (path / name / "truth.csv").write_text(truth)
    return path / name


def crowd_of(votes_of_tasks: int, tasks: int = 40, seed: int = 0, name: str = "tiny") -> Crowd:
    """Two classes, workers who are right four times in five."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks).astype(np.int32)
    task = np.repeat(np.arange(tasks), votes_of_tasks)
    worker = np.tile(np.arange(votes_of_tasks), tasks)
    label = np.where(rng.random(len(task)) < 0.8, truth[task], 1 - truth[task])
    return Crowd(name, Votes.of(task, worker, label, classes=[0, 1]), truth)


def measures(ece: float, accuracy: float = 0.8, confidence: float = 0.9) -> Measures:
    return Measures(ece, ece, 1.0, 0.2, accuracy, accuracy, confidence)


def test_sets_of_one_group_are_held_out_together() -> None:
    assert {name for name in sets.GROUPS if sets.group_of(name) == sets.group_of("mvh16")} == {
        "dog", "bluebirds", "leaves6", "mvh16",
    }  # fmt: skip
    assert sets.group_of("vaccine_llm") == "vaccine_llm"
    assert sets.group_of("rte") == sets.group_of("snow_wsd") != sets.group_of("truthfulness_s3")


def test_the_last_vote_of_a_worker_counts_and_classes_of_the_truth_alone_are_classes(tmp_path: Path) -> None:
    crowd = read_crowd(folder(tmp_path, "tiny"))
    assert crowd.votes.classes.tolist() == ["0", "1", "5"]
    assert crowd.votes.tally().tolist() == [[2, 1, 0], [0, 3, 0], [3, 0, 0]]
    assert crowd.truth.tolist() == [1, 1, 2]


def test_thinning_is_repeatable_and_fewer_votes_are_among_more() -> None:
    crowd = crowd_of(7)
    few, more = crowd.thinned(2), crowd.thinned(5)
    assert np.bincount(few.votes.task).tolist() == [2] * 40
    cells = [
        set(zip(c.votes.task.tolist(), c.votes.workers[c.votes.worker].tolist(), strict=True))
        for c in (few, more)
    ]
    assert cells[0] < cells[1]
    assert few.fingerprint == crowd.thinned(2).fingerprint != crowd.fingerprint
    assert len(crowd.thinned(9).votes) == len(crowd.votes)


def test_votes_are_drawn_from_all_workers_and_workers_without_votes_are_gone() -> None:
    crowd = crowd_of(30, tasks=8)
    one = crowd.thinned(1)
    assert len(one.votes.workers) <= 8
    assert (np.bincount(one.votes.worker) > 0).all()
    assert len(set(one.votes.workers.tolist()) - set(range(8))) > 0


def test_gold_tasks_are_not_measured_and_gold_differs_between_draws() -> None:
    crowd = crowd_of(3)
    draws = list(crowd.golden(20))
    assert len(draws) == GOLD_SEEDS
    for draw in draws:
        assert draw.votes.gold is not None
        given = draw.votes.gold >= 0
        assert given.sum() == draw.measured == 20
        assert (draw.truth[given] == -1).all()
        assert (draw.votes.gold[given] == crowd.truth[given]).all()
    assert len({tuple(draw.truth.tolist()) for draw in draws}) == GOLD_SEEDS
    assert list(crowd.golden(27)) == []


def test_measures_are_those_of_the_label_of_each_task() -> None:
    votes = Votes.of(["a", "b", "c", "d"], list("wwww"), [0, 1, 1, 0], classes=[0, 1])
    crowd = Crowd("tiny", votes, np.array([0, 1, 0, -1], np.int32))
    probs = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 1.0], [0.5, 0.5]])
    found = measure(crowd, Prediction(probs, (0.6, 0.7)))
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.confidence == pytest.approx(0.9)
    assert found.gap == pytest.approx(0.9 - 2 / 3)
    assert found.ece == pytest.approx((0.1 + 0.2 + 1) / 3)
    assert found.brier == pytest.approx((0.02 + 0.08 + 2) / 3)
    assert found.log_loss == pytest.approx(-(log(0.9) + log(0.8) + log(1e-6 / (1 + 1e-6))) / 3, rel=1e-6)
    assert found.covers == 1
    assert found.width == pytest.approx(0.1)
    assert measure(crowd, Prediction(probs, (0.7, 0.8))).covers == 0
    assert measure(crowd, Prediction(probs)).covers is None


def test_a_tie_does_not_always_go_to_the_first_class() -> None:
    names = [f"t{n}" for n in range(200)]
    votes = Votes.of(names, ["w"] * 200, [0] * 200, classes=[0, 1, 2])
    tied = np.tile([0.0, 0.5, 0.5], (200, 1))
    found = [measure(Crowd("tiny", votes, np.full(200, k, np.int32)), Prediction(tied)) for k in (1, 2)]
    assert 0.3 < found[0].accuracy < 0.7
    assert found[0].accuracy + found[1].accuracy == pytest.approx(1)
    assert found[0].ece == pytest.approx(abs(0.5 - found[0].accuracy))


def test_kept_measures_count_only_for_the_votes_they_were_made_with(tmp_path: Path) -> None:
    crowd, case = crowd_of(3), Case("tiny", None, 0, "auto")
    archive = Archive(tmp_path / "measures.csv")
    archive.add(case, crowd, measures(0.123456789))
    archive.add(
        case._replace(votes_a_task=2, gold=20), crowd, replace(measures(0.5), low=0.1, high=0.2, covers=1.0)
    )
    archive.save()
    again = Archive(tmp_path / "measures.csv")
    assert again.rows == archive.rows == Archive(tmp_path / "none.csv", tmp_path / "measures.csv").rows
    kept = again.find(case, crowd)
    assert kept is not None
    assert kept.ece == 0.12346
    assert again.find(case, crowd_of(3, seed=1)) is None
    assert again.find(case._replace(method="glad"), crowd) is None


def test_the_mean_of_draws_is_that_of_each_measure() -> None:
    found = mean_measures([measures(0.1, accuracy=0.7), measures(0.3, accuracy=0.8)])
    assert found.ece == pytest.approx(0.2)
    assert found.accuracy == pytest.approx(0.75)
    assert found.low is None


def test_means_weigh_groups_leave_out_weak_truth_and_need_every_set() -> None:
    rows = {
        "dog": measures(0.1),
        "mvh16": measures(0.3),
        "sp_amt": measures(0.4),
        "hitspam_cf": measures(0.9),
    }
    found = {"auto": rows, "glad": {"dog": measures(0.0)}}
    ece = {w: means(found, w)["auto"]["ece"] for w in ("all sets", "each group as one", "without weak truth")}
    assert ece == pytest.approx(
        {"all sets": 0.425, "each group as one": (0.2 + 0.4 + 0.9) / 3, "without weak truth": 0.8 / 3}
    )
    assert means(found, "groups without weak truth")["auto"]["ece"] == pytest.approx(0.3)
    assert "glad" not in means(found, "all sets")
    assert means(found, "all sets")["auto"]["worst"] == 0.9


def test_the_gap_of_a_mean_does_not_cancel() -> None:
    found = {"auto": {"dog": measures(0.1, 0.8, 0.9), "sp_amt": measures(0.1, 0.8, 0.7)}}
    assert means(found, "all sets")["auto"]["gap"] == pytest.approx(0.1)
    assert "| auto | **0.100** |" in means_table(means(found, "all sets"))


def test_auto_is_measured_without_the_group_of_the_set(tmp_path: Path) -> None:
    asked = []

    def without_group(group: str) -> CrowdMap:
        asked.append(group)
        return load_experience()

    crowd = crowd_of(3, name="leaves6")
    archive = Archive(tmp_path / "measures.csv")
    methods = honesty_methods.make_methods(["auto", "honest[one_coin]", "naive_soft"], without_group)
    honesty.measure_own(archive, [crowd, crowd.thinned(1)], methods)
    honesty.measure_gold(archive, crowd, [20], {"auto": methods["auto"]})
    assert set(asked) == {sets.group_of("leaves6")}
    assert len(archive.rows) == 7
    with_interval = {case.method for case, (_, found) in archive.rows.items() if found.width is not None}
    assert with_interval == {"auto", "honest[one_coin]"}


def test_what_auto_learns_does_not_depend_on_the_group_that_is_held_out() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, len(FEATURES)))
    right = (features.sum(axis=1) > rng.normal(size=200)).astype(float)
    crowds = [Labels(name, features, right) for name in ("dog", "leaves6", "sp_amt", "rte")]
    wrong = [c._replace(right=1 - right) if sets.group_of(c.name) == "photos" else c for c in crowds]
    held_out, expected = learn(wrong, without="photos"), learn(crowds, without="photos")
    assert held_out.mean == pytest.approx(expected.mean)
    assert held_out.covariance == pytest.approx(expected.covariance)
    assert np.abs(learn(wrong).mean - held_out.mean).max() > 0.2


def test_an_interval_with_gold_is_about_all_tasks() -> None:
    crowd = crowd_of(3).with_gold(20, seed=0)
    assert share_of_right_labels(crowd, 0.5) == pytest.approx(0.75)
    assert share_of_right_labels(crowd_of(3), 0.5) == 0.5


def test_a_run_of_some_models_keeps_what_others_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experience, "CACHE", tmp_path / "cache")
    folder(tmp_path, "tiny")
    folder(tmp_path, "other", truth="task,label\na,0\nb,1\nc,0\n")
    out = tmp_path / "out"
    for models in ("naive_soft", "auto"):
        honesty.main(tmp_path, "tiny", models=models, thin="all,1", gold="no", peers="no", output=out)
    record = json.loads((out / "honesty.json").read_text())
    mean = record["means"]["all votes"]["all sets"]
    assert set(mean) == {"naive_soft", "auto"}
    assert mean["naive_soft"]["accuracy"] == pytest.approx(1 / 3, abs=1e-4)
    assert set(record["means"]) == {"all votes", "1 vote a task"}
    report = (out / "honesty.md").read_text()
    assert "## 1 vote a task" in report
    assert "| tiny | tiny | 3 | 3.0 | 3 | 0.333 |" in report


def test_probabilities_of_crowd_kit_come_with_all_classes(tmp_path: Path) -> None:
    try:
        peers.python()
    except ValueError as error:
        pytest.skip(str(error))
    crowd = read_crowd(folder(tmp_path, "tiny"))
    found = {
        model: prediction
        for _, model, prediction in honesty_methods.fit_peers([(crowd, ["MajorityVote", "KOS"])], limit=120)
    }
    assert isinstance(found["MajorityVote"], Prediction)
    assert found["MajorityVote"].probs == pytest.approx(crowd.votes.shares())
    assert "fit_predict_proba" in str(found["KOS"])
