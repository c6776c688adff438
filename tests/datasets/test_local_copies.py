from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdpilot as cp
from crowdpilot.datasets import DATASETS, Dataset, read_folder
from crowdpilot.datasets.download import Remote, sha256_of
from crowdpilot.datasets.local_copies import CHECKSUM_FILE, local_folder, read_checksums
from crowdpilot.datasets.local_copies import download_dataset as get
from crowdpilot.datasets.registry import Counts

LABEL = b"item,worker,label\n0,0,1\n0,1,1\n1,0,0\n1,1,1\n1,1,0\n"
TRUTH = b"item,truth\n0,1\n"


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where data sets are kept."""
    monkeypatch.setenv("CROWDPILOT_DATA_HOME", str(tmp_path / "house"))
    return tmp_path / "house"


@pytest.fixture
def small(web: Any, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """A small set of the truth inference collection, on the server of the test."""
    web.files |= {"/label.csv": LABEL, "/truth.csv": TRUTH}
    files = tuple(Remote(f"{web.url}/{name}") for name in ("label.csv", "truth.csv"))
    small = replace(DATASETS["bluebirds"], name="small", counts=Counts(2, 2, 5, 2, 1), files=files)
    monkeypatch.setitem(DATASETS, "small", small)
    return small


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_set_becomes_a_folder_in_the_one_layout(small: Dataset, house: Path) -> None:
    folder = get(small)
    assert folder == house / "small" == local_folder(small)
    assert names(folder) == {"answers.csv", "truth.csv", "README.md", CHECKSUM_FILE}
    assert "Licence: not stated" in (folder / "README.md").read_text()
    assert "5 votes of 2 workers" in (folder / "README.md").read_text()
    votes = cp.load("small")
    assert (len(votes), votes.tasks.tolist()) == (5, [0, 1])
    assert cp.datasets.open("small").truth == {0: 1}
    assert names(house) == {"small", ".small.lock"}


def test_the_digest_of_the_first_download_is_written_down(small: Dataset, tmp_path: Path) -> None:
    (tmp_path / "label.csv").write_bytes(LABEL)
    sums = read_checksums(get(small) / CHECKSUM_FILE)
    assert list(sums) == ["label.csv", "truth.csv"]
    assert sums["label.csv"] == sha256_of(tmp_path / "label.csv")


def test_a_set_that_is_there_is_not_downloaded_again_unless_told_to(small: Dataset, web: Any) -> None:
    folder = get(small)
    (folder / "stray.txt").write_text("of an older version")
    get(small)
    assert len(web.asked) == 2
    get(small, force=True)
    assert len(web.asked) == 4
    assert names(folder) == {"answers.csv", "truth.csv", "README.md", CHECKSUM_FILE}


def test_files_that_changed_since_the_first_download_are_refused(small: Dataset, web: Any) -> None:
    folder = get(small)
    before = (folder / "answers.csv").read_bytes()
    web.files["/label.csv"] = LABEL.replace(b"0,1,1", b"0,1,0")
    with pytest.raises(ValueError, match=r"label\.csv has the sha256 \w+, expected \w+: it is not the file"):
        get(small, force=True)
    assert (folder / "answers.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("/label.csv", LABEL + b"2,0,1\n", "hold 3 tasks, expected 2"),
        ("/label.csv", LABEL + b"1,0,1\n", "hold 6 votes, expected 5"),
        ("/truth.csv", TRUTH + b"1,0\n", "hold 2 tasks whose truth is known, expected 1"),
        ("/label.csv", b"<html>", "row 1 has 1 cells"),
    ],
)
def test_a_set_of_another_size_is_refused_and_nothing_is_left(
    small: Dataset, web: Any, house: Path, file: str, content: bytes, problem: str
) -> None:
    web.files[file] = content
    with pytest.raises(ValueError, match=problem):
        get(small)
    assert names(house) == {".small.lock"}
    assert local_folder(small) is None


def test_what_was_downloaded_before_a_failure_is_not_asked_for_again(small: Dataset, web: Any) -> None:
    del web.files["/truth.csv"]
    with pytest.raises(ValueError, match="answers 404"):
        get(small)
    web.files["/truth.csv"] = TRUTH
    get(small)
    assert [path for path, _ in web.asked] == ["/label.csv", "/truth.csv", "/truth.csv"]


def test_a_folder_of_somebody_else_is_left_alone(small: Dataset, house: Path) -> None:
    (house / "small").mkdir(parents=True)
    (house / "small" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="exists and is no data set that was downloaded"):
        get(small)
    assert names(house / "small") == {"mine.txt"}


def test_a_place_that_cannot_be_written_is_one_sentence(small: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ValueError, match="file/there: cannot be written"):
        get(small, tmp_path / "file" / "there")


@pytest.mark.parametrize("name", ["anesthesia", "digits", "texts"])
def test_a_bundled_set_can_be_written_as_a_folder_too(name: str, tmp_path: Path) -> None:
    folder = cp.datasets.get(name, str(tmp_path))
    data, again = cp.datasets.open(name), read_folder(folder, repeats="all")
    votes, read = data.votes, again.votes
    assert len(read) == len(votes)
    assert read.classes.tolist() == votes.classes.tolist()
    np.testing.assert_array_equal(read.tasks[read.task], votes.tasks[votes.task])
    np.testing.assert_array_equal(read.classes[read.label], votes.classes[votes.label])
    assert again.truth == data.truth
    assert again.texts == data.texts
    for part, other in zip(data.parts.values(), again.parts.values(), strict=True):
        assert part.truth == other.truth
        assert part.texts == other.texts
        if part.features is not None:
            np.testing.assert_array_equal(part.features, other.features)


def test_two_processes_get_one_set(small: Dataset, web: Any, house: Path) -> None:
    """The second waits for the first, and then has nothing to do."""
    code = f"""
from dataclasses import replace
from crowdpilot.datasets import DATASETS
from crowdpilot.datasets.local_copies import download_dataset
from crowdpilot.datasets.download import Remote
from crowdpilot.datasets.registry import Counts
files = tuple(Remote("{web.url}/" + name) for name in ("label.csv", "truth.csv"))
small = replace(DATASETS["bluebirds"], name="small", counts=Counts(2, 2, 5, 2, 1), files=files)
print(download_dataset(small))
"""
    root = str(Path(cp.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": root}
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env)
        for _ in range(2)
    ]
    assert [p.communicate(timeout=60)[0].strip() for p in both] == [str(house / "small")] * 2
    assert len(web.asked) == 2
    assert len(read_folder(house / "small", repeats="all").votes) == 5


def test_a_stop_in_between_leaves_no_folder_and_the_part_that_came(
    small: Dataset, web: Any, house: Path
) -> None:
    web.etags["/label.csv"] = '"one"'

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(small, progress=stop)
    assert local_folder(small) is None
    parts = names(house / ".small.download")
    assert parts == {"label.csv.part", "label.csv.etag"}
    get(small)
    assert names(house) == {"small", ".small.lock"}


def test_folders_are_written_and_read_without_arrow(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None;"
        "from crowdpilot.datasets import get, open;"
        "print(*[open(get(name, sys.argv[1])) for name in ('digits', 'texts')])"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(cp.__file__).parents[1])}
    said = subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], text=True, env=env)
    assert said.count("truth of") == 2
    assert "texts, test of 60" in said
