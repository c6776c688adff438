"""Folders that Hugging Face `datasets` has saved; those in the corpus are its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crowdpilot.io import explain, read

CORPUS = Path(__file__).parents[1] / "corpus"
SAVED = CORPUS / "datasets-saved" / "saved"


def test_a_shuffled_data_set_keeps_its_order():
    reading = explain(SAVED)
    assert (reading.format, list(reading.ignored)) == ("datasets", ["text"])
    assert reading.votes.tasks.tolist() != sorted(reading.votes.tasks.tolist())
    assert reading.votes.classes.tolist() == ["negative", "neutral", "positive"]


def test_one_split_is_chosen_by_its_folder():
    folder = CORPUS / "datasets-two-splits" / "two"
    with pytest.raises(ValueError, match="there are the splits 'test', 'train'; name the folder of one"):
        read(folder)
    assert len(read(folder / "test")) == 4


@pytest.mark.parametrize(
    ("remove", "problem"),
    [
        (["data-00001-of-00002.arrow"], "cannot be read .No such file"),
        (["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"], "it is a folder without"),
    ],
)
def test_a_folder_that_lacks_files_is_one_sentence(tmp_path, remove, problem):
    folder = shutil.copytree(SAVED, tmp_path / "saved")
    for name in remove:
        (folder / name).unlink()
    with pytest.raises(ValueError, match=problem) as error:
        read(folder)
    assert "\n" not in str(error.value)


def test_the_state_may_be_broken_and_the_data_whole(tmp_path, rows):
    folder = shutil.copytree(SAVED, tmp_path / "saved")
    (folder / "state.json").write_text("{")
    assert rows(read(folder)) == rows(read(SAVED))


def test_a_folder_of_splits_without_data_is_an_error(tmp_path):
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train"]}')
    with pytest.raises(ValueError, match="found no data in the folder of a data set"):
        read(tmp_path)


def test_without_arrow_the_extra_is_named(without_arrow):
    with without_arrow(), pytest.raises(ValueError, match="a data set of Hugging Face needs pyarrow"):
        read(SAVED)
