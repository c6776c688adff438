"""Exports of Label Studio as CSV and TSV."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import Reading, ReadingWarning, explain, read
from crowdpilot.votes import Votes

pytestmark = pytest.mark.usefixtures("each_engine")


def row(task: Any, worker: Any, day: int = 1, **columns: Any) -> dict[str, Any]:
    """An annotation as Label Studio writes it, beside the text of the task."""
    times = {"created_at": f"2020-01-0{day}T00:00:00Z", "updated_at": f"2020-01-0{day}T00:00:01Z"}
    about = {"id": task, "annotator": worker, "annotation_id": 70 + day if worker else "", "lead_time": 2.5}
    return {"text": f"text of {task}", **columns, **about, **times}


def table(*rows: dict[str, Any], delimiter: str = ",") -> str:
    """Columns in the order of their names."""
    stream = io.StringIO()
    names = sorted({name for one in rows for name in one})
    writer = csv.DictWriter(stream, names, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_what_differs_within_a_task_is_the_answer(save, rows, delimiter):
    lines = [row(n, w, category="news", user="importer", animal="cat") for n in range(6) for w in (1, 2)]
    lines[1]["animal"] = lines[4]["animal"] = "dog"
    reading = explain(save("export", table(*lines, delimiter=delimiter)))
    assert rows(reading.votes)[:3] == [(0, 1, "cat"), (0, 2, "dog"), (1, 1, "cat")]
    assert reading.votes.seconds.tolist() == [2.5] * 12
    assert (reading.format, reading.origins["label"], reading.notes) == ("label_studio_csv", "'animal'", ())


def test_the_number_of_an_annotation_is_never_the_label(save):
    path = save("export.csv", table(row(1, 1, animal="cat"), row(2, 1, day=2, animal="dog")))
    with pytest.raises(ValueError, match=r"the answers may be in 'animal' or 'text', since task data stand"):
        read(path)


def test_the_answer_can_be_named(save, rows):
    path = save("export.csv", table(row(1, 1, animal="cat"), row(2, 1, animal='["dog"]')))
    assert rows(read(path, question="animal")) == [(1, 1, "cat"), (2, 1, "dog")]
    assert rows(read(path, columns={"label": "animal"})) == [(1, 1, "cat"), (2, 1, "dog")]
    with pytest.raises(ValueError, match="there is no question 'animals'; did you mean animal"):
        read(path, question="animals")


def test_the_latest_answer_counts_though_it_stands_first(save, rows):
    lines = [row(1, 1, day=3, animal="dog"), row(1, 1, day=2, animal="cat")]
    assert rows(explain(save("export.csv", table(*lines))).votes) == [(1, 1, "dog")]


def test_without_a_second_opinion_the_answer_is_what_repeats_and_that_is_said(save, rows):
    lines = [row(n, 1, animal="cat" if n % 2 else "dog") for n in range(12)]
    path = save("export.csv", table(*lines))
    with pytest.warns(ReadingWarning, match=r"took 'animal' as the answers, and 'text' as task data, which"):
        assert len(read(path)) == 12
    lines = [{**line, "category": "news" if line["id"] < 6 else "sport"} for line in lines]
    with pytest.raises(ValueError, match="the answers may be in 'animal' or 'category' or 'text'"):
        read(save("two.csv", table(*lines)))


def test_a_column_that_is_filled_without_an_annotation_is_data(save, rows):
    lines = [row(n, 1, animal="cat" if n % 2 else "dog", category="news") for n in range(12)]
    lines.append(row(99, "", category="news"))
    votes = explain(save("export.csv", table(*lines)))
    assert votes.votes.classes.tolist() == ["cat", "dog"]
    assert votes.votes.tasks.tolist()[-1] == 99


def test_a_control_that_is_called_like_a_data_field_is_the_answer(save, rows):
    lines = [row(1, 1, animal="cat", _data_animal="a.png"), row(2, 1, animal="dog", _data_animal="b.png")]
    assert rows(explain(save("export.csv", table(*lines))).votes) == [(1, 1, "cat"), (2, 1, "dog")]


def test_a_comment_is_pointed_out_where_it_is_the_only_thing_that_differs(save):
    lines = [row(n, w, animal=f"cat {n}", why=f"because {n} {w}") for n in range(3) for w in (1, 2)]
    with pytest.warns(ReadingWarning, match=r"took 'why' as the answers, and 'animal', 'text' as task data"):
        read(save("export.csv", table(*lines)))


def test_two_answers_and_a_comment_are_refused_by_name(save):
    lines = [row(1, w, animal="cat" if w > 1 else "dog", why=f"because {w}") for w in (1, 2, 3)]
    path = save("export.csv", table(*lines))
    with pytest.raises(ValueError, match="the answers may be in 'animal' or 'why'"):
        read(path)


def test_a_comment_is_not_taken_where_all_agree_on_the_answer(save):
    lines = [row(n, w, animal="cat", why=f"because {n} {w}") for n in range(6) for w in (1, 2)]
    with pytest.raises(ValueError, match="the answers may be in 'why' or 'animal'"):
        read(save("export.csv", table(*lines)))


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ('[{"rating": 4}]', "4"),
        ('[{"taxonomy": [["pet", "cat"]]}]', "pet/cat"),
        ('{"choices": ["cat"]}', "cat"),
    ],
)
def test_answers_may_be_json(save, cell, label):
    votes = explain(save("export.csv", table(row(1, 1, animal=cell)))).votes
    assert list(map(str, votes.classes)) == [label]


def test_several_choices_are_an_error_with_their_line(save):
    lines = row(1, 1, animal="cat"), row(1, 2, animal='{"choices": ["cat", "dog"]}')
    with pytest.raises(ValueError, match=r"line 3: found 2 labels \(cat, dog\), expected one label"):
        read(save("export.csv", table(*lines)))


def test_boxes_and_lists_of_data_are_no_answers(save, rows):
    box = json.dumps([{"x": 1, "y": 2, "rectanglelabels": ["cat"]}])
    talk = json.dumps([{"author": "ann", "text": "hi"}])
    lines = [row(1, w, box=box, talk=talk, animal="cat" if w > 1 else "dog") for w in (1, 2)]
    assert rows(explain(save("export.csv", table(*lines))).votes) == [(1, 1, "dog"), (1, 2, "cat")]


def test_a_project_without_annotations_lists_its_tasks(save):
    votes = read(save("export.csv", table(row(1, "", category="news"), row(2, "", category="news"))))
    assert (len(votes), votes.tasks.tolist()) == (0, [1, 2])


# Clutter --------------------------------------------------------------------------------------

SAID = st.dictionaries(
    st.tuples(st.integers(0, 14), st.integers(1, 3)), st.sampled_from(["cat", "dog", "emu"]), min_size=1
)
FIELDS = st.dictionaries(
    st.sampled_from(["category", "label", "answer", "user", "class", "score"]),
    st.sampled_from(["constant", "few", "own", "json"]),
)


def value(kind: str, task: int) -> str:
    """Of a data field of a task."""
    return {"constant": "cat", "few": ["cat", "dog"][task % 2], "own": f"v{task}"}.get(
        kind, f'{{"a": {task}}}'
    )


@settings(max_examples=60, deadline=None)
@given(said=SAID, fields=FIELDS, is_minimal=st.booleans(), unlabelled=st.booleans())
def test_the_answers_are_found_among_data_or_the_reading_is_refused(said, fields, is_minimal, unlabelled):
    """Data of any name and kind beside the answers, as CSV and as JSON-MIN; a note counts as a warning."""
    lines = [
        row(task, worker, animal=label, **{name: value(kind, task) for name, kind in fields.items()})
        for (task, worker), label in said.items()
    ]
    if unlabelled:
        data = {name: value(kind, 99) for name, kind in fields.items()}
        lines.append(row(99, None, **data) | {"annotation_id": None})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export"
        path.write_text(json.dumps(lines) if is_minimal else table(*lines))
        found = outcome(path)
        if isinstance(found, str):
            assert "'animal'" in found
        else:
            assert found.notes or by_name(found.votes) == said
        assert by_name(explain(path, question="animal").votes) == said


def outcome(path: Path) -> Reading | str:
    """How it was read, or why it was not."""
    try:
        return explain(path)
    except ValueError as error:
        return str(error)


def by_name(votes: Votes) -> dict[tuple[int, int], str]:
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return {(task, worker): label for task, worker, label in zip(*(c.tolist() for c in columns), strict=True)}
