"""Exports of Label Studio."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from crowdpilot.io import read

pytestmark = pytest.mark.usefixtures("each_engine")


def choice(*labels: str, name: str = "animal") -> dict[str, Any]:
    return {"from_name": name, "to_name": "image", "type": "choices", "value": {"choices": list(labels)}}


def annotation(by: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "completed_by": by, "result": list(results), "lead_time": 2.5, **more}


def task(number: int, *annotations: dict[str, Any]) -> dict[str, Any]:
    return {"id": number, "data": {"image": "x.png"}, "annotations": list(annotations), "predictions": []}


EXPORT = [
    task(7, annotation(1, choice("cat"), created_at="2020-01-01T00:00:00.5Z"), annotation(2, choice("dog"))),
    task(8, annotation(1, choice("cat"), was_cancelled=True), annotation(2)),
    task(9),
    task(10, annotation(2, choice("dog"), ground_truth=True), annotation(1, choice("cat"))),
]
VOTES = [(7, 1, "cat"), (7, 2, "dog"), (10, 2, "dog"), (10, 1, "cat")]


def test_choices_are_votes_and_cancelled_or_empty_annotations_are_not(save, rows):
    votes = read(save("export.json", json.dumps(EXPORT)))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == [7, 8, 9, 10]
    assert votes.dropped == 2
    assert votes.gold.tolist() == [-1, -1, -1, 1]
    np.testing.assert_array_equal(votes.seconds, [2.5] * 4)
    np.testing.assert_array_equal(votes.time, [1577836800.5, *[np.nan] * 3])


def test_workers_may_be_records_and_annotations_completions(save, rows):
    record = {"id": 1, "data": {}, "completions": [annotation({"id": 3, "email": "a@b.c"}, choice("cat"))]}
    assert rows(read(save("export.json", json.dumps([record])))) == [(1, "a@b.c", "cat")]


def test_ratings_are_labels_and_boxes_are_not(save, rows):
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["cat"]}}
    path = save("export.json", json.dumps([task(1, annotation(1, stars, box))]))
    assert rows(read(path)) == [(1, 1, 4)]


def test_of_several_controls_one_has_to_be_named(save, rows):
    record = task(1, annotation(1, choice("cat"), choice("big", name="size")), annotation(2, choice("cat")))
    path = save("export.json", json.dumps([record]))
    votes = read(path, question="size")
    assert rows(votes) == [(1, 1, "big")]
    with pytest.raises(ValueError, match="there are 2 questions, name one with question=: animal, size"):
        read(path)


def test_a_project_without_annotations_lists_its_tasks(save):
    votes = read(save("export.json", json.dumps([task(1), task(2)])))
    assert (len(votes), votes.tasks.tolist()) == (0, [1, 2])


@pytest.mark.parametrize("value", ["cat", {"choices": ["cat"]}])
def test_the_minimal_export_is_read(save, rows, value):
    about = {
        "id": 5,
        "annotator": 1,
        "annotation_id": 9,
        "lead_time": 1.5,
        "created_at": "2020-01-01T00:00:00Z",
    }
    path = save("export.json", json.dumps([{**about, "text": "hello", "choice": value}]))
    votes = read(path)
    assert rows(votes) == [(5, 1, "cat")]
    assert (votes.seconds.tolist(), votes.time.tolist()) == ([1.5], [1577836800])
    other = save("other.json", json.dumps([{**about, "text": "hello", "animal": value}]))
    assert rows(read(other, question="animal")) == [(5, 1, "cat")]
    with pytest.raises(ValueError, match="there are 2 questions, name one with question=: animal, text"):
        read(other)


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (
            task(1, annotation(2, choice("a", "b"))),
            r"found 2 labels \(a, b\) of worker 2 about task 1, expected",
        ),
        (task(1, 3), "cannot be read"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_export_is_an_error(save, record, problem):
    with pytest.raises(ValueError, match=f"export.json: {problem}"):
        read(save("export.json", json.dumps([record])))
