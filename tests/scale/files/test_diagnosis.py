from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from crowdpilot import io
from crowdpilot.aggregation import GLAD, MODELS, DawidSkene, NaiveSoft
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.diagnosis import entropy
from crowdpilot.scale import Shards, count_labels_in_files, score_tasks_in_files
from crowdpilot.votes import Votes
from tests.scale.shard_files import write_parts


@pytest.fixture(scope="module")
def folder(named_votes: Votes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes in four files."""
    return write_parts(named_votes, tmp_path_factory.mktemp("diagnosis") / "votes", np.arange(60) // 17)


@pytest.mark.parametrize("name", ["dawid_skene", "glad", "naive_soft", "majority_voting"])
def test_label_counts_are_those_of_one_fit(name: str, folder: Path) -> None:
    votes = io.read(folder)
    counted = count_labels_in_files(MODELS[name](), Shards(folder))
    expected = count_labels(votes, MODELS[name]().fit(votes).probs)
    assert counted.counts.shape == (12, 4, 4)
    np.testing.assert_allclose(counted.counts, expected, atol=1e-6)
    assert counted.workers.tolist() == votes.workers.tolist()
    assert counted.classes.tolist() == votes.classes.tolist()
    assert counted.votes_per_worker.tolist() == np.bincount(votes.worker).tolist()
    np.testing.assert_allclose(counted.counts.sum(axis=(1, 2)), counted.votes_per_worker)


def test_votes_on_gold_tasks_are_counted(folder: Path) -> None:
    gold = {f"t{n}": "abcd"[n % 4] for n in range(0, 60, 3)}
    counted = count_labels_in_files(NaiveSoft(), Shards(folder, gold=gold))
    votes = io.read(folder).with_gold(gold)
    assert votes.gold is not None
    known = votes.gold[votes.task]
    size = len(votes.workers)
    np.testing.assert_array_equal(counted.gold_votes, np.bincount(votes.worker[known >= 0], minlength=size))
    right = known == votes.label
    np.testing.assert_array_equal(counted.gold_right, np.bincount(votes.worker[right], minlength=size))


def test_without_gold_no_votes_are_on_gold_tasks(folder: Path) -> None:
    counted = count_labels_in_files(NaiveSoft(), Shards(folder))
    assert not counted.gold_votes.any()
    assert not counted.gold_right.any()


def test_parameters_of_the_model_are_returned(folder: Path) -> None:
    model = GLAD(max_iter=50)
    counted = count_labels_in_files(model, Shards(folder))
    expected = model.fit(io.read(folder))
    np.testing.assert_allclose(counted.params["ability"], expected.params["ability"], atol=1e-6)


def test_models_that_need_all_votes_are_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="kos needs all votes at once"):
        count_labels_in_files(MODELS["kos"](), Shards(folder))


def test_stages_of_counting_report_their_progress(folder: Path) -> None:
    stages: list[str] = []
    count_labels_in_files(DawidSkene(), Shards(folder), progress=lambda stage, *_: stages.append(stage))
    assert list(dict.fromkeys(stages)) == ["reading", "iterations"]


def entropies(votes: Votes) -> dict[str, Any]:
    """The entropy of each task, the highest first."""
    values = entropy(NaiveSoft().fit(votes).probs)
    order = np.argsort(-values, kind="stable")
    return {"task": votes.tasks[order], "entropy": values[order]}


def test_scores_of_tasks_are_written_for_each_file(folder: Path, tmp_path: Path) -> None:
    tables = score_tasks_in_files(entropies, Shards(folder), output=tmp_path / "scores", returned_rows=3)
    expected = dict(zip(*(c.tolist() for c in entropies(io.read(folder)).values()), strict=True))
    files = sorted((tmp_path / "scores").iterdir())
    assert [file.name for file in files] == [f"part-{n}.parquet" for n in range(4)]
    written: dict[str, float] = {}
    for file, first in zip(files, tables, strict=True):
        table = pq.read_table(file).to_pydict()
        written |= dict(zip(table["task"], table["entropy"], strict=True))
        assert table["task"][:3] == first["task"].tolist()
        assert table["entropy"] == sorted(table["entropy"], reverse=True)
    assert written == pytest.approx(expected)


def test_no_rows_are_returned_by_default(folder: Path, tmp_path: Path) -> None:
    tables = score_tasks_in_files(entropies, Shards(folder), output=tmp_path / "scores")
    assert [len(table["task"]) for table in tables] == [0] * 4


def test_scores_are_not_written_among_the_votes(folder: Path) -> None:
    with pytest.raises(ValueError, match="holds the votes themselves"):
        score_tasks_in_files(entropies, Shards(folder), output=folder)


def test_weights_count_in_label_counts(named_votes: Votes, tmp_path: Path) -> None:
    weight = np.random.default_rng(0).choice([0.5, 2.0], len(named_votes))
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 2, weight=weight)
    votes = io.read(folder)
    counted = count_labels_in_files(NaiveSoft(), Shards(folder))
    np.testing.assert_allclose(counted.counts, count_labels(votes, NaiveSoft().fit(votes).probs), atol=1e-9)
    plain = replace(votes, weight=None)
    assert not np.allclose(counted.counts, count_labels(plain, NaiveSoft().fit(plain).probs))
