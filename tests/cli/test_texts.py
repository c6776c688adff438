"""A file of texts and a file of votes are enough to train."""

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
QUICK = ("--network", "linear", "--epochs", "20", "--lr", "0.05", "--device", "cpu")
TFIDF = ("--backbone", "tfidf[min_df=1]")


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """texts.csv, votes.csv, soft.csv, new.csv and truth.csv about good and bad films."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 80)
    words = np.array([["dull", "bad", "slow", "poor"], ["fine", "good", "fast", "rich"]])
    lines = [" ".join([*rng.choice(words[k], 3), "film"]) for k in kinds]
    said = np.where(rng.random((80, 3)) < 0.85, kinds[:, None], 1 - kinds[:, None])
    share = said.mean(axis=1)
    with_names = [(f"t{n}", line, k) for n, (line, k) in enumerate(zip(lines, kinds.tolist(), strict=True))]
    io.write_table({"task": [t for t, _, _ in with_names[:60]], "text": lines[:60]}, "texts.csv")
    io.write_table({"id": [t for t, _, _ in with_names[60:]], "review": lines[60:]}, "new.csv")
    io.write_table({"task": [t for t, _, _ in with_names], "label": kinds}, "truth.csv")
    task, worker = np.divmod(np.arange(180), 3)
    votes = {"task": [f"t{n}" for n in task], "worker": worker, "label": said[:60].ravel()}
    io.write_table(votes, "votes.csv")
    soft = {"task": [f"t{n}" for n in range(60)], "conf0": 1 - share[:60], "conf1": share[:60]}
    io.write_table(soft, "soft.csv")


TEST = ("--test-x", "new.csv", "--test-labels", "truth.csv")


def accuracy(text: str) -> float:
    return next(float(row["value"]) for row in csv.DictReader(StringIO(text)) if row["measure"] == "accuracy")


@pytest.mark.parametrize("votes", ["votes.csv", "soft.csv"])
@pytest.mark.parametrize("backbone", [(), TFIDF])
def test_texts_and_votes_make_a_classifier(
    texts: None, cli: Run, votes: str, backbone: tuple[str, ...]
) -> None:
    result = cli("train", "texts.csv", "--votes", votes, *QUICK, *backbone, *TEST, "--save", "m.safetensors")
    assert accuracy(result.stdout) > 0.8
    rows = list(csv.DictReader(StringIO(cli("predict", "m.safetensors", "new.csv").stdout)))
    truth = io.read_labels("truth.csv")
    assert np.mean([int(row["label"]) == truth[row["task"]] for row in rows]) > 0.8


def test_it_is_what_the_library_does(texts: None, cli: Run) -> None:
    args = ("--votes", "votes.csv", *QUICK, *TFIDF, "--targets", "smoothed", "--smoothing", "0.05")
    cli("train", "texts.csv", *args, "--save", "m.safetensors")
    cli("predict", "m.safetensors", "new.csv", "-o", "probs.npy")
    model = CrowdClassifier(
        "linear", "two_stage[targets='smoothed',alpha=.05]", backbone=TFIDF[1], epochs=20,
        lr=0.05, device="cpu",
    ).fit("texts.csv", io.read("votes.csv"))  # fmt: skip
    np.testing.assert_allclose(np.load("probs.npy"), model.predict_proba("new.csv"), atol=1e-7)


def test_votes_and_texts_of_other_tasks_are_counted(texts: None, cli: Run) -> None:
    lines = Path("texts.csv").read_text().splitlines()
    Path("some.csv").write_text("\n".join([*lines[:40], "more,words nobody voted on", 'none,""']))
    result = cli("train", "some.csv", "--votes", "votes.csv", *QUICK, "--save", "m.safetensors")
    assert result.exit_code == 0
    assert "21 of 60 tasks with votes are not in some.csv and are left out" in result.stderr
    assert "1 of 41 texts in some.csv are empty" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("task,text\nother,good film\n", "wrong.csv and votes.csv have no task in common; tasks are called"),
        ("task\nt1\n", "wrong.csv: there is nothing but names in it, expected numbers or a text"),
        ("task,text\nt1,\nt2,\n", "wrong.csv: all texts are empty, expected some with words"),
        ("task,worker,label\nt1,a,1\n", "column 'worker' is no content of a task"),
        ("task,title,body\nt1,one,two\n", "or a single column of text"),
        ("task,text\nt1,one\nt1,two\n", "task 't1' has several rows, expected one"),
        ("", "wrong.csv: the file is empty"),
    ],
)
def test_a_wrong_file_of_texts_is_explained_in_one_line(
    texts: None, cli: Run, content: str, message: str
) -> None:
    Path("wrong.csv").write_text(content)
    result = cli("train", "wrong.csv", "--votes", "votes.csv", *QUICK, "--save", "m.safetensors")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not Path("m.safetensors").exists()


def test_files_in_the_wrong_order_are_explained(texts: None, cli: Run) -> None:
    result = cli("train", "votes.csv", "--votes", "texts.csv", *QUICK, "--save", "m.safetensors")
    assert result.exit_code == 2
    assert "texts.csv: found no worker and no label column" in result.stderr
    result = cli("train", "texts.csv", *QUICK, "--save", "m.safetensors")
    assert result.exit_code == 2


def test_a_model_of_workers_is_refused_for_shares(texts: None, cli: Run) -> None:
    args = (*QUICK, "--labels", "ds", "--save", "m.safetensors")
    result = cli("train", "texts.csv", "--votes", "soft.csv", *args)
    assert result.exit_code == 2
    assert "cannot learn what workers are like from the shares of a whole crowd" in result.stderr


def test_a_classifier_of_texts_says_so_when_it_is_shown_numbers(texts: None, cli: Run) -> None:
    cli("train", "texts.csv", "--votes", "votes.csv", *QUICK, *TFIDF, "--save", "m.safetensors")
    np.save("x.npy", np.eye(3))
    result = cli("predict", "m.safetensors", "x.npy")
    assert result.exit_code == 2
    assert "is for texts, and X is not a list of texts" in result.stderr
