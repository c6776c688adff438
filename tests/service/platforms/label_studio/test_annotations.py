"""Annotations of Label Studio as votes: whose they are, and which are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.platforms.label_studio.annotations import (
    own_predictions,
    read_vote,
    users_of,
    worker_of,
)
from crowdpilot.service.platforms.label_studio.config import any_config
from crowdpilot.service.platforms.label_studio.tasks import read_tasks

CLASSES = ["negative", "neutral", "positive"]
CONFIG = any_config(CLASSES)
CORPUS = Path(__file__).parents[3] / "io" / "corpus"
CREATED = "2026-01-01T00:00:00Z"


def result(label: str) -> list[dict[str, Any]]:
    return [{"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": [label]}}]


def annotation(label: str = "positive", **more: Any) -> dict[str, Any]:
    given = {"id": 4, "completed_by": 2, "updated_by": 2, "created_at": CREATED, "updated_at": CREATED}
    return {**given, "result": result(label), **more}


@pytest.mark.parametrize(
    ("by", "name"),
    [
        (7, "7"),
        ({"id": 7, "email": "Ann@example.org"}, "7"),
        ({"id": 7}, "7"),
        ({"email": "Ann@example.org"}, "7"),
        ("ann@example.org", "7"),
        ({"email": "bob@example.org"}, "bob@example.org"),
        (None, None),
        ({}, None),
        (True, None),
        ([], None),
    ],
)
def test_a_worker_is_a_user_whatever_the_payload_calls_them(by: Any, name: str | None) -> None:
    users = users_of([{"completed_by": {"id": 7, "email": "ann@Example.org"}}, {"completed_by": 3}])
    assert worker_of(by, users) == name


def test_an_annotation_that_repeats_a_prediction_of_ours_is_no_vote() -> None:
    shown = {"id": 9, "model_version": "crowdpilot-00000003", "result": result("positive")}
    other = {"id": 10, "model_version": "bert", "result": result("positive")}
    own = own_predictions([shown, other, 81], "x", CLASSES, CONFIG)
    assert own == {9: 2}
    assert read_vote(annotation(parent_prediction=9), "x", CLASSES, CONFIG, own=own) is None
    assert read_vote(annotation(parent_prediction=9, prediction=shown), "x", CLASSES, CONFIG) is None
    assert read_vote(annotation("neutral", parent_prediction=9), "x", CLASSES, CONFIG, own=own)
    assert read_vote(annotation(parent_prediction=10, prediction=other), "x", CLASSES, CONFIG, own=own)
    assert read_vote(annotation(parent_prediction=None), "x", CLASSES, CONFIG, own=own)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ("", False)),
        ({"updated_by": None}, ("", False)),
        ({"updated_by": 5}, ("5", False)),  # written down for somebody else
        ({"updated_by": 5, "updated_at": "2026-01-01T00:05:00Z"}, ("5", True)),
        ({"updated_by": 5, "updated_at": "2026-01-01T00:05:00Z", "ground_truth": True}, ("5", False)),
        ({"updated_by": 2, "updated_at": "2026-01-01T00:05:00Z"}, ("", False)),
    ],
)
def test_what_somebody_else_has_changed_later_is_an_edit(
    more: dict[str, Any], expected: tuple[str, bool]
) -> None:
    vote = read_vote(annotation(**more), "x", CLASSES, CONFIG)
    assert vote is not None
    assert (vote.worker, vote.changed_by, vote.is_edit) == ("2", *expected)


@pytest.mark.parametrize("name", ["label-studio-json", "label-studio-snapshot"])
def test_an_export_of_label_studio_itself_has_the_votes_that_it_has(name: str) -> None:
    export = json.loads((CORPUS / name / "export.json").read_text())
    votes = json.loads((CORPUS / name / "votes.json").read_text())
    found = read_tasks(export, CLASSES)
    assert sorted((v.item, v.worker, CLASSES[v.label]) for v in found.votes) == sorted(
        (str(task), str(worker), label) for task, worker, label in votes
    )
