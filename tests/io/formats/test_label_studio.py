"""Exports of Label Studio."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import ReadingWarning, explain, read

pytestmark = pytest.mark.usefixtures("each_engine")


def choice(*labels: str, name: str = "animal") -> dict[str, Any]:
    return {"from_name": name, "to_name": "image", "type": "choices", "value": {"choices": list(labels)}}


def annotation(by: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "completed_by": by, "result": list(results), "lead_time": 2.5, **more}


def task(number: int, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    image = {"image": "x.png", "label": "imported"}
    return {"id": number, "data": image, "annotations": list(annotations), "predictions": [], **more}


EXPORT = [
    task(7, annotation(1, choice("cat"), created_at="2020-01-01T00:00:00.5Z"), annotation(2, choice("dog"))),
    task(8, annotation(1, choice("cat"), was_cancelled=True), annotation(2)),
    task(9),
    task(10, annotation(2, choice("dog"), ground_truth=True), annotation(1, choice("cat"))),
]
VOTES = [(7, 1, "cat"), (7, 2, "dog"), (10, 2, "dog"), (10, 1, "cat")]


def test_choices_are_votes_and_cancelled_or_empty_annotations_are_not(save, rows):
    reading = explain(save("export.json", json.dumps(EXPORT)))
    votes = reading.votes
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == [7, 8, 9, 10]
    assert votes.dropped == 2
    assert reading.left_out == {"cancelled": 1, "empty": 1}
    assert votes.gold.tolist() == [-1, -1, -1, 1]
    np.testing.assert_array_equal(votes.seconds, [2.5] * 4)
    np.testing.assert_array_equal(votes.time, [1577836800.5, *[np.nan] * 3])


def test_drafts_and_what_a_reviewer_has_rejected_are_no_votes(save, rows):
    drafts = [{"id": 5, "user": "ann@x.org", "result": [choice("dog")]}, 6]
    rejected = annotation(2, choice("dog"), reviews=[{"accepted": True}, {"accepted": False}])
    accepted = annotation(3, choice("dog"), reviews=[{"accepted": False}, {"accepted": True}])
    record = task(1, annotation(1, choice("cat")), rejected, accepted, drafts=drafts)
    reading = explain(save("export.json", json.dumps([record])))
    assert rows(reading.votes) == [(1, 1, "cat"), (1, 3, "dog")]
    assert reading.left_out == {"rejected by a reviewer": 1, "draft": 2}
    assert reading.votes.dropped == 3


@pytest.mark.parametrize("predictions", [[1, 81], [{"id": 1, "result": [choice("dog")]}]])
def test_predictions_are_no_votes(save, rows, predictions):
    record = task(1, annotation(1, choice("cat")), predictions=predictions)
    assert rows(read(save("export.json", json.dumps([record])))) == [(1, 1, "cat")]
    only = explain(save("only.json", json.dumps([task(1, predictions=predictions)])))
    assert (len(only.votes), only.votes.tasks.tolist()) == (0, [1])
    assert only.notes == ("there are predictions and no annotations; predictions of models are no votes",)


def test_annotations_that_began_as_a_prediction_are_named(save, rows):
    begun = annotation(1, choice("cat"), parent_prediction=81)
    path = save("export.json", json.dumps([task(1, begun, annotation(2, choice("dog")))]))
    with pytest.warns(ReadingWarning, match="1 of 2 annotations began as a prediction of a model"):
        assert rows(read(path)) == [(1, 1, "cat"), (1, 2, "dog")]


def test_the_edit_of_a_reviewer_is_the_vote_of_the_reviewer(save, rows):
    edited = annotation(2, choice("dog"), parent_annotation=1)
    path = save("export.json", json.dumps([task(1, annotation(1, choice("cat")), edited)]))
    assert rows(read(path)) == [(1, 1, "cat"), (1, 2, "dog")]


def test_a_later_edit_counts_wherever_it_stands(save, rows):
    later = annotation(1, choice("dog"), created_at="2020-01-01T00:00:00Z", updated_at="2020-01-03T00:00:00Z")
    other = annotation(1, choice("cat"), created_at="2020-01-02T00:00:00Z", updated_at="2020-01-02T00:00:00Z")
    for pair in ([later, other], [other, later]):
        assert rows(read(save("export.json", json.dumps([task(1, *pair)])))) == [(1, 1, "dog")]


def test_workers_may_be_records_and_annotations_completions(save, rows):
    record = {"id": 1, "data": {}, "completions": [annotation({"id": 3, "email": "a@b.c"}, choice("cat"))]}
    assert rows(read(save("export.json", json.dumps([record])))) == [(1, "a@b.c", "cat")]


def test_a_user_is_one_worker_however_it_is_written(save):
    users = [3, "3", {"id": 3, "email": "a@b.c"}, "a@b.c", {"id": 3}, {"email": "a@b.c"}]
    records = [task(n, annotation(user, choice("cat"))) for n, user in enumerate(users)]
    votes = read(save("export.json", json.dumps(records)))
    assert (votes.workers.tolist(), len(votes)) == (["a@b.c"], 6)


def test_ratings_are_labels_and_boxes_are_not(save, rows):
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["cat"]}}
    of_box = {"from_name": "colour", "type": "choices", "value": {"x": 1, "y": 2, "choices": ["red"]}}
    words = {"from_name": "why", "type": "textarea", "value": {"text": ["it purrs"]}}
    path = save("export.json", json.dumps([task(1, annotation(1, stars, box, of_box, words))]))
    assert rows(read(path)) == [(1, 1, 4)]
    path = save("boxes.json", json.dumps([task(1, annotation(1, box, words))]))
    with pytest.raises(ValueError, match="found results of rectanglelabels, textarea only, expected choices"):
        read(path)


def test_a_path_in_a_taxonomy_is_one_label(save, rows):
    path = {"from_name": "kind", "type": "taxonomy", "value": {"taxonomy": [["animal", "cat"]]}}
    both = {**path, "value": {"taxonomy": [["animal", "cat"], ["animal", "dog"]]}}
    assert rows(read(save("one.json", json.dumps([task(1, annotation(1, path))])))) == [(1, 1, "animal/cat")]
    with pytest.raises(ValueError, match=r"found 2 labels \(animal/cat, animal/dog\)"):
        read(save("two.json", json.dumps([task(1, annotation(1, both))])))


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


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (
            task(1, annotation(2, choice("a", "b"))),
            r"found 2 labels \(a, b\) of worker 2 about task 1, expected",
        ),
        (task(1, 3), r"task 1 has the number of an annotation \(3\) instead of the annotation"),  # type: ignore[arg-type]
        ({**task(1), "annotations": [annotation(1, 3)]}, "cannot be read"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_export_is_an_error(save, record, problem):
    with pytest.raises(ValueError, match=f"export.json: {problem}"):
        read(save("export.json", json.dumps([record])))


# JSON-MIN -------------------------------------------------------------------------------------


def minimal(number: int, by: Any, day: int = 1, **fields: Any) -> dict[str, Any]:
    times = {"created_at": f"2020-01-0{day}T00:00:00Z", "updated_at": f"2020-01-0{day}T00:00:01Z"}
    return {"text": f"text {number}", "id": number, **fields, "annotator": by, "annotation_id": 9, **times}


@pytest.mark.parametrize("answer", ["cat", {"choices": ["cat"]}])
def test_what_differs_within_a_task_is_the_answer_and_not_a_field_called_category(save, rows, answer):
    records = [minimal(n, by, category="news") for n in range(6) for by in (1, 2)]
    answers = [{**record, "animal": "dog"} for record in records]
    answers[0]["animal"], answers[5]["animal"] = answer, "cat"
    votes = read(save("export.json", json.dumps(answers)))
    assert rows(votes)[:2] == [(0, 1, "cat"), (0, 2, "dog")]
    assert votes.classes.tolist() == ["cat", "dog"]


def test_the_newest_answer_counts_though_it_stands_first(save, rows):
    records = [minimal(1, 1, day=3, animal="dog"), minimal(1, 1, day=2, animal="cat")]
    votes = explain(save("export.json", json.dumps(records))).votes
    assert rows(votes) == [(1, 1, "dog")]
    assert votes.time.tolist() == [1578009601]


def test_answers_that_cannot_be_told_from_data_are_refused(save, rows):
    path = save("export.json", json.dumps([minimal(5, 1, category="news", animal="cat")]))
    with pytest.raises(ValueError, match=r"may be in 'text' or 'category' or 'animal'.*\(--question text\)"):
        read(path)
    assert rows(read(path, question="animal")) == [(5, 1, "cat")]
    with pytest.raises(ValueError, match="there is no question 'annotation_id'"):
        read(path, question="annotation_id")


def test_ratings_and_taxonomies_are_answers_in_the_minimal_export(save, rows):
    records = [minimal(5, 1, stars=[{"rating": 4}]), minimal(6, 1, stars=[{"rating": 2}])]
    assert rows(explain(save("export.json", json.dumps(records))).votes) == [(5, 1, 4), (6, 1, 2)]
    records = [minimal(5, 1, kind=[{"taxonomy": [["animal", "cat"]]}])]
    assert rows(explain(save("export.json", json.dumps(records))).votes) == [(5, 1, "animal/cat")]


def test_tasks_without_annotations_are_in_the_minimal_export(save):
    records = [{**minimal(n, None), "annotation_id": None} for n in (1, 2)]
    votes = read(save("export.json", json.dumps(records)))
    assert (len(votes), votes.tasks.tolist()) == (0, [1, 2])


# Clutter --------------------------------------------------------------------------------------

PAIRS = st.dictionaries(
    st.tuples(st.integers(1, 5), st.integers(1, 4)), st.sampled_from(["cat", "dog", "NO", "1"]), min_size=1
)
CLUTTER = st.sampled_from(["label", "annotator", "answer", "choices", "text", "animal", "id"])


@settings(max_examples=40, deadline=None)
@given(said=PAIRS, fields=st.lists(CLUTTER, unique=True), data=st.data())
def test_the_votes_are_found_among_clutter(said, fields, data):
    """Uploaded data of any name, users in three ways, other controls, drafts, cancelled ones, any order."""
    users: dict[int, list[Any]] = {n: [n, str(n), {"id": n, "email": f"{n}@x.org"}] for n in range(1, 5)}
    records = []
    for number in sorted({task for task, _ in said}):
        labelled = [(worker, label) for (task, worker), label in said.items() if task == number]
        annotations = [
            annotation(data.draw(st.sampled_from(users[worker])), *extra, choice(label))
            for worker, label in labelled
            for extra in ([], [{"from_name": "why", "type": "textarea", "value": {"text": ["x"]}}])[:1]
        ]
        annotations.append(annotation(9, choice("dog"), was_cancelled=True))
        record = task(number, *data.draw(st.permutations(annotations)), drafts=[4])
        records.append(record | {"data": dict.fromkeys(fields, "dog"), "predictions": [1, 81]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.json"
        path.write_text(json.dumps(data.draw(st.permutations(records))))
        votes = explain(path).votes
    found = zip(
        votes.tasks[votes.task].tolist(), votes.workers[votes.worker].tolist(),
        votes.classes[votes.label].tolist(), strict=True,
    )  # fmt: skip
    assert {(task, str(worker)[:1], str(label)) for task, worker, label in found} == {
        (task, str(worker), label) for (task, worker), label in said.items()
    }
