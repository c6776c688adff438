"""Text with columns: what is a vote, what is missing, and what is wrong in which line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from crowdpilot.io import ReadingWarning, read

pytestmark = pytest.mark.usefixtures("each_engine")

PLAIN = "task,worker,label\na,x,cat\na,y,dog\nb,x,cat\n"
VOTES = [("a", "x", "cat"), ("a", "y", "dog"), ("b", "x", "cat")]


def test_rows_become_votes_in_their_order(save, rows):
    votes = read(save("votes.csv", PLAIN))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == ["a", "b"]
    assert votes.classes.tolist() == ["cat", "dog"]
    assert votes.dropped == 0


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(save, rows, delimiter):
    assert rows(read(save("votes.txt", PLAIN.replace(",", delimiter)))) == VOTES


def test_the_delimiter_of_the_header_counts_not_that_in_a_name(save, rows):
    content = 'task;worker;label;"a, b, c, d, e"\n1;2;3;4\n'
    assert rows(read(save("votes.csv", content))) == [(1, 2, 3)]


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        "\n\n" + PLAIN,
        PLAIN.replace("\n", "\n\n"),
        PLAIN.rstrip("\n"),
        PLAIN.replace("cat", '"cat"').replace("task", '"task"'),
    ],
    ids=["byte order mark", "CRLF", "CR", "empty first lines", "empty lines", "no last newline", "quotes"],
)
def test_the_same_votes_however_the_text_is_written(save, rows, content):
    assert rows(read(save("votes.csv", content))) == VOTES


def test_a_packed_file_is_unpacked(save, rows):
    assert rows(read(save("votes.csv.gz", gzip.compress(PLAIN.encode())))) == VOTES


def test_quoted_values_hold_delimiters_quotes_and_newlines(save, rows):
    content = 'task,worker,label\n"a,\n""b""",x,"yes, no"\r\n'
    assert rows(read(save("votes.csv", content))) == [('a,\n"b"', "x", "yes, no")]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["1", "2", "-3"], [1, 2, -3]),
        (["007", "7"], ["007", "7"]),
        (["1", "x"], ["1", "x"]),
        (["1.0", "2.0"], [1, 2]),
        (["1", "1.0"], ["1", "1.0"]),
        (["1.5", "2.0"], ["1.5", "2.0"]),
        (["1e3", "+5"], ["1e3", "+5"]),
        (["123456789012345678901", "1"], ["123456789012345678901", "1"]),
        ([" 1", "2"], [" 1", "2"]),
    ],
)
def test_ids_are_integers_only_if_all_of_a_column_are_plain_ones(save, ids, expected):
    lines = "".join(f"{name},{name},{name}\n" for name in ids)
    votes = read(save("votes.csv", "task,worker,label\n" + lines), classes=expected)
    assert votes.tasks.tolist() == expected
    assert votes.workers.tolist() == expected
    assert votes.classes.tolist() == expected


def test_a_row_without_a_label_is_no_vote_but_lists_its_task(save, rows):
    votes = read(save("votes.csv", PLAIN + "c,x,\nd,,\n"))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == ["a", "b", "c", "d"]
    assert votes.dropped == 2


@pytest.mark.parametrize("word", ["NA", "nan", "null", ""])
def test_among_numbers_a_word_for_nothing_is_missing(save, rows, word):
    votes = read(save("votes.csv", f"task,worker,label\n1,1,0\n1,2,{word}\n"))
    assert rows(votes) == [(1, 1, 0)]
    assert votes.dropped == 1


def test_among_texts_such_a_word_is_missing_too_unless_the_classes_are_named(save):
    path = save("votes.csv", "task,worker,label\n1,1,cat\n1,2,NA\n")
    with pytest.warns(ReadingWarning, match="1 labels NA are read as missing; if NA is a class, name all"):
        assert read(path).classes.tolist() == ["cat"]
    assert read(path, classes=["NA", "cat"]).classes.tolist() == ["NA", "cat"]


def test_abstentions_are_dropped_and_counted(save, rows):
    votes = read(save("votes.csv", PLAIN + "b,y,unsure\n"), abstain=["unsure"])
    assert rows(votes) == VOTES
    assert votes.dropped == 1


@pytest.mark.parametrize(
    ("repeats", "labels"), [("last", ["dog"]), ("first", ["cat"]), ("all", ["cat", "dog"])]
)
def test_repeats_follow_the_rule(save, rows, repeats, labels):
    votes = read(save("votes.csv", "task,worker,label\na,x,cat\na,x,dog\n"), repeats=repeats)
    assert [label for _, _, label in rows(votes)] == labels


def test_repeats_can_be_an_error(save):
    path = save("votes.csv", "task,worker,label\na,x,cat\na,x,dog\n")
    with pytest.raises(ValueError, match=r"votes.csv: worker 'x' labels task 'a' more than once"):
        read(path, repeats="error")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_header_alone_is_no_votes(save, end):
    votes = read(save("votes.csv", "task,worker,label" + end))
    assert (len(votes), len(votes.tasks), len(votes.classes)) == (0, 0, 0)


def test_one_worker_and_one_class_are_enough(save, rows):
    votes = read(save("votes.csv", "task,worker,label\na,x,yes\nb,x,yes\n"))
    assert (votes.workers.tolist(), votes.classes.tolist()) == (["x"], ["yes"])


def test_given_classes_keep_their_order_and_those_without_a_vote(save, rows):
    votes = read(save("votes.csv", PLAIN), classes=["dog", "cow", "cat"])
    assert votes.classes.tolist() == ["dog", "cow", "cat"]
    assert rows(votes) == VOTES


def test_a_label_that_is_not_among_the_given_classes_is_an_error(save):
    with pytest.raises(ValueError, match=r"votes.csv: label 'dog' of vote 2 is not one of the classes cat"):
        read(save("votes.csv", PLAIN), classes=["cat"])


@pytest.mark.parametrize(
    "header",
    [
        "Task,Worker,Label",
        "TASK_ID,worker-id,label",
        "item,annotator,rating",
        "example,rater,value",
        "unit_id,performer,answer",
        "subject,user,response",
        "question,assessor,annotation",
        "itemId,User Name,category",
    ],
)
def test_columns_are_known_by_many_names(save, rows, header):
    assert rows(read(save("votes.csv", PLAIN.replace("task,worker,label", header)))) == VOTES


def test_further_columns_do_not_matter_and_the_plain_name_wins(save, rows):
    content = "question,task,text,label,answer,worker\nq,1,hello,2,3,4\n"
    with pytest.warns(ReadingWarning, match="'label' is read as the label, though 'answer' may be it too"):
        assert rows(read(save("votes.csv", content))) == [(1, 4, 2)]


def test_columns_can_be_named(save, rows):
    path = save("votes.csv", "url,task,who,said\nu,1,x,cat\n")
    assert rows(read(path, columns={"task": "url", "worker": "who", "label": "said"})) == [("u", "x", "cat")]


def test_optional_columns_are_picked_up(save):
    content = (
        "task,worker,label,weight,seconds,time,gold\n"
        "a,x,cat,2,1.5,2020-01-01T00:00:00Z,dog\n"
        "a,y,cat,0.5,,2020-01-01T01:00:00+01:00,\n"
        "b,x,cow,1,3,,\n"
    )
    votes = read(save("votes.csv", content))
    np.testing.assert_array_equal(votes.weight, [2, 0.5, 1])
    np.testing.assert_array_equal(votes.seconds, [1.5, np.nan, 3])
    np.testing.assert_array_equal(votes.time, [1577836800, 1577836800, np.nan])
    assert votes.classes.tolist() == ["cat", "cow", "dog"]  # a true label may have no vote
    assert votes.gold.tolist() == [2, -1]


def test_a_true_label_that_is_not_among_the_given_classes_is_an_error(save):
    path = save("votes.csv", "task,worker,label,gold\na,x,cat,dog\n")
    with pytest.raises(ValueError, match=r"votes.csv: gold label 'dog' of task 'a' is not a class \(cat\)"):
        read(path, classes=["cat"])


def test_an_optional_column_can_be_left_out(save):
    path = save("votes.csv", "task,worker,label,gold\na,x,cat,dog\n")
    assert read(path, columns={"gold": None}).gold is None


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2020-01-01 00:00:01", "2020-01-01 00:00:00.5"], [1577836801, 1577836800.5]),
        (["2020-01-01 00:00:01 UTC"], [1577836801]),
        (["Fri May 05 10:11:12 PDT 2017", "Fri May 05 17:11:12 UTC 2017"], [1494004272, 1494004272]),
        (["12.5", "13"], [12.5, 13]),
    ],
)
def test_times_are_seconds_however_they_are_written(save, times, expected):
    lines = "".join(f"{n},x,cat,{time}\n" for n, time in enumerate(times))
    votes = read(save("votes.csv", "task,worker,label,created_at\n" + lines))
    np.testing.assert_allclose(votes.time, expected)


def test_a_time_that_cannot_be_read_is_left_out_unless_it_was_named(save):
    path = save("votes.csv", "task,worker,label,date\na,x,cat,2020-01-01\nb,x,cat,yesterday\n")
    assert read(path).time is None
    with pytest.raises(
        ValueError, match=r"votes.csv, line 3: found 'yesterday' in column 'date', expected a"
    ):
        read(path, columns={"time": "date"})


@pytest.mark.parametrize(
    ("weight", "problem"),
    [
        ("-1", "found the weight -1.0, expected a number of 0 or more"),
        ("", "found the weight nan, expected a number of 0 or more"),
        ("much", "found 'much' in column 'weight', expected a number"),
    ],
)
def test_a_wrong_weight_is_an_error(save, weight, problem):
    path = save("votes.csv", f"task,worker,label,weight\na,x,cat,1\n\nb,x,cat,{weight}\n")
    with pytest.raises(ValueError, match=f"votes.csv, line 4: {problem}"):
        read(path)


def test_two_true_labels_of_one_task_are_an_error(save):
    content = 'task,worker,label,gold\n"a\nb",x,cat,cat\n"a\nb",y,cat,dog\n'
    with pytest.raises(ValueError, match=r"line 2: task 'a\\nb' has the true labels 'cat' and 'dog'"):
        read(save("votes.csv", content))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty, expected votes"),
        (" \n\r\n", "the file is empty, expected votes"),
        (PLAIN + "c,z\n", "line 5: found 2 fields, expected 3 ('task', 'worker', 'label')"),
        (PLAIN + "c,z,cat,\n", "line 5: found 4 fields, expected 3"),
        ('task,worker,label\n"a\nb",x,cat\nc\n', "line 4: found 1 field, expected 3"),
        (PLAIN + 'c,z,"cat\nd,z,cat\n', "line 5: a quote is opened and never closed"),
        (PLAIN.encode() + b"c,z,caf\x81\n", "line 5: found bytes that are not UTF-8"),
        (b"task,worker,label,\x81\na,x,cat,1\n", "line 1: found bytes that are not UTF-8"),
        ("0,1,2\n0,2,2\n", "line 1: the first line ('0', '1', '2') looks like data"),
        ("task,label\na,cat\n", "found no worker column among 'task', 'label'; rename it or name it with"),
        ("task,worker,text\na,x,cat\n", "found no label column"),
        ("task,worker,label,label\na,x,cat,dog\n", "line 1: column 'label' occurs twice"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_line(save, content, problem):
    path = save("votes.csv", content)
    with pytest.raises(ValueError) as caught:
        read(path)
    message = str(caught.value)
    assert problem in message
    assert message.startswith(str(path))
    assert "\n" not in message


def test_a_long_text_beside_the_votes_does_not_matter(save, rows):
    lines = PLAIN.replace("label", "label,text").replace("cat", 'cat,"' + "long " * 50_000 + '"')
    path = save("votes.csv", lines.replace("dog", "dog,short"))
    assert rows(read(path)) == VOTES
    with pytest.raises(ValueError, match=r"line 2: found 'long .{1,30}' in column 'text', expected a number"):
        read(path, columns={"weight": "text"})


def test_bytes_beside_the_votes_do_not_matter(save, rows):
    path = save("votes.csv", b"task,worker,text,label\na,x,caf\x81,cat\n")
    assert rows(read(path)) == [("a", "x", "cat")]
    with pytest.raises(ValueError, match="line 2: found bytes that are not UTF-8"):
        read(path, columns={"worker": "text"})


@pytest.mark.parametrize("format", ["csv", "tsv", "wide", "matrix", "jsonl", "mturk", "peerannot", "parquet"])
def test_an_empty_file_is_empty_in_every_format(save, format):
    with pytest.raises(ValueError, match=r"votes.csv: the file is empty, expected votes"):
        read(save("votes.csv", "\n"), format=format)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"task": "Task"}, "there is no column 'Task', only 'task', 'worker', 'label'"),
        ({"tsk": "task"}, "columns names 'tsk', expected one of task, worker, label"),
        ({"label": None}, "found no label column"),
    ],
)
def test_a_column_that_does_not_exist_is_an_error(save, columns, problem):
    with pytest.raises(ValueError, match=problem):
        read(save("votes.csv", PLAIN), columns=columns)
