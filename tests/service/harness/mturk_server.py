"""A server on loopback that speaks the JSON protocol of Mechanical Turk, with HITs in memory.

A token that was used before is answered as MTurk does: with the HIT for `CreateHIT`, and for all others with
an error that says so, as https://github.com/Dallinger/Dallinger/issues/3109 shows. The token of a time of
expiry is the HIT and that time.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

REVIEWS = {"ApproveAssignment": "Approved", "RejectAssignment": "Rejected"}
AWS_VARIABLES = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
HIT = "3XJOUITW8URHJMX7F00H20LGRIAQ{:02d}"


class MTurk:
    """What the server knows: HITs, tokens that were used, assignments, and the calls that came."""

    def __init__(self) -> None:
        self.hits: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, str] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.address = ""

    def add_assignment(self, id: str, hit: str, worker: str = "A1WORKER") -> None:
        """A worker hands in an assignment."""
        if hit in self.hits:
            self.hits[hit]["NumberOfAssignmentsAvailable"] -= 1
        self.assignments[id] = {"AssignmentId": id, "HITId": hit, "WorkerId": worker, "SubmitTime": 1.7e9,
                                "AssignmentStatus": "Submitted"}  # fmt: skip

    def count(self, operation: str) -> int:
        """How many calls of an operation came."""
        return sum(name == operation for name, _ in self.calls)

    def answer(self, operation: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and body of the answer to a call."""
        self.calls.append((operation, body))
        token = body.get("UniqueRequestToken", "")
        if operation == "UpdateExpirationForHIT":
            token = f"{body['HITId']}{body['ExpireAt']}"
        if token in self.tokens:
            message = f'The idempotency token "{token}" has already been processed. (1626172412406)'
            if operation == "CreateHIT":
                message = f"HIT already exists: {self.tokens[token]} (AWS.MechanicalTurk.HITAlreadyExists)"
            return 400, {"__type": "RequestError", "Message": message}
        if token:
            self.tokens[token] = body.get("HITId", "")
        if operation == "CreateHIT":
            id = HIT.format(len(self.hits))
            self.hits[id] = {"HITId": id, "HITTypeId": f"T{id}", "HITStatus": "Assignable",
                             **{name: body[name] for name in ("Title", "Reward", "MaxAssignments")},
                             "NumberOfAssignmentsAvailable": body["MaxAssignments"]}  # fmt: skip
            self.tokens[token] = id
            return 200, {"HIT": self.hits[id]}
        if operation == "CreateAdditionalAssignmentsForHIT":
            more = body["NumberOfAdditionalAssignments"]
            for name in ("NumberOfAssignmentsAvailable", "MaxAssignments"):
                self.hits[body["HITId"]][name] += more
        if operation == "UpdateExpirationForHIT":
            ended = body["ExpireAt"] <= time.time()
            self.hits[body["HITId"]]["HITStatus"] = "Reviewable" if ended else "Assignable"
        if operation in REVIEWS:
            self.assignments[body["AssignmentId"]]["AssignmentStatus"] = REVIEWS[operation]
        if operation == "GetHIT":
            return 200, {"HIT": self.hits[body["HITId"]]}
        if operation == "GetAssignment":
            return 200, {"Assignment": self.assignments[body["AssignmentId"]]}
        if operation == "ListAssignmentsForHIT":
            wanted = body["HITId"], body["AssignmentStatuses"]
            own = [one for one in self.assignments.values()
                   if one["HITId"] == wanted[0] and one["AssignmentStatus"] in wanted[1]]  # fmt: skip
            return 200, {"NumResults": len(own), "Assignments": own}
        return 200, {}


@contextmanager
def running_mturk() -> Iterator[MTurk]:
    """A server that listens as long as the block runs."""
    mturk = MTurk()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, found = mturk.answer(operation, body)
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    mturk.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield mturk
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@contextmanager
def used_mturk(monkeypatch: pytest.MonkeyPatch) -> Iterator[MTurk]:
    """The same, and boto3 talks to it."""
    with running_mturk() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_MTURK", server.address)
        for name, value in AWS_VARIABLES.items():
            monkeypatch.setenv(name, value)
        yield server
