"""JSON lines and JSON arrays of records."""

from __future__ import annotations

import warnings

import pytest

from crowdpilot.io import ReadingWarning, read

pytestmark = pytest.mark.usefixtures("each_engine")

LINES = '{"task": "a", "worker": 1, "label": "cat"}\n{"task": "a", "worker": 2, "label": "dog"}\n'
VOTES = [("a", 1, "cat"), ("a", 2, "dog")]


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        "\ufeff" + LINES,
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", "\n\n").rstrip(),
        f"[{LINES.strip().replace(chr(10), ',')}]",
        f"\n [\n{LINES.strip().replace(chr(10), ', ')}\n]\n",
    ],
    ids=["lines", "byte order mark", "CRLF", "empty lines", "array", "loose array"],
)
def test_lines_and_arrays_are_the_same(save, rows, content):
    assert rows(read(save("votes.json", content))) == VOTES


def test_one_record_is_one_vote(save, rows):
    assert rows(read(save("votes.jsonl", LINES.splitlines()[0]))) == VOTES[:1]


@pytest.mark.parametrize(
    "ids", [["2020-01-01", "2020-01-02"], ["007", "7"], ["1", "2"], [12, 13], ["a", "ä\n\u2028"]]
)
def test_ids_come_back_as_they_are_written(save, ids):
    lines = [f'{{"task": {_json(i)}, "worker": {_json(i)}, "label": {_json(i)}}}' for i in ids]
    votes = read(save("votes.jsonl", "\n".join(lines)), classes=ids)
    assert votes.tasks.tolist() == ids
    assert votes.workers.tolist() == ids
    assert votes.classes.tolist() == ids


def _json(value: object) -> str:
    return f'"{value}"'.replace("\n", "\\n") if isinstance(value, str) else str(value)


def test_ids_of_mixed_types_become_texts(save, rows):
    content = '{"task": 7, "worker": "x", "label": 1}\n{"task": "007", "worker": 3, "label": 1.0}\n'
    votes = read(save("votes.jsonl", content))
    assert rows(votes) == [("7", "x", 1), ("007", "3", 1)]


def test_huge_numbers_lose_no_digit(save):
    content = '{"task": 123456789012345678901, "worker": 1, "label": 1}\n'
    assert read(save("votes.jsonl", content)).tasks.tolist() == ["123456789012345678901"]


@pytest.mark.parametrize("missing", ["", ', "label": null', ', "label": ""', ', "label": NaN'])
def test_a_missing_label_is_dropped_but_lists_its_task(save, rows, missing):
    votes = read(save("votes.jsonl", LINES + f'{{"task": "b", "worker": 1{missing}}}\n'))
    assert rows(votes) == VOTES
    assert (votes.tasks.tolist(), votes.dropped) == (["a", "b"], 1)


def test_other_fields_may_hold_anything(save, rows):
    content = LINES.replace("}", ', "meta": {"x": [1]}}', 1).replace('"dog"}', '"dog", "meta": 3}')
    assert rows(read(save("votes.jsonl", content))) == VOTES


def test_numbers_and_times_are_read_along(save):
    more = ', "weight": 0.5, "seconds": 2, "created_at": "2020-01-01T00:00:00Z"}'
    votes = read(save("votes.jsonl", LINES.replace("}", more)))
    assert (votes.weight.tolist(), votes.seconds.tolist()) == ([0.5, 0.5], [2, 2])
    assert votes.time.tolist() == [1577836800] * 2


def test_columns_can_be_named(save, rows):
    path = save("votes.jsonl", LINES.replace("task", "q"))
    assert rows(read(path, columns={"task": "q"})) == VOTES


def test_an_empty_array_is_no_votes(save):
    assert len(read(save("votes.json", "[]"))) == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (LINES + '{"task": "b", "wor', "line 3: found broken JSON"),
        (LINES + "\n3\n", "line 4: found 3, expected a record like {...}"),
        ("[1, 2]", "found 1, expected a record like {...}"),
        (f"[{LINES}]", "line 2: found broken JSON"),
        ('[{"task": "b"', "line 1: found broken JSON"),
        (LINES.replace("worker", "weight"), "found no worker column among 'task', 'weight', 'label'"),
        (LINES.replace('"dog"', '["dog"]'), "found ['dog'] in column 'label', expected one text or number"),
        (LINES.replace('"dog"', '["dog"]').replace('"cat"', '["cat"]'), "found values of type"),
        (LINES.encode().replace(b"dog", b"d\x81g"), "line 2: found bytes that are not UTF-8"),
        ("[" * 200_000, "found broken JSON (it is nested too deeply)"),
        (LINES + "null\n", "line 3: found null, expected a record like {...}"),
        (LINES + " \n\t null\n", "line 4: found null, expected a record like {...}"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_line(save, content, problem):
    path = save("votes.jsonl", content)
    with pytest.raises(ValueError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_in_a_value_names_the_line_of_the_record(save):
    content = LINES.replace('"cat"}', '"cat", "gold": "cat"}').replace('"dog"}', '"dog", "gold": "dog"}')
    with pytest.raises(ValueError, match="line 2: task 'a' has the true labels 'cat' and 'dog'"):
        read(save("votes.jsonl", "\n" + content))


def test_nulls_instead_of_records_are_an_error_in_a_long_file(save):
    with pytest.raises(ValueError, match=r"line 100001: found null, expected a record like {...}"):
        read(save("votes.jsonl", LINES * 50_000 + "null\n" * 2_000_000))
    with pytest.raises(ValueError, match=r"line 1: found null, expected a record like {...}"):
        read(save("votes.jsonl", "null\n"), format="jsonl")


def test_what_arrow_would_take_for_a_time_stays_as_it_is_written_whatever_the_column_is_called(save, rows):
    lines = '{"image": "2020-01-01", "worker": "x", "label": "2020-01-02"}\n'
    path = save("votes.jsonl", lines + '{"image": "2020-01-02", "worker": "x", "label": "2020-01-01"}\n')
    said = [("2020-01-01", "x", "2020-01-02"), ("2020-01-02", "x", "2020-01-01")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # of columns that are called otherwise
        assert rows(read(path)) == said
