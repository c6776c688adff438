"""Assignments of a Toloka pool."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import explain, read

pytestmark = pytest.mark.usefixtures("each_engine")

HEADER = (
    "INPUT:image\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:link\tASSIGNMENT:task_id\t"
    "ASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:submitted\n"
)
TSV = HEADER + (
    "a.png\tcat\t\t\thttp\tt1\ta1\tw1\tAPPROVED\t2020-01-01T00:00:00.500\n"
    "b.png\tdog\tcat\t\thttp\tt2\ta1\tw1\tAPPROVED\t2020-01-01T00:00:00.500\n"
    "\n"
    "a.png\tdog\t\t\thttp\tt1\ta2\tw2\tREJECTED\t2020-01-01T00:00:00.500\n"
    "b.png\tcat\tcat\t\thttp\tt2\ta3\tw3\tSUBMITTED\t2020-01-01T00:00:02.000\n"
)
VOTES = [("t1", "w1", "cat"), ("t2", "w1", "dog"), ("t2", "w3", "cat")]


def test_outputs_are_votes_and_golden_values_are_true_labels(save, rows):
    reading = explain(save("assignments.tsv", TSV))
    votes = reading.votes
    assert rows(votes) == VOTES
    assert (votes.dropped, reading.left_out) == (1, {"rejected": 1})
    assert votes.classes[votes.gold[1]] == "cat"
    assert votes.gold[0] == -1
    np.testing.assert_allclose(votes.time, [1577836800.5, 1577836800.5, 1577836802])


def test_without_an_id_the_only_input_is_the_task(save, rows):
    content = TSV.replace("ASSIGNMENT:task_id", "ASSIGNMENT:other")
    assert read(save("assignments.tsv", content)).tasks.tolist() == ["a.png", "b.png"]
    several = content.replace("HINT:text", "INPUT:text")
    with pytest.raises(ValueError, match="found no task column among 'INPUT:image'"):
        read(save("several.tsv", several))
    assert read(save("several.tsv", several), columns={"task": "INPUT:image"}).tasks.tolist() == [
        "a.png",
        "b.png",
    ]


def test_of_several_outputs_one_has_to_be_named(save, rows):
    path = save("assignments.tsv", TSV.replace("HINT:text", "OUTPUT:comment"))
    assert rows(read(path, question="result")) == VOTES
    with pytest.raises(ValueError, match="there are 2 questions, name one with question=: result, comment"):
        read(path)
    votes = read(path, columns={"label": "OUTPUT:result"})
    assert rows(votes) == VOTES


def test_a_file_without_the_optional_columns_is_read(save, rows):
    lines = [line.split("\t") for line in TSV.splitlines() if line]
    content = "\n".join("\t".join((line[1], line[5], line[7])) for line in lines)
    assert len(read(save("assignments.tsv", content))) == 4


SAID = st.dictionaries(
    st.tuples(st.sampled_from(["t1", "t2", "t3"]), st.sampled_from(["w1", "w2"])),
    st.sampled_from(["cat", "dog"]),
    min_size=1,
)
FIELDS = st.lists(st.sampled_from(["INPUT:label", "INPUT:worker", "HINT:text", "label", "task"]), unique=True)


@settings(max_examples=30, deadline=None)
@given(said=SAID, fields=FIELDS, void=st.sampled_from(["REJECTED", "SKIPPED", "EXPIRED"]), data=st.data())
def test_the_votes_are_found_among_clutter(said, fields, void, data):
    lines = [
        {"ASSIGNMENT:task_id": task, "ASSIGNMENT:worker_id": worker, "OUTPUT:result": label,
         "ASSIGNMENT:status": "APPROVED", **dict.fromkeys(fields, "dog")}
        for (task, worker), label in said.items()
    ]  # fmt: skip
    lines.append({**lines[0], "ASSIGNMENT:worker_id": "w9", "ASSIGNMENT:status": void})
    names = data.draw(st.permutations([*lines[0]]))
    rows = [names, *([line[name] for name in names] for line in data.draw(st.permutations(lines)))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "assignments.tsv"
        path.write_text("\n\n".join(map("\t".join, rows)))
        reading = explain(path)
    votes = reading.votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    assert {(t, w): label for t, w, label in zip(*(c.tolist() for c in columns), strict=True)} == said
    assert reading.left_out == {void.lower(): 1}
