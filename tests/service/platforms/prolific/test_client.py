"""The client of Prolific's API, against a server that is as strict as its schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crowdpilot.service.platforms.prolific import studies, submissions
from crowdpilot.service.platforms.prolific.arrival import study_url
from crowdpilot.service.platforms.prolific.client import MAX_BYTES, PAGE_SIZE, Client, UncertainError
from crowdpilot.service.platforms.prolific.studies import Codes, Draft
from tests.service.harness import prolific_schema as schema
from tests.service.harness.prolific_server import PARTICIPANT, Prolific

DRAFT = Draft(
    name="Films", description="Good or bad?", internal_name="crowdpilot-1", places=4, minutes=6,
    max_minutes=30, reward=120, url=study_url("https://label.example/w/1/prolific"),
    codes=Codes(done="C1", failed="F1", complete="X1"),
)  # fmt: skip
MESSAGE = "Your answers to the known items were wrong more often than by chance. " * 2


def test_a_study_is_drafted_published_paused_started_and_stopped(prolific: Prolific) -> None:
    client = Client()
    made = studies.create(client, replace(DRAFT, signed=True))
    assert (made.status, made.places, made.reward, made.currency) == ("UNPUBLISHED", 4, 120, "GBP")
    seen = [studies.move(client, made.id, action).status for action in ("PUBLISH", "PAUSE", "START", "STOP")]
    assert seen == ["ACTIVE", "PAUSED", "ACTIVE", "AWAITING REVIEW"]
    sent = prolific.studies[made.id]
    assert sent["is_external_study_url_secure"] is True
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}" in sent["external_study_url"]


def test_each_code_has_the_action_that_follows_from_it(prolific: Prolific) -> None:
    made = studies.create(Client(), replace(DRAFT, codes=Codes(done="C1", failed="F1", approve=True)))
    codes = prolific.studies[made.id]["completion_codes"]
    assert [(one["code"], one["code_type"], one["actions"][0]["action"]) for one in codes] == [
        ("C1", "COMPLETED", "AUTOMATICALLY_APPROVE"),
        ("F1", "FAILED_ATTENTION_CHECK", "REQUEST_RETURN"),
    ]


def test_a_study_is_found_again_by_its_internal_name(prolific: Prolific) -> None:
    client = Client()
    for n in range(PAGE_SIZE + 3):
        studies.create(client, replace(DRAFT, internal_name=f"other-{n}"))
    made = studies.create(client, DRAFT)
    assert studies.find(client, "crowdpilot-1") == made
    assert studies.find(client, "nobody") is None


def test_places_grow_and_never_shrink(prolific: Prolific) -> None:
    client = Client()
    made = studies.create(client, DRAFT)
    studies.move(client, made.id, studies.PUBLISH)
    assert studies.set_places(client, made.id, 9).places == 9
    with pytest.raises(ValueError, match=r"refused to change the places.*can only be increased"):
        studies.set_places(client, made.id, 8)


def test_the_cost_has_the_fee_of_prolific(prolific: Prolific) -> None:
    assert studies.cost(Client(), 120, 4) == (480, 160, 0, 640)


def test_submissions_of_all_pages_are_listed(prolific: Prolific) -> None:
    client = Client()
    made, other = (studies.create(client, DRAFT) for _ in range(2))
    for n in range(PAGE_SIZE + 1):
        prolific.add_submission(made.id, PARTICIPANT.format(n), code="C1")
    prolific.add_submission(other.id)
    found = submissions.list_all(client, made.id)
    assert len(found) == PAGE_SIZE + 1
    assert found[0] == (found[0].id, PARTICIPANT.format(0), "AWAITING REVIEW", "C1", *found[0][4:])
    assert found[0].completed is not None
    assert found[0].started is not None
    assert found[0].completed - found[0].started == pytest.approx(390.5)


def test_submissions_are_approved_and_rejected(prolific: Prolific) -> None:
    client = Client()
    study = studies.create(client, DRAFT).id
    ids = [prolific.add_submission(study, PARTICIPANT.format(n)) for n in range(4)]
    submissions.approve(client, ids[:1])
    submissions.approve(client, ids[1:3])
    submissions.reject(client, ids[3], "FAILED_CHECK", MESSAGE)
    submissions.reject(client, ids[3], "FAILED_CHECK", MESSAGE)  # once more is ignored
    assert [prolific.submissions[id]["status"] for id in ids] == ["APPROVED"] * 3 + ["REJECTED"]
    with pytest.raises(ValueError, match="refused to reject the submission: Submission is APPROVED"):
        submissions.reject(client, ids[0], "FAILED_CHECK", MESSAGE)


def test_a_bonus_is_set_up_and_then_paid(prolific: Prolific) -> None:
    client = Client()
    study = studies.create(client, DRAFT).id
    id = prolific.add_submission(study)
    bonus = submissions.set_up_bonus(client, study, id, "0.60")
    assert (bonus.amount, bonus.fees, bonus.total, prolific.paid) == (60, 20, 80, [])
    submissions.pay_bonus(client, bonus.id)
    assert prolific.paid == [(id, 60)]


def test_categories_of_rejections_are_those_of_the_schema() -> None:
    assert set(submissions.CATEGORIES) == set(schema.Category.__args__)


def test_without_a_token_one_sentence_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    with pytest.raises(ValueError, match=r"has no token of Prolific.*set PROLIFIC_TOKEN"):
        Client()


def test_a_wrong_token_is_named(prolific: Prolific, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "of-somebody-else")
    with pytest.raises(ValueError, match="does not know the token of the server; set PROLIFIC_TOKEN"):
        studies.create(Client(), DRAFT)


def test_what_prolific_refuses_is_said_in_one_line(prolific: Prolific) -> None:
    with pytest.raises(ValueError, match=r"^Prolific refused to create the study: reward: Input should be"):
        studies.create(Client(), replace(DRAFT, reward=0))


@pytest.mark.parametrize(
    ("change", "words"),
    [({"is_down": True}, "because of an error of its own"), ({"address": ""}, "did not answer")],
)
def test_an_outage_differs_from_what_prolific_rejects(
    prolific: Prolific, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str
) -> None:
    prolific.is_down = change.get("is_down", False)
    if "address" in change:
        monkeypatch.setenv("PROLIFIC_URL", "http://127.0.0.1:9")  # where nobody listens
    with pytest.raises(UncertainError, match=words):
        studies.read(Client(quick=True), "a" * 24)


def test_a_list_without_pages_is_read_once(prolific: Prolific) -> None:
    client = Client()
    study = studies.create(client, DRAFT).id
    for n in range(PAGE_SIZE + 3):
        prolific.add_submission(study, PARTICIPANT.format(n))
    prolific.has_pages = False
    assert len(submissions.list_all(client, study)) == PAGE_SIZE + 3


@pytest.mark.parametrize(
    "odd",
    [[], {}, {"results": None}, {"results": [3]}, {"results": [{}]}, {"results": [{"id": "../users"}]},
     {"id": 7}, *({"id": "a" * 24, "reward": odd} for odd in ("much", [1], float("inf"), float("nan")))],
)  # fmt: skip
def test_an_answer_of_another_shape_is_one_sentence(prolific: Prolific, odd: Any) -> None:
    client = Client()
    prolific.odd_answer = odd
    asks = [lambda: studies.read(client, "a" * 24), lambda: submissions.list_all(client, "a" * 24)]
    for ask in asks if "id" not in odd else asks[:1]:
        with pytest.raises(UncertainError, match="in a way that is not known"):
            ask()


def test_an_answer_that_is_too_large_is_not_read(prolific: Prolific) -> None:
    prolific.odd_answer = {"id": "a" * 24, "name": "x" * MAX_BYTES}
    with pytest.raises(UncertainError, match="did not answer when asked to show the study"):
        studies.read(Client(), "a" * 24)


def test_the_token_is_not_sent_without_encryption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "secret")
    monkeypatch.setenv("PROLIFIC_URL", "http://api.prolific.example")
    with pytest.raises(ValueError, match="PROLIFIC_URL on the server is not encrypted"):
        studies.read(Client(), "a" * 24)


def test_a_token_with_other_characters_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "\u201csecret\u201d")
    with pytest.raises(ValueError, match="copy it to PROLIFIC_TOKEN again") as refused:
        Client()
    assert "secret" not in str(refused.value)
