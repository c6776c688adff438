"""Exports of doccano."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import ReadingWarning, explain, read

pytestmark = pytest.mark.usefixtures("each_engine")


def lines(*records: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, records))


def archive(**files: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name, content in files.items():
            target.writestr(name.replace("_", "."), content)
    return stream.getvalue()


ANN = [{"id": 1, "text": "x", "user": "author", "label": ["cat"]}, {"id": 2, "text": "y", "label": []}]
BOB = [{"id": 1, "text": "x", "user": "author", "label": ["dog"], "Comments": ["#1"]}]
VOTES = [(1, "ann", "cat"), (1, "bob", "dog")]
CSV = "id,text,user,label,Comments\n"


def test_a_folder_has_one_file_for_each_user(save, rows):
    save("export/ann.jsonl", lines(*ANN))
    reading = explain(save("export/bob.jsonl", lines(*BOB)).parent)
    assert rows(reading.votes) == VOTES
    assert reading.votes.tasks.tolist() == [1, 2]
    assert (reading.votes.dropped, reading.left_out) == (1, {"unlabelled": 1})
    assert (reading.notes, reading.origins["worker"]) == ((), "'file name'")


@pytest.mark.parametrize(
    "content",
    [
        archive(ann_jsonl=lines(*ANN), bob_jsonl=lines(*BOB)),
        archive(ann_json=json.dumps(ANN), bob_json=json.dumps(BOB)),
        archive(ann_csv=f"{CSV}1,x,author,cat,\n2,y,author,,\n", bob_csv=f"{CSV}1,x,author,dog,#1\n"),
    ],
    ids=["JSON lines", "JSON", "CSV"],
)
def test_an_archive_is_read_as_it_comes(save, rows, content):
    votes = read(save("export.zip", content))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == [1, 2]


def test_a_file_alone_is_of_one_user_and_that_is_said(save, rows):
    path = save("ann.jsonl", lines({"id": 1, "text": "x", "label": ["cat"]}))
    with pytest.warns(ReadingWarning, match="the only worker is called 'ann' after the file"):
        assert rows(read(path)) == [(1, "ann", "cat")]


@pytest.mark.parametrize("name", ["all.jsonl", "unknown.jsonl", "project/all.jsonl"])
def test_labels_of_everybody_are_not_those_of_one_worker(save, rows, name):
    path = save(name, lines({"id": 1, "text": "x", "label": ["cat"]}))
    source = path.parent if "/" in name else path
    with pytest.raises(ValueError, match=r"holds the labels of all users and does not say who gave which"):
        read(source)
    with pytest.warns(ReadingWarning, match="the only worker"):
        read(save("renamed.jsonl", lines({"id": 1, "text": "x", "label": ["cat"]})))
    assert rows(read(source, columns={"worker": "file name"})) == [(1, path.stem, "cat")]


@pytest.mark.parametrize("field", ["user", "annotator", "username", "annotation_approver"])
def test_an_uploaded_field_is_not_the_worker_unless_it_is_named(save, rows, field):
    path = save("ann.jsonl", lines({"id": 1, "label": ["cat"], field: "author"}))
    with pytest.raises(
        ValueError, match=rf"may be in the field '{field}', or these are uploaded data, and the"
    ):
        read(path)
    assert rows(read(path, columns={"worker": field})) == [(1, "author", "cat")]
    assert rows(read(path, columns={"worker": None})) == [(1, "ann", "cat")]
    shared = save("all.jsonl", lines({"id": 1, "label": ["cat"], field: "author"}))
    with pytest.raises(ValueError, match=rf"does not say who gave which label; .* --columns worker={field}"):
        read(shared)
    with pytest.raises(ValueError, match="there is no field 'name', only"):
        read(path, columns={"worker": "name"})


def test_a_field_that_differs_between_records_of_a_task_is_the_worker(save, rows):
    records = [
        {"id": 1, "label": [name], "annotator": user} for user, name in (("ann", "cat"), ("bob", "dog"))
    ]
    assert rows(read(save("all.jsonl", lines(*records)))) == VOTES


@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "annotations": [{"label": "cat", "user": "ann"}], "meta": {}},
        {"id": 1, "annotations": [{"label": "cat", "user": "ann", "id": 3}], "annotation_approver": "admin"},
    ],
)
def test_older_versions_name_the_user_in_each_annotation(save, rows, record):
    assert rows(read(save("all.jsonl", lines(record)))) == [(1, "ann", "cat")]


@pytest.mark.parametrize(
    "record", [{"id": 1, "labels": ["cat"]}, {"id": 1, "cats": {"cat": 1.0, "dog": 0.0}, "label": "imported"}]
)
def test_labels_may_have_other_names(save, rows, record):
    assert rows(read(save("ann.jsonl", lines(record)), columns={"worker": "file name"})) == [
        (1, "ann", "cat")
    ]


def test_two_lists_of_labels_are_refused_by_name(save, rows):
    path = save("ann.jsonl", lines({"id": 1, "label": ["x"], "cats": ["cat"]}))
    with pytest.raises(ValueError, match=r"the labels may be in 'label' or 'cats'; .* --columns label=label"):
        read(path, columns={"worker": "file name"})
    votes = read(path, columns={"worker": "file name", "label": "cats"})
    assert rows(votes) == [(1, "ann", "cat")]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"id": 1, "label": ["cat", "dog"]}, r"found 2 labels \(cat, dog\) of worker 'ann' about task 1"),
        ({"id": 1, "label": [[0, 5, "NAME"]]}, "task 1 has spans or boxes as labels"),
        (
            {"id": 1, "annotations": [{"label": 1, "user": 2}, {"label": 3, "user": 2}]},
            r"found 2 labels \(1, 3\)",
        ),
    ],
)
def test_more_than_one_label_is_an_error(save, record, problem):
    with pytest.raises(ValueError, match=f"ann.jsonl: {problem}"):
        read(save("ann.jsonl", lines(record)), columns={"worker": "file name"})


def test_labels_that_are_joined_in_csv_are_several_but_a_sign_at_the_end_is_part_of_one(save):
    path = save("export/ann.csv", f"{CSV}1,x,a,C#,\n")
    save("export/bob.csv", f"{CSV}1,x,a,Python,\n")
    assert read(path.parent).classes.tolist() == ["C#", "Python"]
    save("export/bob.csv", f"{CSV}1,x,a,cat#dog,\n")
    with pytest.raises(ValueError, match=r"found 2 labels \(cat, dog\) of worker 'bob'"):
        read(path.parent)


def test_fast_text_is_refused(save):
    with pytest.raises(ValueError, match="fastText has no names of tasks, so that nobody can tell who gave"):
        read(save("ann.txt", '"__label__cat a text, or two "\n__label__dog another\n'))
    with pytest.raises(ValueError, match="fastText has no names of tasks"):
        read(save("export.zip", archive(admin_txt=" a text\n", ann_txt="__label__cat a text\n")))


# Clutter --------------------------------------------------------------------------------------

SAID = st.dictionaries(
    st.tuples(st.integers(1, 5), st.sampled_from(["ann", "bob", "eve"])),
    st.sampled_from(["cat", "dog"]),
    min_size=1,
)
META = st.lists(st.sampled_from(["user", "annotator", "category", "labels", "worker", "class"]), unique=True)


@settings(max_examples=40, deadline=None)
@given(said=SAID, fields=META, kind=st.sampled_from(["jsonl", "json", "csv"]), data=st.data())
def test_the_votes_are_found_among_uploaded_data_or_the_reading_is_refused(said, fields, kind, data):
    users = sorted({user for _, user in said})
    tasks = data.draw(st.permutations(sorted({task for task, _ in said})))
    with tempfile.TemporaryDirectory() as folder:
        for user in users:
            records = [
                {"id": task, "text": f"t{task}", **dict.fromkeys(fields, f"m{task % 2}"),
                 "label": [said[task, user]] if (task, user) in said else [], "Comments": []}
                for task in tasks
            ]  # fmt: skip
            (Path(folder) / f"{user}.{kind}").write_text(written(records, kind))
        found = outcome(Path(folder))
        assert found == said or "--columns" in str(found)
        assert outcome(Path(folder), columns={"worker": "file name"}) == said


def written(records: list[dict[str, Any]], kind: str) -> str:
    if kind == "csv":
        names = list(records[0])
        rows = [[*record.values()] for record in records]
        texts = [["#".join(cell) if isinstance(cell, list) else str(cell) for cell in row] for row in rows]
        return "\n".join(map(",".join, [names, *texts])) + "\n"
    return json.dumps(records) if kind == "json" else lines(*records)


def outcome(path: Path, **options: Any) -> dict[tuple[int, str], str] | str:
    """The votes, a note or an error."""
    try:
        reading = explain(path, **options)
    except ValueError as error:
        return str(error)
    votes = reading.votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    pairs = {(task, user): label for task, user, label in zip(*(c.tolist() for c in columns), strict=True)}
    return next((note for note in reading.notes if "--columns" in note), pairs)
