from __future__ import annotations

from dataclasses import replace

from crowdpilot.service.mail_server import MailServer
from crowdpilot.service.store.messages import email_deliveries, webhook_deliveries
from tests.service.harness.dashboard import HOSTILE, DashboardService, post

HERE = MailServer(scheme="smtp", host="127.0.0.1", port=2525, sender="study@example.org")


def with_mail(service: DashboardService) -> DashboardService:
    service.settings = replace(service.settings, mail_server=HERE)
    return service


def test_without_a_mail_server_the_page_says_how_to_set_one_up(service: DashboardService) -> None:
    id = service.create(1, notify={"emails": ["ann@example.org"]})
    text = service.signed_in().get(f"/projects/{id}/notifications").text
    assert "This service sends no e-mails." in text
    assert "--smtp" in text
    assert "Send a test e-mail" not in text


def test_a_test_email_is_queued_for_every_address_and_shown(service: DashboardService) -> None:
    service = with_mail(service)
    emails = ["ann@example.org", "ben@example.org"]
    id = service.create(1, name=HOSTILE, notify={"emails": emails}, webhook="https://example.org/hook")
    with service.store.writing() as c:
        webhook_deliveries.enqueue(c, id, "project.stuck", {})
    client, home = service.signed_in("label-ops"), f"/projects/{id}/notifications"
    page = post(client, f"{home}/test", home)
    assert page.status_code == 200
    assert page.text.count("On its way") == 3
    assert "No answers are coming in" in page.text
    assert "<script>alert" not in page.text
    with service.store.reading() as c:
        mails = email_deliveries.latest(c, id)
    assert {mail.recipient for mail in mails} == {"ann@example.org", "ben@example.org"}
    assert all("\n" not in mail.subject for mail in mails)
    for _ in range(4):
        post(client, f"{home}/test", home)
    refused = post(client, f"{home}/test", home)
    assert refused.status_code == 429
    assert "5 tests in an hour are the most" in refused.text


def test_the_api_says_what_was_sent(service: DashboardService) -> None:
    service = with_mail(service)
    project = service.project(notify={"emails": ["ann@example.org"]})
    assert project.post("/notifications/test").json() == {"recipients": ["ann@example.org"]}
    shown = project.get("/notifications").json()
    assert shown["sends_emails"] is True
    assert [(mail["recipient"], mail["state"]) for mail in shown["sent"]] == [("ann@example.org", "queued")]
    nobody = service.project(name="Other")
    assert nobody.post("/notifications/test").status_code == 409
