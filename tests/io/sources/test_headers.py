"""A first line that is data is not taken for names."""

from __future__ import annotations

import pytest

from crowdpilot.io import read

pytestmark = pytest.mark.usefixtures("each_engine")


@pytest.mark.parametrize(
    "content",
    [
        "t1,w3,cat\nt2,w3,dog\n",
        "t1,w1,cat\nt2,w2,dog\nt3,w4,emu\n",
        "0,1,2\n0,2,2\n",
        "t1;w3;cat\nt1;w4;cat\n",
        "img-001.png\tanna\tyes\nimg-002.png\tben\tno\n",
        "a,user,cat\nb,user,dog\n",
        "12,0.5\n13,0.7\n",
    ],
)
def test_a_first_line_like_the_others_is_refused(save, content):
    with pytest.raises(
        ValueError, match=r"votes.csv, line 1: the first line \(.*\) looks like data; .*--header"
    ):
        read(save("votes.csv", content))


def test_names_can_be_given(save, rows):
    path = save("votes.csv", "t1,w3,cat\nt2,w3,dog\n")
    votes = read(path, header=["task", "worker", "label"])
    assert rows(votes) == [("t1", "w3", "cat"), ("t2", "w3", "dog")]
    assert rows(read(path, header=("worker", "task", "label")))[0] == ("w3", "t1", "cat")


def test_all_columns_have_to_be_named(save):
    path = save("votes.csv", "t1,w3,cat\nt2,w3,dog\n")
    with pytest.raises(ValueError, match=r"found 3 columns, but header= \(--header\) names 2"):
        read(path, header=["task", "label"])


def test_lines_are_counted_from_the_first_one(save):
    path = save("votes.csv", "t1,w3,cat\nt2,w3\n")
    with pytest.raises(ValueError, match="line 2: found 2 fields, expected 3"):
        read(path, header=["task", "worker", "label"])
    path = save("votes.csv", "t1,w3,cat,1\nt2,w3,dog,much\n")
    with pytest.raises(ValueError, match="line 2: found 'much' in column 'weight'"):
        read(path, header=["task", "worker", "label", "weight"])


def test_a_single_line_of_data_is_a_vote(save, rows):
    assert rows(read(save("votes.csv", "a,x,cat"), header=["task", "worker", "label"])) == [("a", "x", "cat")]


def test_a_wide_table_may_come_without_names(save, rows):
    votes = read(save("votes.csv", "a,yes,no\nb,no,no\n"), header=["task", "anna", "ben"])
    assert rows(votes)[:2] == [("a", "anna", "yes"), ("a", "ben", "no")]


@pytest.mark.parametrize(
    "content",
    [
        "image,1,2\nx.png,yes,no\ny.png,no,no\n",
        "item,1,2\na,1,0\nb,0,1\n",
    ],
)
def test_known_names_are_names_whatever_stands_below(save, content):
    assert len(read(save("votes.csv", content))) > 0


def test_columns_that_are_named_are_a_header(save, rows):
    path = save("votes.csv", "2020,2021,2022\n1,x,cat\n2,x,dog\n")
    columns = {"task": "2020", "worker": "2021", "label": "2022"}
    assert rows(read(path, columns=columns)) == [(1, "x", "cat"), (2, "x", "dog")]


@pytest.mark.parametrize("format", [None, "csv"])
def test_a_header_that_occurs_again_is_no_vote(save, format):
    content = "task,worker,label\na,x,cat\nb,x,dog\n"
    with pytest.raises(ValueError, match=r"votes.csv: the header occurs again in row 3 below it; remove it"):
        read(save("votes.csv", content + content), format=format)


def test_a_value_may_be_called_like_its_column(save, rows):
    path = save("votes.csv", "task,worker,label\na,worker,label\nb,worker,cat\n")
    assert rows(read(path)) == [("a", "worker", "label"), ("b", "worker", "cat")]
