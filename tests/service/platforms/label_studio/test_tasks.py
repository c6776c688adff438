"""Tasks of Label Studio, read and written."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot import io
from crowdpilot.service.platforms.label_studio.config import read_config
from crowdpilot.service.platforms.label_studio.tasks import Item, Vote, read_tasks
from crowdpilot.service.platforms.label_studio.writing import Decision, write_tasks

CLASSES = ["cat", "dog", "owl"]
CONFIG = read_config(
    '<View><Image name="picture" value="$url"/><Choices name="animal" toName="picture">'
    '<Choice value="owl"/><Choice value="dog"/><Choice value="cat"/></Choices></View>'
)


def choice(*labels: str, name: str = "animal") -> dict[str, Any]:
    return {"from_name": name, "to_name": "picture", "type": "choices", "value": {"choices": list(labels)}}


def annotation(number: int, by: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": number, "completed_by": by, "result": list(results), "was_cancelled": False, **more}


def task(number: int, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "data": {"url": "https://x.example/a.png"},
        "annotations": list(annotations),
        **more,
    }


def prediction(score: Any, *labels: str, version: str = "bert") -> dict[str, Any]:
    return {"model_version": version, "score": score, "result": [choice(*labels)]}


def test_an_export_becomes_items_and_votes():
    times = {"lead_time": 2.5, "created_at": "2020-01-01T00:00:00.5Z"}
    ana, cat = {"id": 6, "email": "a@b.c"}, choice("cat")
    export = [
        task(7, annotation(1, 5, choice("dog"), **times), annotation(2, ana, cat)),
        task(8, annotation(3, 5, cat, was_cancelled=True), annotation(4, 5), annotation(5, None, cat)),
        task(9, annotation(6, 5, choice("cat")), annotation(7, 5, choice("owl"), ground_truth=True)),
        task(10, annotation(8, 5, choice("big", name="size"), choice("cat"))),
    ]
    found = read_tasks(export, CLASSES, CONFIG)
    content = {"image": "https://x.example/a.png"}
    assert found.items == [
        ("7", content, None, None),
        ("8", content, None, None),
        ("9", content, None, 2),
        ("10", content, None, None),
    ]
    assert found.votes == [
        ("label_studio-1", "7", "5", 1, 2.5, 1577836800.5, "", False),
        ("label_studio-2", "7", "6", 0, None, None, "", False),
        ("label_studio-7", "9", "5", 2, None, None, "", False),
        ("label_studio-8", "10", "5", 0, None, None, "", False),
    ]
    assert found.skipped == 4


def test_the_votes_are_those_that_the_format_finds_in_the_file(tmp_path):
    export = [
        task(7, annotation(1, 5, choice("dog")), annotation(2, 6, choice("cat"))),
        task(9, annotation(6, 5, choice("cat")), annotation(7, 5, choice("owl"), ground_truth=True)),
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export))
    votes = io.read(path, classes=CLASSES)
    rows = zip(votes.tasks[votes.task], votes.workers[votes.worker], votes.label, strict=True)
    found = read_tasks(export, CLASSES, CONFIG)
    assert {(vote.item, vote.worker, vote.label) for vote in found.votes} == {
        (str(item), str(worker), int(label)) for item, worker, label in rows
    }


@pytest.mark.parametrize(
    ("predictions", "machine"),
    [
        ([prediction(0.8, "dog")], (0.1, 0.8, 0.1)),
        ([prediction(0.8, "dog"), prediction(0.4, "owl")], (0.3, 0.3, 0.4)),
        ([prediction(None, "dog")], None),
        ([prediction("0.8", "dog")], None),
        ([prediction(1.5, "dog")], None),
        ([prediction(-0.5, "dog")], None),
        ([prediction(10**400, "dog")], None),
        ([prediction(0.8)], None),
        ([prediction(0.8, "dog"), prediction(None, "cat")], (0.1, 0.8, 0.1)),
        ([prediction(0.8, "dog", version="crowdpilot")], None),
        ([prediction(0.8, "dog", version="crowdpilot-17")], None),
        (None, None),
    ],
)
def test_a_score_is_a_probability_and_the_rest_is_shared(predictions, machine):
    (item,) = read_tasks([task(1, predictions=predictions)], CLASSES, CONFIG).items
    assert item.machine == (None if machine is None else pytest.approx(machine))


def test_without_a_configuration_text_and_image_are_looked_for():
    data = {"text": "Hoo", "image": "/a.png", "more": 1}
    answer = annotation(1, 5, choice("owl", name="any"))
    found = read_tasks([{"data": data, "annotations": [answer]}], CLASSES)
    assert found.items == [("0", {"text": "Hoo", "image": "/a.png"}, None, None)]
    assert found.votes[0][1:4] == ("0", "5", 2)


@pytest.mark.parametrize(
    ("export", "problem"),
    [
        ({}, "tasks are not a list of records"),
        ([3], "tasks are not a list of records"),
        ([task(1), task(1)], "two tasks called 1"),
        ([{"id": 1, "data": {"text": "x"}}], "task 1 has no url in its data"),
        ([{"id": 1, "data": {"url": 3}}], "task 1 has no url in its data"),
        ([{"id": 1, "data": []}], "task 1 has no url in its data"),
        ([task(1, annotation(1, 5, choice("cow")))], "task 1 has an answer that is not one of cat, dog, owl"),
        ([task(1, annotation(1, 5, choice("cat", "dog")))], "not one of cat, dog, owl"),
        ([task(1, annotation(1, 5, choice("cat"), choice("dog")))], "not one of cat, dog, owl"),
        ([task(1, {"completed_by": 5, "result": 3})], "results of task 1 are not a list"),
        ([task(1, predictions=[prediction(0.5, "cow")])], "not one of cat, dog, owl"),
        ([{**task(1), "annotations": {"a": 1}}], "annotations of task 1 are not a list"),
    ],
)
def test_an_export_that_does_not_fit_is_refused(export, problem):
    with pytest.raises(ValueError, match=problem):
        read_tasks(export, CLASSES, CONFIG)


FIELDS = (
    "id data url annotations predictions result value choices type from_name score completed_by email "
    "lead_time created_at model_version crowdpilot_item"
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["cat", "animal", "choices"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS.split()), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(JSON)
def test_whatever_is_sent_is_read_or_refused_in_a_sentence(export):
    try:
        found = read_tasks(export, CLASSES, CONFIG)
    except ValueError:
        return
    assert all(vote.label in range(3) for vote in found.votes)


def test_answers_within_answers_without_end_are_refused():
    value: Any = "cat"
    for _ in range(2000):
        value = [value]
    deep = {"from_name": "animal", "type": "choices", "value": value}
    with pytest.raises(ValueError, match="not one of"):
        read_tasks([task(1, annotation(1, 5, deep))], CLASSES, CONFIG)


ITEMS = [
    Item("a", {"text": "Meow"}),
    Item("b", {"text": "Hoo", "image": "/f/b.png"}),
    Item("7", {"image": "https://x/c"}),
]


def test_tasks_are_written_as_label_studio_takes_them():
    votes = [Vote("k", "a", "w1", 0, 1.5, 0.0), Vote("", "a", "5", 1)]
    tasks = write_tasks(
        ITEMS[:2], votes, {"a": Decision(0, 0.9)}, CLASSES, users={"5": 5}, address="https://label.example"
    )
    chosen = {"from_name": "label", "to_name": "text", "type": "choices"}
    cat, dog = ({**chosen, "value": {"choices": [name]}} for name in ("cat", "dog"))
    about = {"was_cancelled": False, "ground_truth": False}
    assert tasks == [
        {
            "data": {"text": "Meow", "crowdpilot_item": "a"},
            "annotations": [
                {**about, "created_at": "1970-01-01T00:00:00+00:00", "lead_time": 1.5,
                 "crowdpilot_worker": "w1", "result": [cat]},
                {**about, "completed_by": 5, "lead_time": None, "crowdpilot_worker": "5", "result": [dog]},
            ],
            "predictions": [{"model_version": "crowdpilot", "score": 0.9, "result": [cat]}],
        },
        {
            "data": {"text": "Hoo", "image": "https://label.example/f/b.png", "crowdpilot_item": "b"},
            "annotations": [],
            "predictions": [],
        },
    ]  # fmt: skip


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["a", "b", "7"]), st.text(min_size=1)),
        st.tuples(
            st.integers(0, 2),
            st.none() | st.floats(0, 86_400),
            st.none() | st.datetimes(datetime(1990, 1, 1)),
        ),
    ),
    st.sampled_from([None, CONFIG._replace(fields={"text": "words", "image": "url"})]),
)
def test_what_is_written_is_read_back(votes_of_task, config):
    votes = [
        Vote("", item, worker, label, seconds, time and time.replace(tzinfo=UTC).timestamp())
        for (item, worker), (label, seconds, time) in votes_of_task.items()
    ]
    tasks = json.loads(json.dumps(write_tasks(ITEMS, votes, {"b": Decision(2, 1.0)}, CLASSES, config)))
    found = read_tasks(tasks, CLASSES, config)
    assert found.items == ITEMS
    assert sorted(found.votes) == sorted(
        vote._replace(time=vote.time if vote.time is None else pytest.approx(vote.time)) for vote in votes
    )


def test_an_item_that_the_configuration_does_not_show_is_refused():
    with pytest.raises(ValueError, match="item a has no image; write a configuration that shows what it has"):
        write_tasks(ITEMS, [], {}, CLASSES, CONFIG)


def shown(data: dict[str, Any], address: str = "", **fields: str) -> dict[str, str]:
    """What is taken of the data of a task by a configuration with these fields."""
    config = CONFIG._replace(fields=fields)
    [item] = read_tasks([{"id": 1, "data": data}], CLASSES, config, address=address).items
    return item.content


def test_any_field_is_read_also_one_within_another():
    assert shown({"words": "Hoo"}, text="words") == {"text": "Hoo"}
    assert shown({"page": {"body": "<b>Hoo</b>"}}, text="page.body") == {"text": "<b>Hoo</b>"}
    assert shown({"n": 7}, text="n") == {"text": "7"}
    said = [{"author": "Ann", "text": "Hello"}, {"name": "Bob", "dialogue": "Hi"}, {"text": "..."}]
    assert shown({"talk": said}, text="talk") == {"text": "Ann: Hello\nBob: Hi\n..."}
    assert shown({"table": {"a": 1}}, text="table") == {"text": '{"a": 1}'}


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("https://x.example/a.png", {"image": "https://x.example/a.png"}),
        ("/data/upload/3/a.png", {"image": "https://studio.example/ls/data/upload/3/a.png"}),
        ("/data/local-files/?d=a.png", {"image": "https://studio.example/ls/data/local-files/?d=a.png"}),
        ("s3://bucket/a.png", {"text": "s3://bucket/a.png"}),
        ("gs://bucket/a.png", {"text": "gs://bucket/a.png"}),
        (["https://x.example/a.png", "https://x.example/b.png"], {"image": "https://x.example/a.png"}),
    ],
)
def test_files_of_the_server_get_its_address_and_those_in_buckets_are_named(value, content):
    assert shown({"picture": value}, "https://studio.example/ls/", image="picture") == content


@pytest.mark.parametrize(
    ("data", "content"),
    [
        ({"review": "Hoo"}, {"text": "Hoo"}),
        ({"url": "https://x.example/a.PNG?size=3"}, {"image": "https://x.example/a.PNG?size=3"}),
        ({"clip": "https://x.example/a.mp3", "n": 3}, {"audio": "https://x.example/a.mp3"}),
        ({"review": "Hoo", "crowdpilot_label": "owl"}, {"text": "Hoo"}),
    ],
)
def test_the_only_text_of_a_task_is_taken_where_no_configuration_is_known(data, content):
    [item] = read_tasks([{"id": 1, "data": data}], CLASSES).items
    assert item.content == content


def test_two_texts_could_be_meant_and_are_refused():
    with pytest.raises(ValueError, match="task 1 has no text or image or audio or video in its data"):
        read_tasks([{"id": 1, "data": {"title": "a", "body": "b"}}], CLASSES)


def test_predictions_may_be_numbers_alone():
    """As in an export without predictions in full (Label Studio 1.23.2)."""
    [item] = read_tasks([task(1, predictions=[1, 81])], CLASSES, CONFIG).items
    assert item.machine is None


def test_the_later_of_two_annotations_counts_whatever_their_order():
    late = annotation(1, 5, choice("dog"), updated_at="2026-01-02T00:00:00Z")
    early = annotation(2, 5, choice("cat"), updated_at="2026-01-01T00:00:00Z")
    for both in ([late, early], [early, late]):
        [vote] = read_tasks([task(1, *both)], CLASSES, CONFIG).votes
        assert vote.label == 1
