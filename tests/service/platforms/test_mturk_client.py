"""Requests to Amazon Mechanical Turk, each checked by botocore against the model of the real service."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal

import boto3
import pytest
from botocore.stub import Stubber

from crowdpilot.service.platforms.mturk_client import (
    Offer,
    approve,
    bonus,
    connect,
    dollars,
    publish,
    qualified,
    reject,
    submitted,
)
from crowdpilot.service.platforms.mturk_external_question import external_question

URL = "https://label.example/w/birds/mturk"
HIT = "3XJOUITW8URHJMX7F00H20LGRIAQTX"
ASSIGNMENT = "3TESA3PJ31ZLBLMPZQ7AKEXAMPLE00"
ANSWERS = (
    '<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">{}</QuestionFormAnswers>'
)
FIELD = "<Answer><QuestionIdentifier>{}</QuestionIdentifier><FreeText>{}</FreeText></Answer>"


@pytest.fixture
def client(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    return connect()


@pytest.fixture
def stub(client):
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


def offer(**more: object) -> Offer:
    return Offer(title="Birds", description="Say what you see.", reward="0.5", **more)


def test_the_sandbox_is_where_no_money_is_paid(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    assert connect().meta.endpoint_url == "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
    assert connect(sandbox=False).meta.endpoint_url == "https://mturk-requester.us-east-1.amazonaws.com"


def test_without_boto3_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ValueError, match=r'MTurk needs boto3: pip install "crowdpilot\[mturk\]"'):
        connect()


def test_a_hit_is_published(client, stub):
    wanted = qualified(percent=95, approved=100, countries=["DE", "AT"])
    stub.add_response(
        "create_hit",
        {"HIT": {"HITId": HIT, "HITTypeId": "TYPE"}},
        {
            "Title": "Birds",
            "Description": "Say what you see.",
            "Keywords": "birds, images",
            "Reward": "0.50",
            "MaxAssignments": 9,
            "LifetimeInSeconds": 3600,
            "AssignmentDurationInSeconds": 600,
            "AutoApprovalDelayInSeconds": 86400,
            "QualificationRequirements": [
                {
                    "QualificationTypeId": "000000000000000000L0",
                    "Comparator": "GreaterThanOrEqualTo",
                    "IntegerValues": [95],
                },
                {
                    "QualificationTypeId": "00000000000000000040",
                    "Comparator": "GreaterThanOrEqualTo",
                    "IntegerValues": [100],
                },
                {
                    "QualificationTypeId": "00000000000000000071",
                    "Comparator": "In",
                    "LocaleValues": [{"Country": "DE"}, {"Country": "AT"}],
                },
            ],
            "Question": external_question(URL),
            "UniqueRequestToken": "birds-1",
        },
    )
    terms = {
        "keywords": "birds, images",
        "assignments": 9,
        "lifetime": 3600,
        "duration": 600,
        "approval": 86400,
    }
    hit = publish(client, URL, offer(**terms, qualifications=wanted, token="birds-1"))
    assert hit[:3] == (HIT, "TYPE", "https://workersandbox.mturk.com/mturk/preview?groupId=TYPE")


def test_what_is_not_said_is_not_sent(client, stub):
    seen: dict[str, object] = {}
    client.meta.events.register(
        "provide-client-params.mturk.CreateHIT", lambda params, **_: seen.update(params)
    )
    stub.add_response("create_hit", {"HIT": {"HITId": HIT, "HITTypeId": "TYPE"}})
    publish(client, URL, offer())
    assert {"Keywords", "UniqueRequestToken"} & seen.keys() == set()
    assert seen["QualificationRequirements"] == []
    assert qualified() == []


def test_in_production_workers_find_it_elsewhere():
    client = boto3.client(
        "mturk", region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
    )
    with Stubber(client) as stub:
        stub.add_response("create_hit", {"HIT": {"HITId": HIT, "HITTypeId": "TYPE"}})
        assert publish(client, URL, offer()).page == "https://worker.mturk.com/mturk/preview?groupId=TYPE"


def test_what_mturk_refuses_is_one_sentence(client, stub):
    stub.add_client_error("create_hit", "RequestError", "you have no money")
    with pytest.raises(ValueError, match=r"^MTurk refused CreateHIT: you have no money$"):
        publish(client, URL, offer())
    stub.add_client_error("list_assignments_for_hit", "RequestError", "no such HIT")
    with pytest.raises(ValueError, match=r"^MTurk refused ListAssignmentsForHIT: no such HIT$"):
        submitted(client, HIT)


def test_submitted_assignments_are_read_from_all_pages(client, stub):
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    answers = [
        ANSWERS.format(FIELD.format("other", "x") + FIELD.format("code", " C&amp;1 ")),
        ANSWERS.format(""),
        "",
    ]
    found = [
        {"AssignmentId": f"A{n}", "WorkerId": f"W{n}", "SubmitTime": moment, "Answer": answer}
        for n, answer in enumerate(answers)
    ]
    asked = {"HITId": HIT, "AssignmentStatuses": ["Submitted"]}
    stub.add_response("list_assignments_for_hit", {"Assignments": found[:2], "NextToken": "more"}, asked)
    stub.add_response("list_assignments_for_hit", {"Assignments": found[2:]}, {**asked, "NextToken": "more"})
    stub.add_response("list_assignments_for_hit", {"NumResults": 0}, asked)
    time = moment.timestamp()
    assert submitted(client, HIT) == [
        ("A0", "W0", "C&1", time, "Submitted"),
        ("A1", "W1", "", time, "Submitted"),
        ("A2", "W2", "", time, "Submitted"),
    ]
    assert submitted(client, HIT) == []


def test_assignments_are_approved_and_rejected(client, stub):
    stub.add_response("approve_assignment", {}, {"AssignmentId": ASSIGNMENT})
    approve(client, ASSIGNMENT)
    thanks = {"AssignmentId": ASSIGNMENT, "RequesterFeedback": "Thank you."}
    stub.add_response("approve_assignment", {}, thanks)
    approve(client, ASSIGNMENT, "Thank you.")
    stub.add_response("reject_assignment", {}, {"AssignmentId": ASSIGNMENT, "RequesterFeedback": "No votes."})
    reject(client, ASSIGNMENT, "No votes.")
    with pytest.raises(ValueError, match="give a reason"):
        reject(client, ASSIGNMENT, " ")


def test_a_bonus_is_paid_once(client, stub):
    paid = {"WorkerId": "W", "AssignmentId": ASSIGNMENT, "BonusAmount": "1.20", "Reason": "More items."}
    stub.add_response("send_bonus", {}, {**paid, "UniqueRequestToken": f"bonus-{ASSIGNMENT}"})
    bonus(client, "W", ASSIGNMENT, Decimal("1.2"), "More items.")
    stub.add_response("send_bonus", {}, {**paid, "UniqueRequestToken": "second"})
    bonus(client, "W", ASSIGNMENT, "1.20", "More items.", token="second")


@pytest.mark.parametrize("wrong", ["0.005", "-1", "a", "", "nan", "inf", "1e99"])
def test_money_is_in_whole_cents(wrong):
    with pytest.raises(ValueError, match="is not an amount of"):
        dollars(wrong)
    assert dollars("3") == "3.00"
