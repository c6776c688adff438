"""Folders of data sets for the Hugging Face Hub: written, read again, and loaded by `datasets` itself."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.cli import app
from crowdpilot.io import FORMATS, read, write
from crowdpilot.io.detect import by_content
from crowdpilot.io.source import Source
from crowdpilot.votes import Votes

PYTHON = os.environ.get("CROWDPILOT_DATASETS_PYTHON", "")  # of an environment with the package datasets
ODD = ["no: #1", "ja\n'ü'", 'say "hi" \\', "🙂\u2028", "- x", "true", "\x7f\ufeff"]
LOAD = """
import json, sys, datasets
loaded = datasets.load_dataset(sys.argv[1], split="train")
label = loaded.features["label"]
named = isinstance(label, datasets.ClassLabel)
name = lambda code: label.int2str(code) if named and code is not None else code
loaded.save_to_disk(sys.argv[2])
print(json.dumps({"names": label.names if named else None, "columns": loaded.column_names, "rows": [
    [row["task"], row["worker"], name(row["label"])] for row in loaded
]}))
"""


@pytest.fixture
def votes() -> Votes:
    """Votes with all columns, a task without a vote, and a class that nobody chose."""
    return Votes.of(
        ["a", "a", "b"], ["x", "y", "x"], ["dog", "cat", "dog"], tasks=["silent"], weight=[1, 0.5, 2],
        seconds=[3, np.nan, 1.5], time=[7.0, 8.0, 9.0], gold={"b": "dog"}, classes=["dog", "cat", "emu"],
    )  # fmt: skip


def test_what_is_written_is_read_again(tmp_path: Path, votes: Votes) -> None:
    write(votes, tmp_path / "set", format="hugging_face")
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == [
        "README.md", "train-00000-of-00001.parquet",
    ]  # fmt: skip
    assert by_content(Source(tmp_path / "set"), FORMATS) == "hugging_face"
    again = read(tmp_path / "set", classes=["dog", "cat", "emu"])
    for column in (
        "task",
        "worker",
        "label",
        "tasks",
        "workers",
        "classes",
        "weight",
        "seconds",
        "time",
        "gold",
    ):
        np.testing.assert_array_equal(getattr(again, column), getattr(votes, column))


def test_classes_are_named_in_the_card_and_in_the_file(tmp_path: Path, votes: Votes) -> None:
    write(votes, tmp_path / "set", format="hugging_face")
    table = pq.read_table(tmp_path / "set" / "train-00000-of-00001.parquet")
    assert table.schema.field("label").type == pa.int64()
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["label"] == features["gold"] == {"names": ["dog", "cat", "emu"], "_type": "ClassLabel"}
    card = (tmp_path / "set" / "README.md").read_text("utf-8")
    assert "          '2': \"emu\"\n" in card
    assert "3 votes of 2 workers on 3 tasks" in card


def test_classes_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    given = Votes.of([1, 2], [5, 5], [0, 7])
    write(given, tmp_path / "set", format="hugging_face")
    again = read(tmp_path / "set")
    assert again.classes.tolist() == [0, 7]
    assert again.tasks.tolist() == [1, 2]


def test_names_of_classes_never_break_the_card(tmp_path: Path) -> None:
    write(Votes.of(range(len(ODD)), ["x"] * len(ODD), ODD), tmp_path / "set", format="hugging_face")
    card = (tmp_path / "set" / "README.md").read_text("utf-8")
    assert card.count("\n---\n") == 1
    assert set(read(tmp_path / "set").classes.tolist()) == set(ODD)


def test_a_folder_is_written_again_and_keeps_other_files(tmp_path: Path, votes: Votes) -> None:
    folder = tmp_path / "set"
    for given in (votes, Votes.of(["z"], ["x"], ["cat"])):
        write(given, folder, format="hugging_face")
        (folder / "notes.txt").write_text("Mine.")
    assert len(read(folder)) == 1
    assert (folder / "notes.txt").is_file()


def test_a_clone_of_the_hub_is_read_from_its_data_folder(tmp_path: Path, votes: Votes) -> None:
    write(votes, tmp_path / "set", format="hugging_face")
    (tmp_path / "set" / "data").mkdir()
    file = tmp_path / "set" / "train-00000-of-00001.parquet"
    file.rename(tmp_path / "set" / "data" / file.name)
    assert len(read(tmp_path / "set")) == 3


def test_several_splits_are_refused_by_name(tmp_path: Path, votes: Votes) -> None:
    write(votes, tmp_path / "set", format="hugging_face")
    file = tmp_path / "set" / "train-00000-of-00001.parquet"
    (tmp_path / "set" / "test-00000-of-00001.parquet").write_bytes(file.read_bytes())
    with pytest.raises(ValueError, match=r"there are the splits 'test'.*'train'; name the file of one"):
        read(tmp_path / "set")
    assert len(read(file)) == 3


def test_a_folder_with_another_text_is_no_data_set(tmp_path: Path) -> None:
    pq.write_table(pa.table({"task": ["a"], "worker": ["x"], "label": ["cat"]}), tmp_path / "votes.parquet")
    (tmp_path / "README.md").write_text("# My votes\n")
    assert by_content(Source(tmp_path), FORMATS) == "parquet"


@pytest.mark.thorough
@pytest.mark.skipif(
    not PYTHON, reason="CROWDPILOT_DATASETS_PYTHON names no Python that has the package datasets"
)
@pytest.mark.parametrize("classes", ["texts", "odd", "numbers"])
def test_the_package_datasets_loads_the_same_votes(tmp_path: Path, votes: Votes, classes: str) -> None:
    odd = Votes.of(range(len(ODD)), ["x"] * len(ODD), ODD, classes=ODD)
    given = {"texts": votes, "odd": odd, "numbers": Votes.of([1, 1], [5, 6], [0, 7])}[classes]
    write(given, tmp_path / "set", format="hugging_face")
    run = subprocess.run(
        [PYTHON, "-c", LOAD, str(tmp_path / "set"), str(tmp_path / "saved")], capture_output=True, text=True,
        timeout=120,
        env={"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["names"] == (None if classes == "numbers" else given.classes.tolist())
    columns = given.tasks[given.task], given.workers[given.worker], given.classes[given.label]
    rows = [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    assert [row for row in found["rows"] if row[2] is not None] == rows
    saved = read(tmp_path / "saved")  # what datasets itself has written of it
    assert len(saved) == len(given)
    assert set(saved.classes.tolist()) <= set(given.classes.tolist())


def test_the_command_converts_to_it(tmp_path: Path, votes: Votes) -> None:
    from typer.testing import CliRunner

    write(votes, tmp_path / "votes.csv")
    asked = ["convert", str(tmp_path / "votes.csv"), str(tmp_path / "set"), "--to", "hugging_face"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert len(read(tmp_path / "set")) == 3
