"""Votes appended one by one: the file stays what it was, with the layout it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdpilot import io
from crowdpilot.cli.shared.labelling.vote_file import VoteFile, open_vote_file
from crowdpilot.cli.shared.reading_options import ReadingOptions


def open_file(path: Path) -> VoteFile:
    return open_vote_file(path, ReadingOptions().for_files())


def test_a_new_file_gets_a_header_with_its_first_vote(tmp_path: Path) -> None:
    file = open_file(tmp_path / "votes.csv")
    assert not file.path.exists()
    file.append("a, b", "ann", "yes")
    file.append("c", "ann", "no")
    assert file.path.read_text() == 'task,worker,label\n"a, b",ann,yes\nc,ann,no\n'


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ("rater;item;note;answer\r\nbob;a;?;yes\r\n", "ann;b;;no\r\n"),
        ("task\tworker\tlabel\na\tbob\tyes\n", "b\tann\tno\n"),
        ("task,worker,label\na,bob,yes", "\nb,ann,no\n"),  # without the end of a line
        ("task,worker,label,time,weight\na,bob,yes,2024-01-01 10:00,1\n", "b,ann,no,,1\n"),
        ("\ufefftask,worker,label\na,bob,yes\n", "b,ann,no\n"),
    ],
)
def test_rows_are_appended_in_the_layout_of_the_file(tmp_path: Path, before: str, added: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(before.encode())
    open_file(path).append("b", "ann", "no")
    assert path.read_bytes().decode() == before + added
    votes = io.read(path)
    assert (votes.tasks.tolist(), votes.workers.tolist()) == (["a", "b"], ["bob", "ann"])


def test_the_encoding_of_the_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes("task,worker,label\nKäse,bob,größer\n".encode("cp1252"))
    file = open_file(path)
    file.append("Öl", "ann", "größer")
    assert path.read_bytes().decode("cp1252").endswith("Öl,ann,größer\n")
    with pytest.raises(ValueError, match="which cannot hold"):
        file.append("油", "ann", "größer")
    assert path.read_bytes().decode("cp1252").endswith("Öl,ann,größer\n")


def test_undo_removes_the_own_row_only(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\na,bob,yes\n")
    file = open_file(path)
    file.append("b", "ann", "no")
    file.append("c", "ann", "no")
    with path.open("a") as other:
        other.write("c,bob,yes\n")
    assert file.has_changed
    file.undo()
    assert path.read_text() == "task,worker,label\na,bob,yes\nb,ann,no\nc,bob,yes\n"
    file.undo()
    assert path.read_text() == "task,worker,label\na,bob,yes\nc,bob,yes\n"


def test_two_who_append_to_one_file_lose_nothing(tmp_path: Path) -> None:
    first, second = open_file(tmp_path / "votes.csv"), open_file(tmp_path / "votes.csv")
    for n in range(5):
        first.append(f"i{n}", "ann", "no")
        second.append(f"i{n}", "bob", "yes")
    first.undo()
    second.append("i9", "bob", "no")
    assert len(io.read(tmp_path / "votes.csv")) == 10


@pytest.mark.parametrize("name", ["votes.parquet", "votes.jsonl", "votes.csv.gz", "votes.xlsx"])
def test_other_files_are_refused_before_anything_is_asked(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="use CSV with a row for each vote"):
        open_file(tmp_path / name)


def test_a_table_without_a_row_for_each_vote_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("task,ann,bob,cem\n" + "".join(f"t{n},yes,no,yes\n" for n in range(9)))
    with pytest.raises(ValueError, match="wide"):
        open_file(path)
    path.write_bytes("task,worker,label\na,bob,yes\n".encode("utf-16"))
    with pytest.raises(ValueError, match="save it as UTF-8"):
        open_file(path)
