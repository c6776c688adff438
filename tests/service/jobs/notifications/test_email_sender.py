from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.notifications import email_sender, smtp
from crowdpilot.service.mail_server import MailServer, parse_mail_server
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs
from crowdpilot.service.store.messages import email_deliveries
from crowdpilot.service.store.messages.email_deliveries import DONE, FAILED, MAX_TRIES, QUEUED
from tests.service.harness.jobs import JobService
from tests.service.harness.mail import PASSWORD, USER, Mailbox, make_certificate, receiving_mail
from tests.service.harness.waiting import eventually, free_port

SENDER = "study@example.org"


def mailing(service: JobService, port: int, **server: Any) -> Settings:
    """The settings of a service with a mail server at this port."""
    here = {"scheme": "smtp", "host": "127.0.0.1", "port": port, "sender": SENDER, **server}
    return replace(service.settings, mail_server=MailServer(**here))


def queued(service: JobService, recipient: str = "ann@example.org", subject: str = "Films: finished") -> str:
    project = service.create()
    with service.store.writing() as c:
        email_deliveries.enqueue(c, project, recipient, subject, "It is finished.\n\nhttp://testserver/x\n")
    return project


def only(service: JobService, project: str) -> Any:
    with service.store.reading() as c:
        (row,) = email_deliveries.latest(c, project)
    return row


def is_done(service: JobService, project: str) -> bool:
    with service.store.reading() as c:
        return jobs.last_done(c, project, "completion") is not None


def test_an_email_arrives_as_plain_text_with_the_headers_of_a_machine(any_service: JobService) -> None:
    project, port = queued(any_service, subject="Filme für Ännchen: finished"), free_port()
    settings = mailing(any_service, port)
    with receiving_mail(port, Mailbox()) as box:
        assert email_sender.step(any_service.store, settings)
        assert not email_sender.step(any_service.store, settings)
    (message,) = box.got
    assert message["Subject"] == "Filme für Ännchen: finished"
    assert (message["To"], message["From"]) == ("ann@example.org", f"Crowdpilot <{SENDER}>")
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_content_type() == "text/plain"
    assert "It is finished." in message.get_content()
    assert box.envelopes == [(SENDER, ["ann@example.org"])]
    assert only(any_service, project).state == DONE


def test_a_server_that_is_down_gets_the_email_when_it_is_up_again(any_service: JobService) -> None:
    service, port = any_service, free_port()
    project, settings, now = queued(service), mailing(service, port), time.time()
    assert email_sender.step(service.store, settings, now)
    row = only(service, project)
    assert (row.state, row.tries) == (QUEUED, 1)
    assert "cannot be reached" in row.error
    assert not email_sender.step(service.store, settings, now + 5)  # a pause, for everybody
    with receiving_mail(port, Mailbox()) as box:
        assert email_sender.step(service.store, settings, now + 60)
    assert len(box.got) == 1
    assert (only(service, project).state, only(service, project).error) == (DONE, None)


def test_a_server_that_stays_down_is_given_up_after_a_day(service: JobService) -> None:
    project, settings, now = queued(service), mailing(service, free_port()), time.time()
    start = now
    while only(service, project).state == QUEUED:
        now = only(service, project).due + 1
        assert email_sender.step(service.store, settings, now)
    assert (only(service, project).state, only(service, project).tries) == (FAILED, MAX_TRIES)
    assert now - start > 24 * 3600


def test_an_address_that_the_server_refuses_is_not_tried_again(service: JobService) -> None:
    project, port = queued(service, "nobody@example.org"), free_port()
    with receiving_mail(port, Mailbox()) as box:
        box.refused.add("nobody@example.org")
        assert email_sender.step(service.store, mailing(service, port))
    row = only(service, project)
    assert row.state == FAILED
    assert "550" in row.error


class Script(socketserver.StreamRequestHandler):
    """A mail server that answers each command as the test says, and takes everything else."""

    answers: ClassVar[dict[bytes, bytes]] = {}
    taken: ClassVar[list[bytes]] = []

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while command := self.rfile.readline()[:4].upper():
            if command == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    self.taken.append(line)
            answer = self.answers.get(command.strip(), b"250 OK")
            if not answer:
                return  # it hangs up
            self.wfile.write(answer + b"\r\n")


@pytest.fixture
def script() -> Iterator[tuple[int, type[Script]]]:
    """The port of such a server, and what it answers and takes."""
    mine = type("Mine", (Script,), {"answers": {}, "taken": []})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), mine) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1], mine
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("quit", [b"500 what?", b"421 closing", b""], ids=["unknown", "closing", "no answer"])
def test_an_email_that_was_taken_is_not_sent_again_however_the_server_says_goodbye(
    service: JobService, script: tuple[int, type[Script]], quit: bytes
) -> None:
    port, server = script
    server.answers[b"QUIT"] = quit
    project, settings = queued(service), mailing(service, port)
    assert email_sender.step(service.store, settings)
    assert (only(service, project).state, only(service, project).error) == (DONE, None)
    assert not email_sender.step(service.store, settings, time.time() + 1000)
    assert sum(line.startswith(b"Subject:") for line in server.taken) == 1


@pytest.mark.parametrize(
    ("command", "answer", "state"),
    [
        (b"MAIL", b"550 no such sender", FAILED), (b"MAIL", b"451 later", QUEUED),
        (b"DATA", b"554 this is spam", FAILED), (b"DATA", b"452 the disk is full", QUEUED),
        (b"RCPT", b"550 no such mailbox", FAILED), (b"RCPT", b"450 busy", QUEUED),
    ],
)  # fmt: skip
def test_what_the_server_refuses_for_good_is_not_tried_again_and_all_else_is(
    service: JobService, script: tuple[int, type[Script]], command: bytes, answer: bytes, state: str
) -> None:
    port, server = script
    server.answers[command] = answer
    project = queued(service)
    assert email_sender.step(service.store, mailing(service, port))
    row = only(service, project)
    assert row.state == state
    assert answer.decode() in row.error or state == QUEUED


@pytest.mark.parametrize("subject", ["Films\r\nBcc: eve@example.org", "Films\nX: y"])
def test_a_header_never_holds_a_line_end(service: JobService, subject: str) -> None:
    project, port = queued(service, subject=subject), free_port()
    with receiving_mail(port, Mailbox()) as box:
        assert email_sender.step(service.store, mailing(service, port))
    assert box.got == []
    assert only(service, project).state == FAILED


@pytest.mark.parametrize(
    "recipient", ["a(b@example.org", "ann\x01@example.org", "@@example.org", "ännchen@example.org"]
)
def test_an_odd_address_fails_and_harms_no_other(service: JobService, recipient: str) -> None:
    odd, plain, port = queued(service, recipient), queued(service), free_port()
    with receiving_mail(port, Mailbox()) as box:
        settings = mailing(service, port)
        while email_sender.step(service.store, settings):
            pass
    assert only(service, plain).state == DONE
    assert only(service, odd).state in (FAILED, DONE)
    assert all(len(to) == 1 for _, to in box.envelopes)


def test_with_a_user_the_password_is_sent_only_over_verified_tls(
    service: JobService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tls = make_certificate(tmp_path)
    project, port, now = queued(service), free_port(), time.time()
    settings = mailing(service, port, host="localhost", user=USER, password=PASSWORD)
    with receiving_mail(port, Mailbox(), tls) as box:
        assert email_sender.step(service.store, settings, now)
        assert "no valid certificate" in only(service, project).error  # nobody vouches for it
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        wrong = mailing(service, port, host="localhost", user=USER, password="guess")
        assert email_sender.step(service.store, wrong, now + 1000)
        assert (only(service, project).state, box.got) == (QUEUED, [])
        assert email_sender.step(service.store, settings, now + 10_000)
    assert box.encrypted == [True]
    assert only(service, project).state == DONE


def test_a_server_without_tls_gets_no_password(service: JobService) -> None:
    project, port = queued(service), free_port()
    settings = mailing(service, port, user=USER, password=PASSWORD)
    with receiving_mail(port, Mailbox()) as box:
        assert email_sender.step(service.store, settings)
    assert box.got == []
    assert "offers no STARTTLS" in only(service, project).error


def test_a_server_that_says_nothing_blocks_no_job(
    service: JobService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It accepts connections and is silent: meanwhile jobs are done."""
    monkeypatch.setattr(smtp, "TIMEOUT_SECONDS", 1.0)
    mail = queued(service)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = mailing(service, silent.getsockname()[1])
        stop = threading.Event()
        thread = threading.Thread(target=runner.run, args=(settings, "jobs-1", stop))
        thread.start()
        try:
            project = service.create()
            service.add(project, 5)
            service.enqueue(project, "completion")
            eventually(lambda: is_done(service, project))
            eventually(lambda: only(service, mail).error)
        finally:
            stop.set()
            thread.join(20)
    assert "did not answer" in only(service, mail).error


@pytest.mark.parametrize(("url", "why"), [
    ("mail.example.org:587", "is no mail server"), ("http://mail.example.org", "is no mail server"),
    ("smtp://mail.example.org:99999", "is no mail server"), ("smtp://mail.example.org", "--mail-from"),
    ("smtp://u:secret@mail.example.org", "leave the password out"),
    ("smtp://ann@example.org@mail.example.org", "CROWDPILOT_SMTP_PASSWORD"),
])  # fmt: skip
def test_a_wrong_address_of_a_mail_server_is_said_to_be(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        parse_mail_server(url)
    assert "secret" not in str(caught.value)


def test_the_password_of_a_mail_server_is_in_no_text() -> None:
    server = parse_mail_server("smtps://ann%40example.org@mail.example.org", "", "hush")
    assert server is not None
    assert (server.user, server.port, server.sender) == ("ann@example.org", 465, "ann@example.org")
    assert "hush" not in repr(server)
