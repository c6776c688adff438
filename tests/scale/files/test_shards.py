from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.scale import Shards
from crowdpilot.scale.files.shards import find_files, fixed_folder, is_pattern
from crowdpilot.votes import Votes
from tests.scale.shard_files import write_parts


def test_a_pattern_a_folder_and_a_list_mean_the_same(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    files = Shards([folder / f"part-{n}.parquet" for n in (2, 0, 1)]).files
    assert Shards(folder).files == Shards(f"{folder}/*.parquet").files == files
    assert Shards(f"{folder}/*.parquet").names == tuple(f"part-{n}.parquet" for n in range(3))


@pytest.mark.parametrize("where", ["nowhere/*.parquet", "."])
def test_no_file_is_an_error(where: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no Parquet file"):
        Shards(tmp_path / where)


def test_files_are_sorted_absolute_and_unique(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shards = Shards(["b.parquet", "./a.parquet", tmp_path / "b.parquet"])
    assert shards.files == (str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"))
    assert shards.folder == tmp_path


def test_names_are_relative_to_the_deepest_common_folder() -> None:
    shards = Shards(["/data/x/y/1.parquet", "/data/x/2.parquet"])
    assert shards.folder == Path("/data/x")
    assert shards.names == ("2.parquet", os.path.join("y", "1.parquet"))


@pytest.mark.parametrize("hidden", ["_labels", ".cache"])
def test_hidden_folders_are_left_out_of_folders_and_patterns(hidden: str, tmp_path: Path) -> None:
    (tmp_path / "votes" / hidden).mkdir(parents=True)
    for name in ("1.parquet", f"{hidden}/2.parquet", "_3.parquet", "4.csv"):
        (tmp_path / "votes" / name).touch()
    expected = [str(tmp_path / "votes" / "1.parquet")]
    assert find_files(tmp_path / "votes") == expected
    assert find_files(tmp_path / "votes" / "**" / "*.parquet") == expected
    assert find_files(f"{tmp_path}/*/*.parquet") == expected


def test_a_folder_that_is_hidden_itself_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "_votes").mkdir()
    (tmp_path / "_votes" / "1.parquet").touch()
    assert len(find_files(tmp_path / "_votes")) == len(find_files(f"{tmp_path}/_votes/*.parquet")) == 1


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    file, folder = tmp_path / "votes[1].parquet", tmp_path / "a*b"
    file.touch()
    folder.mkdir()
    (folder / "1.parquet").touch()
    assert not is_pattern(file)
    assert find_files(file) == [str(file)]
    assert find_files(folder) == [str(folder / "1.parquet")]
    assert is_pattern(tmp_path / "votes?.parquet")


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [("a/b/*.parquet", "a/b"), ("a/*/c/*.parquet", "a"), ("*.parquet", ""), ("/a/b.parquet", "/a")],
)
def test_the_fixed_folder_of_a_pattern_has_no_wildcard(pattern: str, folder: str) -> None:
    assert fixed_folder(pattern) == folder


@given(
    st.lists(st.sampled_from("abc"), max_size=3), st.none() | st.lists(st.sampled_from("xyz"), unique=True)
)
def test_options_of_reading_are_plain_values(abstain: list[str], classes: list[str] | None) -> None:
    options: dict[str, Any] = {"abstain": tuple(abstain), "classes": classes and tuple(classes)}
    shards = Shards(["a.parquet"], columns={"label": "answer"}, repeats="all", **options)
    expected = {"columns": {"label": "answer"}, "abstain": abstain, "repeats": "all"}
    assert shards.read_options == expected | {"classes": classes and list(classes)}


def test_an_unknown_treatment_of_repeats_is_refused() -> None:
    repeats: Any = "some"
    with pytest.raises(ValueError, match="repeats is 'some', expected one of"):
        Shards(["a.parquet"], repeats=repeats)
