"""A server on loopback that speaks the API of Prolific, with studies and submissions in memory.

It checks every request against `prolific_schema` and refuses what Prolific refuses: unknown fields and
values, moves that the state does not allow, fewer places, submissions of others. A bonus is paid each time
that it is asked for, as Prolific warns of.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from pydantic import ValidationError

from tests.service.harness import prolific_schema as schema

TOKEN = "token-of-the-operator"
POLL_SECONDS = 0.02  # after which the server looks whether it should end
FEE = 3  # of which the reward is so many times the fee
STUDY, SUBMISSION, PARTICIPANT, BONUS = (f"{kind}{{:023x}}" for kind in "abcd")
Answer = tuple[int, Any]


class RefusedError(Exception):
    """A request that Prolific refuses, with the status and detail of its answer."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class Prolific:
    """What the server knows: studies, submissions, bonuses, keys of signed links, and the calls that came."""

    def __init__(self) -> None:
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.bonuses: dict[str, dict[str, Any]] = {}
        self.paid: list[tuple[str, int]] = []  # submission and hundredths
        self.calls: list[tuple[str, str, Any]] = []
        self.signing: dict[str, RSAPrivateKey] = {}
        self.address = ""
        self.is_down = False  # answers with an error of its own
        self.loses_answers = False  # does what it is asked for, and then fails
        self.has_pages = True  # gives lists page by page, not whole each time
        self.odd_answer: Any = None  # what it answers instead

    def add_submission(
        self, study: str, participant: str = PARTICIPANT.format(1), *, id: str = "", code: str = "",
        status: str = "AWAITING REVIEW",
    ) -> str:  # fmt: skip
        """Somebody takes part; the id of their submission, which is the session of their link."""
        assert status in schema.SUBMISSION_STATUSES
        id = id or SUBMISSION.format(len(self.submissions))
        self.submissions[id] = {
            "id": id, "participant_id": participant, "status": status, "started_at": "2026-01-31T10:00:00Z",
            "completed_at": "2026-01-31T10:06:30.500000Z", "study_code": code or None,
            "has_siblings": False, "_study": study,
        }  # fmt: skip
        self.studies[study]["places_taken"] += 1
        return id

    def rotate_keys(self, *names: str) -> None:
        """Sign with new keys of these names; those of before are published no more."""
        self.signing = {name: generate_private_key(65537, 2048) for name in names}

    def sign(self, name: str, **claims: Any) -> str:
        """A signed link's token."""
        return jwt.encode(claims, self.signing[name], "RS256", headers={"kid": name})

    def count(self, method: str, pattern: str) -> int:
        """How many calls came whose path is like this."""
        return sum(one == method and re.search(pattern, path) is not None for one, path, _ in self.calls)

    def answer(self, method: str, address: str, token: str, body: Any) -> Answer:
        """The status and body of the answer to a call."""
        path = urlsplit(address).path
        self.calls.append((method, path, body))
        if self.is_down:
            return 503, {}
        if path == "/.well-known/study/jwks.json":
            return 200, {"keys": [_jwk(name, key) for name, key in self.signing.items()]}
        if token != f"Token {TOKEN}":
            return 401, _error(401, "Authentication credentials were not provided.")
        if self.odd_answer is not None:
            return 200, self.odd_answer
        try:
            done = self._route(method, path, parse_qs(urlsplit(address).query), body)
        except RefusedError as error:
            return error.status, _error(error.status, error.detail)
        except ValidationError as error:
            detail = {".".join(map(str, one["loc"])): [one["msg"]] for one in error.errors()}
            return 400, _error(400, detail)
        return (502, {}) if self.loses_answers and method != "GET" else done

    def _route(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        routes: list[tuple[str, str, Callable[..., Answer]]] = [
            ("GET", r"/studies/", lambda: self._page(list(self.studies.values()), query)),
            ("POST", r"/studies/", lambda: self._create(schema.CreateStudy.model_validate(body))),
            ("GET", r"/studies/(\w+)/", lambda id: (200, self._study(id))),
            ("PATCH", r"/studies/(\w+)/", lambda id: self._update(id, schema.UpdateStudy(**body))),
            ("POST", r"/studies/(\w+)/transition/", lambda id: self._move(id, schema.MoveStudy(**body))),
            ("POST", r"/study-cost-calculator/", lambda: (200, _cost(schema.Cost(**body)))),
            ("GET", r"/submissions/", lambda: self._list(query)),
            ("POST", r"/submissions/(\w+)/transition/",
             lambda id: self._review(id, schema.MoveSubmission(**body))),
            ("POST", r"/submissions/bulk-approve/", lambda: self._approve_many(schema.ApproveMany(**body))),
            ("POST", r"/submissions/bonus-payments/", lambda: self._set_up(schema.SetUpBonus(**body))),
            ("POST", r"/bulk-bonus-payments/(\w+)/pay/", self._pay),
        ]  # fmt: skip
        for verb, pattern, act in routes:
            found = re.fullmatch("/api/v1" + pattern, path)
            if verb == method and found:
                return act(*found.groups())
        raise RefusedError(404, "Not found.")

    def _study(self, id: str) -> dict[str, Any]:
        if id not in self.studies:
            raise RefusedError(404, "Not found.")
        return self.studies[id]

    def _page(self, rows: list[dict[str, Any]], query: dict[str, list[str]]) -> Answer:
        size, page = int(query.get("page_size", ["20"])[0]), int(query.get("page", ["1"])[0])
        shown = rows[(page - 1) * size : page * size] if self.has_pages else rows
        public = [{name: value for name, value in row.items() if name[0] != "_"} for row in shown]
        return 200, {"results": public, "meta": {"count": len(rows)}}

    def _create(self, new: schema.CreateStudy) -> Answer:
        id = STUDY.format(len(self.studies))
        self.studies[id] = {
            "id": id, "status": "UNPUBLISHED", "places_taken": 0, "presentment_currency_code": "GBP",
            **new.model_dump(),
        }  # fmt: skip
        return 201, self.studies[id]

    def _update(self, id: str, new: schema.UpdateStudy) -> Answer:
        study, places = self._study(id), new.total_available_places
        if places is not None and study["status"] != "UNPUBLISHED":
            if places < study["total_available_places"]:
                raise RefusedError(400, {"total_available_places": ["Places can only be increased."]})
            study["status"] = "PAUSED" if study["status"] == "PAUSED" else "ACTIVE"
        study.update(new.model_dump(exclude_none=True))
        return 200, study

    def _move(self, id: str, move: schema.MoveStudy) -> Answer:
        study, (before, after) = self._study(id), schema.MOVES[move.action]
        if study["status"] not in before:
            raise RefusedError(400, f"Study cannot {move.action} from the status {study['status']}.")
        study["status"] = after
        return 200, study

    def _list(self, query: dict[str, list[str]]) -> Answer:
        study = query["study"][0]
        self._study(study)
        return self._page([one for one in self.submissions.values() if one["_study"] == study], query)

    def _review(self, id: str, move: schema.MoveSubmission) -> Answer:
        if id not in self.submissions:
            raise RefusedError(404, "Not found.")
        submission, wanted = self.submissions[id], f"{move.action}ED".replace("EED", "ED")
        if submission["status"] not in ("AWAITING REVIEW", wanted):
            raise RefusedError(400, f"Submission is {submission['status']} and cannot be reviewed.")
        submission["status"] = wanted
        return 200, {"id": id, "status": wanted}

    def _approve_many(self, many: schema.ApproveMany) -> Answer:
        for id in many.submission_ids:
            self._review(id, schema.MoveSubmission(action="APPROVE"))
        return 200, "The request to bulk approve has been made successfully."

    def _set_up(self, new: schema.SetUpBonus) -> Answer:
        lines = [line.split(",") for line in new.csv_bonuses.split()]
        known = {id for id, one in self.submissions.items() if one["_study"] == new.study_id}
        if unknown := [id for id, _ in lines if id not in known]:
            raise RefusedError(400, f"These ids have not taken part in the study: {unknown}")
        amount = sum(round(float(units) * 100) for _, units in lines)
        id = BONUS.format(len(self.bonuses))
        fees = amount // FEE
        self.bonuses[id] = {"id": id, "study": new.study_id, "amount": amount, "fees": fees, "vat": 0,
                            "total_amount": amount + fees, "_to": lines[0][0]}  # fmt: skip
        return 201, {name: value for name, value in self.bonuses[id].items() if name != "_to"}

    def _pay(self, id: str) -> Answer:
        if id not in self.bonuses:
            raise RefusedError(404, "Not found.")
        self.paid.append((self.bonuses[id]["_to"], self.bonuses[id]["amount"]))
        return 202, {}


def _error(status: int, detail: Any) -> dict[str, Any]:
    return {"error": {"status": status, "error_code": status * 100, "title": "Error", "detail": detail}}


def _cost(asked: schema.Cost) -> dict[str, int]:
    rewards = asked.reward * asked.total_available_places
    return {"rewards": rewards, "fees": rewards // FEE, "vat": 0, "base_cost": rewards + rewards // FEE,
            "total_cost": rewards + rewards // FEE}  # fmt: skip


def _jwk(name: str, key: RSAPrivateKey) -> dict[str, Any]:
    public = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {**public, "kid": name, "alg": "RS256", "use": "sig"}


@contextmanager
def running_prolific() -> Iterator[Prolific]:
    """A server that listens as long as the block runs."""
    prolific = Prolific()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(data) if data else None
            token = self.headers.get("Authorization", "")
            status, found = prolific.answer(self.command, self.path, token, body)
            sent = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PATCH = _answer

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    prolific.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield prolific
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@contextmanager
def used_prolific(monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    """The same, and the service talks to it with the token of its operator."""
    with running_prolific() as server:
        monkeypatch.setenv("PROLIFIC_URL", server.address)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        yield server
