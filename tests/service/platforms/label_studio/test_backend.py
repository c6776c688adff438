"""The service as a machine learning backend of Label Studio."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.platforms.label_studio.backend import (
    changes,
    health,
    is_password,
    password,
    predict,
    requested_items,
    setup,
)
from crowdpilot.service.platforms.label_studio.config import read_config, write_config
from crowdpilot.service.platforms.label_studio.writing import write_result

CLASSES = ["cat", "dog"]
XML = (
    '<View><Text name="words" value="$text"/><Choices name="animal" toName="words" choice="single">'
    '<Choice value="dog"/><Choice value="cat"/></Choices></View>'
)
CONFIG = read_config(XML)._replace(classes=tuple(CLASSES))
COW = write_result(0, CONFIG._replace(classes=("cow",)))


def event(action: str, **more: Any) -> dict[str, Any]:
    return {"action": action, "project": {"id": 2, "title": "Animals", "label_config": XML}, **more}


def annotation(label: int | None = 0, **more: Any) -> dict[str, Any]:
    results = [] if label is None else [write_result(label, CONFIG)]
    times = {"created_at": "1970-01-01T00:00:10Z", "updated_at": "1970-01-01T00:00:20Z", "lead_time": 3.5}
    given = {"id": 17, "task": 19, "completed_by": 1, "was_cancelled": False, "ground_truth": False}
    return {**given, **times, "result": results, **more}


def test_only_the_password_of_the_project_opens_it():
    secret = "s" * 32
    word = password(secret, "birds")
    assert word.replace("-", "").replace("_", "").isalnum()
    assert len(word) >= 40
    assert is_password(secret, "birds", word)
    assert not is_password(secret, "fish", word)
    assert not is_password("t" * 32, "birds", word)
    for position, character in enumerate(word):
        for other in {"A", "B", "\ud800", ""} - {character}:
            assert not is_password(secret, "birds", word[:position] + other + word[position + 1 :])


def test_health_says_that_it_is_up():
    assert health()["status"] == "UP"


def test_setup_answers_with_the_version_if_the_choices_fit():
    body = {
        "project": "2.1600000000",
        "schema": XML,
        "hostname": "https://studio.example",
        "access_token": "t",
    }
    assert setup(body, CLASSES) == {"model_version": "crowdpilot"}
    assert setup(body, CLASSES, version="crowdpilot-9") == {"model_version": "crowdpilot-9"}
    assert setup({"schema": write_config(CLASSES)}, CLASSES) == {"model_version": "crowdpilot"}
    with pytest.raises(
        ValueError, match="the choices in Label Studio are not those of the project; use cat, owl"
    ):
        setup(body, ["cat", "owl"])
    with pytest.raises(ValueError, match="the request has no schema"):
        setup({}, CLASSES)


def test_there_is_a_prediction_for_each_task_in_its_order():
    tasks = [
        {"id": 1, "data": {"text": "Meow", "crowdpilot_item": "m"}},
        {"id": 2, "data": {"text": "?"}},
        {"id": 3, "data": {"text": "Woof"}},
    ]
    body = {"tasks": tasks, "label_config": XML, "project": "2.16", "params": {"context": None}}
    assert requested_items(body) == ["m", "2", "3"]
    answer = predict(body, {"m": [0.75, 0.25], "3": (0.1, 0.9)}, CLASSES, version="crowdpilot-9")
    chosen = {"from_name": "animal", "to_name": "words", "type": "choices"}
    version = {"model_version": "crowdpilot-9"}
    assert answer == {
        "model_version": "crowdpilot-9",
        "results": [
            {**version, "score": 0.75, "result": [{**chosen, "value": {"choices": ["cat"]}}]},
            {**version, "score": 0.0, "result": []},
            {**version, "score": 0.9, "result": [{**chosen, "value": {"choices": ["dog"]}}]},
        ],
    }


@pytest.mark.parametrize("body", [{"label_config": XML}, {"label_config": XML, "tasks": [1]}, {"tasks": []}])
def test_a_request_without_tasks_or_configuration_is_refused(body):
    with pytest.raises(ValueError, match=r"tasks are not a list|has no label_config"):
        predict(body, {}, CLASSES)


def test_a_new_annotation_is_a_vote():
    body = event("ANNOTATION_CREATED", annotation=annotation(1), task={"id": 19, "data": {"text": "Woof"}})
    vote = ("label_studio-17", "19", "1", 1, 3.5, 20.0, "", False)
    assert changes(body, CLASSES) == [("add", "label_studio-17", vote)]


def test_the_item_is_the_one_that_we_called_so():
    data = {"text": "Woof", "crowdpilot_item": "w"}
    body = event("ANNOTATION_CREATED", annotation=annotation(1), task={"id": 19, "data": data})
    (change,) = changes(body, CLASSES)
    assert change.vote is not None
    assert change.vote.item == "w"


def test_several_annotations_may_come_at_once():
    tasks = [{"id": 19, "data": {"crowdpilot_item": "w"}}, {"id": 20, "data": {}}]
    several = [annotation(1), annotation(0, id=18, task=20)]
    found = changes(event("ANNOTATIONS_CREATED", annotation=several, task=tasks), CLASSES)
    assert [(change.action, change.key, change.vote and change.vote.item) for change in found] == [
        ("add", "label_studio-17", "w"),
        ("add", "label_studio-18", "20"),
    ]


def test_a_changed_annotation_changes_the_vote_or_takes_it_back():
    vote = ("label_studio-17", "19", "1", 0, 3.5, 20.0, "", False)
    assert changes(event("ANNOTATION_UPDATED", annotation=annotation(0)), CLASSES) == [
        ("change", "label_studio-17", vote)
    ]
    for nothing in (annotation(None), annotation(0, was_cancelled=True)):
        body = event("ANNOTATION_UPDATED", annotation=nothing)
        assert changes(body, CLASSES) == [("remove", "label_studio-17", None)]


def test_an_annotation_that_says_nothing_is_no_vote():
    for nothing in (annotation(None), annotation(0, was_cancelled=True)):
        assert changes(event("ANNOTATION_CREATED", annotation=nothing), CLASSES) == []


def test_deleted_annotations_take_votes_back_by_their_key():
    body = event("ANNOTATIONS_DELETED", annotations=[{"id": 17}, {"id": 18}, {}])
    assert changes(body, CLASSES) == [
        ("remove", "label_studio-17", None),
        ("remove", "label_studio-18", None),
    ]


@pytest.mark.parametrize(
    "action", ["PROJECT_UPDATED", "TASKS_CREATED", "TASKS_DELETED", "START_TRAINING", None]
)
def test_other_events_do_nothing(action):
    assert changes(event(action, tasks=[{"id": 1}]), CLASSES) == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({}, "annotation are not a list"),
        ({"annotation": annotation(id=None)}, "has no id or no task"),
        ({"annotation": annotation(task=None)}, "has no id or no task"),
        ({"annotation": annotation(result=[COW])}, "not one of cat, dog"),
        ({"annotation": annotation(), "project": {"label_config": "<View/>"}}, "has 0 single choices"),
    ],
)
def test_an_event_that_does_not_fit_is_refused(more, problem):
    with pytest.raises(ValueError, match=problem):
        changes({**event("ANNOTATION_CREATED"), **more}, CLASSES)


def test_without_a_configuration_any_choice_counts():
    body = {"action": "ANNOTATION_CREATED", "annotation": annotation(1)}
    assert [change.action for change in changes(body, CLASSES)] == ["add"]


JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["cat", "animal", "choices", XML]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["id", "task", "data", "result", "value", "choices", "type", "label_config"]),
            inner,
        )
    ),
    max_leaves=10,
)
ACTIONS = ["ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"]


@given(
    st.fixed_dictionaries(
        {"action": st.sampled_from(ACTIONS)},
        optional=dict.fromkeys(
            ["annotation", "annotations", "task", "project", "tasks", "label_config"], JSON
        ),
    )
)
def test_whatever_is_sent_is_understood_or_refused_in_a_sentence(body):
    for answer in (lambda: changes(body, CLASSES), lambda: predict(body, {}, CLASSES)):
        try:
            answer()
        except ValueError:
            continue
