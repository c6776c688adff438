"""One row for each task, one column for each worker."""

from __future__ import annotations

import pandas as pd
import pytest

from crowdpilot.io import read, write
from crowdpilot.votes import Votes

WIDE = "task,anna,ben,carl\na,cat,,dog\nb,,,\nc,cat,cat,\n"
VOTES = [("a", "anna", "cat"), ("a", "carl", "dog"), ("c", "anna", "cat"), ("c", "ben", "cat")]


@pytest.mark.parametrize("first", ["task", "Item_ID", "", "id", "Unnamed: 0"])
def test_cells_become_votes_and_empty_ones_do_not(save, rows, first):
    votes = read(save("votes.csv", WIDE.replace("task", first)))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == ["a", "b", "c"]
    assert votes.workers.tolist() == ["anna", "ben", "carl"]
    assert votes.dropped == 1  # the row of b holds no vote


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_delimiter_is_found(save, rows, delimiter):
    assert rows(read(save("votes.csv", WIDE.replace(",", delimiter)))) == VOTES


def test_numbers_are_told_for_tasks_workers_and_labels(save, rows):
    votes = read(save("votes.csv", "task,1,2\n10,0,1\n11,NA,0\n"))
    assert rows(votes) == [(10, 1, 0), (10, 2, 1), (11, 2, 0)]


def test_a_worker_may_be_called_like_a_task_or_twice(save, rows):
    votes = read(save("votes.csv", "task,task,x,x\na,1,2,\nb,,,3\n"))
    assert rows(votes) == [("a", "task", 1), ("a", "x", 2), ("b", "x", 3)]


def test_the_format_can_be_forced(save, rows):
    path = save("votes.csv", "tweet,user\na,cat\nb,dog\n")
    assert rows(read(path, format="wide")) == [("a", "user", "cat"), ("b", "user", "dog")]


def test_the_task_can_be_named(save, rows):
    path = save("votes.csv", "anna,ben,tweet\ncat,dog,1\n")
    votes = read(path, format="wide", columns={"task": "tweet"})
    assert rows(votes) == [(1, "anna", "cat"), (1, "ben", "dog")]


def test_a_column_gold_holds_the_true_labels(save):
    votes = read(save("votes.csv", "task,gold,anna,ben\na,dog,cat,\nb,,cat,cat\nc,cat,,\n"))
    assert votes.classes.tolist() == ["cat", "dog"]
    assert votes.gold.tolist() == [1, -1, 0]


def test_two_true_labels_of_one_task_are_an_error_with_the_line(save):
    path = save("votes.csv", "task,gold,anna,ben\na,dog,cat,cat\n\na,cat,cat,dog\n")
    with pytest.raises(ValueError, match=r"votes.csv, line 2: task 'a' has the true labels 'dog' and 'cat'"):
        read(path)


def test_a_header_alone_is_no_votes(save):
    votes = read(save("votes.csv", "task,anna,ben"))
    assert (len(votes), votes.workers.tolist()) == (0, ["anna", "ben"])


@pytest.mark.parametrize("header", ["task,text", "a,b,c"])
def test_what_could_be_a_mistake_is_not_taken_for_a_wide_table(save, header):
    path = save("votes.csv", f"{header}\n" + ",".join("x" * len(header.split(","))) + "\n")
    with pytest.raises(ValueError, match="found no"):
        read(path)


def test_a_column_of_texts_is_no_worker_unless_the_format_is_named(save):
    lines = "".join(f"{n},{n % 2},review number {n}\n" for n in range(30))
    path = save("items.csv", "task,price,review\n" + lines)
    with pytest.raises(
        ValueError, match="found no worker and no label column among 'task', 'price', 'review'"
    ):
        read(path)
    frame = pd.read_csv(path)
    with pytest.raises(
        ValueError, match="found no worker and no label column among 'task', 'price', 'review'"
    ):
        read(frame)
    assert len(read(path, format="wide")) == len(read(frame, format="wide")) == 60


def test_no_worker_at_all_is_an_error(save):
    with pytest.raises(ValueError, match="found no column of a worker"):
        read(save("votes.csv", "task\na\n"), format="wide")


def test_a_short_row_is_an_error_with_its_line(save):
    with pytest.raises(ValueError, match=r"votes.csv, line 5: found 2 fields, expected 4"):
        read(save("votes.csv", WIDE + "d,cat\n"))


def test_it_is_written_the_same_way(tmp_path):
    votes = Votes.of(["a", "a", "c"], ["x", "y,", "x"], ["cat", 'd"g', "cat"], tasks=["b"], gold={"b": "cat"})
    write(votes, tmp_path / "votes.csv", format="wide")
    assert (tmp_path / "votes.csv").read_text() == 'task,gold,x,"y,"\na,,cat,"d""g"\nc,,cat,\nb,cat,,\n'
    write(votes, tmp_path / "votes.tsv", format="wide")
    assert (tmp_path / "votes.tsv").read_text().startswith("task\tgold\tx\ty,\n")


@pytest.mark.parametrize(
    ("votes", "problem"),
    [
        (Votes.of(["a", "a"], ["x", "x"], [0, 1], repeats="all"), "a worker labels a task twice"),
        (Votes.of(["a"], ["x"], [0], weight=[2]), "the votes have weights"),
        (Votes.of(["a"], ["gold"], [0]), "a worker is called 'gold'"),
    ],
)
def test_what_it_cannot_hold_is_not_written(tmp_path, votes, problem):
    with pytest.raises(ValueError, match=problem):
        write(votes, tmp_path / "votes.csv", format="wide")
    assert list(tmp_path.iterdir()) == []
