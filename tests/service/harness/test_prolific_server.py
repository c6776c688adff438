"""The server that stands in for Prolific is as strict as its schema."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.harness.prolific_server import TOKEN, Prolific

CODE = {"code": "C1", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}
STUDY: dict[str, Any] = {
    "name": "Films", "description": "Good or bad?", "external_study_url": "https://label.example/w",
    "prolific_id_option": "url_parameters", "completion_codes": [CODE], "total_available_places": 4,
    "estimated_completion_time": 6, "reward": 120,
}  # fmt: skip


def send(prolific: Prolific, method: str, path: str, body: Any = None) -> int:
    return prolific.answer(method, f"/api/v1/{path}", f"Token {TOKEN}", body)[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": "blue"}, {"reward": "120"}, {"reward": 1.2}, {"total_available_places": 0},
        {"prolific_id_option": "by mail"}, {"device_compatibility": ["fridge"]}, {"completion_codes": []},
        {"completion_codes": [CODE, CODE]}, {"completion_codes": [{**CODE, "code_type": "FINE"}]},
        {"completion_codes": [{**CODE, "actions": [{"action": "REQUEST_RETURN"}]}]},
        {"maximum_allowed_time": 5}, {"external_study_url": "https://label.example/w?p={{%PID%}}"},
    ],
    ids=str,
)  # fmt: skip
def test_a_study_that_does_not_fit_the_schema_is_refused(wrong: dict[str, Any]) -> None:
    prolific = Prolific()
    assert send(prolific, "POST", "studies/", {**STUDY, **wrong}) == 400
    assert prolific.studies == {}


def test_a_study_that_fits_is_taken_and_moves_by_its_states() -> None:
    prolific = Prolific()
    assert send(prolific, "POST", "studies/", STUDY) == 201
    (study,) = prolific.studies
    moves = ["PAUSE", "PUBLISH", "PUBLISH", "PAUSE", "START", "STOP", "START"]
    answers = [send(prolific, "POST", f"studies/{study}/transition/", {"action": move}) for move in moves]
    assert answers == [400, 200, 400, 200, 200, 200, 400]


def test_without_the_token_nothing_is_answered_but_keys() -> None:
    prolific = Prolific()
    assert prolific.answer("GET", "/api/v1/studies/", "Token another", None)[0] == 401
    assert prolific.answer("GET", "/.well-known/study/jwks.json", "", None)[0] == 200


def test_a_bonus_is_paid_each_time_that_it_is_asked_for() -> None:
    prolific = Prolific()
    send(prolific, "POST", "studies/", STUDY)
    (study,) = prolific.studies
    submission = prolific.add_submission(study)
    body = {"study_id": study, "csv_bonuses": f"{submission},1.5"}
    assert send(prolific, "POST", "submissions/bonus-payments/", body) == 201
    (bonus,) = prolific.bonuses
    for _ in range(2):
        assert send(prolific, "POST", f"bulk-bonus-payments/{bonus}/pay/") == 202
    assert prolific.paid == [(submission, 150)] * 2
