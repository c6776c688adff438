"""One row for each task, one column for each worker."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowdpilot.io import ReadingWarning, explain, read, write
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
    for source in (path, frame):
        with pytest.warns(ReadingWarning, match="'review' are not read"):
            assert len(read(source, format="wide")) == 30


MATRIX = {"a": [0, -1, 1], "b": [1, 1, 2], "c": [2, 0, -1]}
ANSWERS = "yes,no,yes\nno,no,yes\nyes,yes,no\nno,yes,yes\n"


def numbered(answers: str, *before: str, header: str) -> str:
    """Rows of answers with more columns before them."""
    rows = answers.splitlines()
    columns = [[form.format(n) for n in range(len(rows))] for form in before]
    lines = [",".join(cells) for cells in zip(*columns, rows, strict=True)]
    return "\n".join([header, *lines]) + "\n"


def test_without_an_id_the_first_worker_is_no_task_but_rows_are_numbered(save, rows):
    votes = read(save("votes.csv", "anna,ben,carl\n" + ANSWERS))
    assert votes.workers.tolist() == ["anna", "ben", "carl"]
    assert votes.tasks.tolist() == [0, 1, 2, 3]
    assert rows(votes)[:2] == [(0, "anna", "yes"), (0, "ben", "no")]


@pytest.mark.parametrize("header", ["", "Unnamed: 0", "id", "tweet"])
def test_texts_and_numbers_of_rows_are_no_workers(save, header):
    content = numbered(ANSWERS, "{}", "I liked film {}", header=f"{header},text,anna,ben,carl")
    reading = explain(save("votes.csv", content))
    assert reading.votes.workers.tolist() == ["anna", "ben", "carl"]
    assert len(reading.votes.tasks) == 4
    assert reading.ignored in (["text"], [header])
    assert "worker from 3 columns ('anna', 'ben', 'carl')" in str(reading)


def test_facts_about_tasks_are_no_workers_and_are_named(save):
    content = "task,source,anna,ben\na,web,yes,no\nb,book,no,no\nc,web,yes,yes\n"
    reading = explain(save("votes.csv", content))
    assert reading.votes.workers.tolist() == ["anna", "ben"]
    assert reading.notes == ("'source' are not read, since their values are not those of workers",)
    majority = explain(save("votes.csv", content.replace("source", "majority").replace("web", "yes")))
    assert majority.votes.workers.tolist() == ["anna", "ben"]


@pytest.mark.parametrize("end", ["", ".0"])
def test_minus_one_beside_numbers_is_no_vote_unless_it_is_named_as_a_class(save, end):
    lines = [",".join([task, *(f"{n}{end}" for n in labels)]) for task, labels in MATRIX.items()]
    path = save("votes.csv", "\n".join(["task,anna,ben,carl", *lines]))
    with pytest.warns(ReadingWarning, match="2 labels -1 are read as missing; if -1 is a class, name all"):
        votes = read(path)
    assert (len(votes), votes.classes.tolist()) == (7, [0, 1, 2])
    assert len(read(path, classes=[-1, 0, 1, 2])) == 9


def test_minus_one_and_one_are_two_classes(save):
    votes = read(save("votes.csv", "task,anna,ben\na,1,-1\nb,-1,-1\nc,1,1\n"))
    assert votes.classes.tolist() == [-1, 1]


def test_rows_may_be_workers(save, rows):
    path = save("votes.csv", "respondent,picture 1,picture 2\nx,cat,dog\ny,cat,cat\nz,dog,dog\n")
    with pytest.warns(
        ReadingWarning, match=r"each row is a worker \(respondent\), and 2 columns are read as"
    ):
        votes = read(path)
    assert rows(votes)[:2] == [("picture 1", "x", "cat"), ("picture 2", "x", "dog")]


def test_a_label_beside_workers_is_refused(save):
    path = save("votes.csv", "id,anna,ben,label\n1,yes,no,yes\n2,no,no,no\n3,yes,yes,yes\n")
    with pytest.raises(ValueError, match="'label' may be a worker or the label of all"):
        read(path)
    assert len(read(path, format="wide", columns={"gold": "label"}).workers) == 2


def test_the_frame_of_cleanlab_is_read(rows):
    frame = pd.DataFrame({"anna": [0, 1, np.nan, 1], "ben": [0, np.nan, 1, 1], "carl": [np.nan, 1, 1, 0]})
    votes = read(frame)
    assert votes.workers.tolist() == ["anna", "ben", "carl"]
    assert len(votes.tasks) == 4
    assert len(votes) == 9


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
