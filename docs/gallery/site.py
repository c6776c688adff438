"""A running service with projects in all states, for pictures and tests of its pages."""

from __future__ import annotations

import io
import math
import struct
import wave
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from crowdpilot.datasets.sets.digits import load_digits, to_png
from crowdpilot.service.demo.client import Client, multipart

OPEN = {"per_hour": 1000, "per_address": 1000, "checks": 0}  # limits of guests
FILMS: dict[str, Any] = {
    "name": "Film reviews",
    "classes": ["Against", "For"],
    "class_details": {
        "Against": {"description": "The writer would not see it again.", "color": "#b3443b"},
        "For": {"description": "The writer recommends it.", "color": "#2c7a4b"},
    },
    "question": "Is the writer for or against the film?",
    "instructions": "Read the sentence and say what its writer thinks of the film.",
    "examples": [{"text": "A gem of a film.", "label": "For", "why": "It is praised."}],
    "consent": "Your answers are used to train a classifier of reviews.\n\nYou can stop at any time.",
    "quiz": [{"text": "Great fun for everybody.", "label": "For"}, {"text": "So dull.", "label": "Against"}],
    "costs": {"errors": [[0, 1], [2, 0]], "prices": {"crowd": 0.05, "expert": 1.0}, "budget": 20},
    "plan": {"gold": 0.1, "per_item": 6},
    "batch": 5,
    "currency": "EUR",
    "comments": True,
    "flags": True,
    "prolific": {"code": "C1OK2DONE", "reward": 0.6},
    "mturk": {"sandbox": True},
    "notify": {"emails": ["team@example.org"]},
    "guests": OPEN,
}
SMALL: dict[str, Any] = {"costs": {"prices": {"crowd": 0.05}}, "guests": OPEN}
HIT = {
    "title": "Say whether the writer of a review likes the film",
    "description": "Read five short reviews and choose one of two answers for each.",
    "reward": "0.35", "assignments": 6, "token": "gallery-hit",
}  # fmt: skip
PRAISE = ("A gem of a film", "Warm and funny", "What a cast", "I laughed and cried", "A small miracle")
BLAME = ("The story goes nowhere", "Two hours too long", "Dull from the start", "A waste of a cast", "Loud")
ENDS = (", and I would go again.", ", from the first scene on.", ", as so often.", ", whatever critics say.")
STUDY = {
    "title": "Say whether the writer of a review likes the film", "places": 20, "minutes": 4,
    "description": "Read ten short reviews and choose one of two answers for each.", "reward": "0.60",
    "token": "gallery-study",
}  # fmt: skip
SUBMIT_TO = "https://workersandbox.mturk.com"


@dataclass
class Site:
    """A running service, a requester of it, and projects by name."""

    address: str  # where browsers reach it
    key: str
    projects: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)  # of workers
    hit: str = ""
    study: str = ""
    answers: Iterable[int] = field(default_factory=lambda: count(1))

    @cached_property
    def requester(self) -> Client:
        """Somebody who may do everything, over HTTP."""
        return Client(self.address, {"X-API-Key": self.key})

    def close(self) -> None:
        """Close the connection."""
        self.requester.close()

    def create(self, name: str, spec: dict[str, Any], items: Sequence[dict[str, Any]]) -> str:
        """A project with items; its id."""
        made = self.requester.send("POST", "/api/projects", spec)
        self.projects[name] = made["id"]
        self.links[name] = self.address + made["link"][made["link"].index("/w/") :]
        if items:
            self.requester.send("POST", f"/api/projects/{made['id']}/items", {"items": list(items)})
        return str(made["id"])

    def upload(self, name: str, spec: dict[str, Any], files: dict[str, bytes], type: str) -> str:
        """A project with uploaded files; its id."""
        id = self.create(name, spec, [])
        self.requester.send("POST", f"/api/projects/{id}/items", *multipart(files, type))
        return id

    def invite(self, name: str) -> dict[str, Any]:
        """What somebody sends who comes through the link of a project."""
        return {"invite": parse_qs(urlsplit(self.links[name]).query)["invite"][0]}

    def worker(self, name: str, arrival: dict[str, Any]) -> Client:
        """Somebody who has agreed and passed the quiz."""
        quiz = self.requester.send("GET", f"/api/projects/{self.projects[name]}")["spec"]["quiz"]
        session = {"project": self.projects[name], "consent": True, **arrival,
                   "quiz": [question["label"] for question in quiz]}  # fmt: skip
        with closing(Client(self.address, {})) as visitor:
            token = visitor.send("POST", "/api/sessions", session)["token"]
        return Client(self.address, {"Authorization": f"Bearer {token}"})

    def work(
        self, name: str, truth: dict[str, str], arrivals: Sequence[dict[str, Any]], votes: int, wrong: int = 7
    ) -> None:
        """Workers come and vote; every so many-th answer is wrong."""
        for arrival in arrivals:
            worker, given = self.worker(name, arrival), 0
            while given < votes and (items := worker.send("GET", "/api/next?n=5")["items"]):
                for item, n in zip(items, self.answers, strict=False):
                    right = truth[item["content"]["text"]]
                    label = right if n % wrong else next(other for other in truth.values() if other != right)
                    vote = {"item": item["item"], "criterion": item["criterion"], "label": label,
                            "seconds": 2.0 + n % 5, "key": f"gallery-{n:08}"}  # fmt: skip
                    worker.send("POST", "/api/votes", vote)
                    given += 1
            worker.close()


def reviews(n: int) -> dict[str, str]:
    """Texts with their classes."""
    praise = [text + end for end in ENDS for text in PRAISE]
    blame = [text + end for end in ENDS for text in BLAME]
    return {
        text: label
        for pair in zip(praise, blame, strict=True)
        for text, label in zip(pair, ("For", "Against"), strict=True)
    } | {f"Film {k}: {'see' if k % 2 else 'skip'} it.": ("Against", "For")[k % 2] for k in range(n - 40)}


def tone(hertz: float, seconds: float = 1.0, rate: int = 8000) -> bytes:
    """A sound as a WAV file."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        samples = (int(20_000 * math.sin(2 * math.pi * hertz * n / rate)) for n in range(int(rate * seconds)))
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return stream.getvalue()


def fill(site: Site, mturk: Any, prolific: Any) -> None:
    """Projects in all states: running, finished, empty, with images, sounds, criteria, many classes.

    `mturk` and `prolific` are servers that stand in for these platforms, where HITs and studies are created.
    """
    texts = reviews(60)
    items = [{"name": f"review-{n:02}", "text": text, "gold": label if n % 6 == 0 else None}
             for n, (text, label) in enumerate(texts.items())]  # fmt: skip
    _fill_running(site, texts, items, mturk, prolific)
    done = {**FILMS, "name": "Film reviews of May", "quiz": [], "consent": "", "plan": {"per_item": 3}}
    site.create("finished", done, [{**item, "gold": None} for item in items[:20]])
    site.work("finished", texts, 5 * [site.invite("finished")], votes=40, wrong=9)
    _fill_small(site, list(texts))


def _fill_running(
    site: Site, texts: dict[str, str], items: list[dict[str, Any]], mturk: Any, prolific: Any
) -> None:
    """Workers come through a link, from Prolific and from Mechanical Turk, and comment on an item."""
    id = site.create("running", FILMS, items)
    site.hit = site.requester.send("POST", f"/api/projects/{id}/hits", HIT)["id"]
    site.study = site.requester.send("POST", f"/api/projects/{id}/studies", STUDY)["study"]
    prolific.studies[site.study]["status"] = "ACTIVE"  # a study that leads to loopback is not published
    turkers = [{"mturk": {"assignmentId": f"3ASSIGNMENTEXAMPLE0{n}", "hitId": site.hit,
                          "workerId": f"A{n}EXAMPLEWORKER", "turkSubmitTo": SUBMIT_TO}}
               for n in range(2)]  # fmt: skip
    participants = [{"prolific": {"PROLIFIC_PID": f"5f{n}" + 21 * "0", "STUDY_ID": site.study,
                                  "SESSION_ID": f"7b{n}" + 21 * "0"}} for n in range(2)]  # fmt: skip
    site.work("running", texts, [*turkers, *participants, *(4 * [site.invite("running")])], votes=10)
    for arrival in turkers:
        mturk.add_assignment(arrival["mturk"]["assignmentId"], site.hit, arrival["mturk"]["workerId"])
    finished = site.worker("running", participants[0])
    codes = finished.send("POST", "/api/finish")["code"], "NOCODE"
    finished.close()
    for code, arrival in zip(codes, participants, strict=True):
        ids = arrival["prolific"]
        prolific.add_submission(site.study, ids["PROLIFIC_PID"], id=ids["SESSION_ID"], code=code)
    reader = site.worker("running", site.invite("running"))
    held = reader.send("GET", "/api/next?n=1")["items"][0]
    said = {"item": held["item"], "text": "Irony? I read it twice.", "flagged": True}
    reader.send("POST", "/api/comments", said)
    reader.close()


def _fill_small(site: Site, texts: list[str]) -> None:
    """Projects that show one thing each."""
    two = {**SMALL, "classes": ["Against", "For"], "currency": "EUR"}
    site.create("empty", {**two, "name": "Films of June"}, [])
    digits, _ = load_digits()
    pictures = {f"digit-{n:02}.png": to_png(digits[n]) for n in range(12)}
    asked = {"name": "Handwritten digits", "classes": ["three", "five", "eight", "nine"],
             "question": "Which digit is it?"}  # fmt: skip
    site.upload("images", {**SMALL, **asked}, pictures, "image/png")
    tones = {"name": "Sounds", "classes": ["Low", "High"], "question": "Is the tone low or high?"}
    sounds = {f"tone-{n}.wav": tone(150.0 * (n + 1)) for n in range(6)}
    site.upload("sounds", {**SMALL, **tones}, sounds, "audio/wav")
    many = {
        "name": "What is it about?", "question": "What is the message about?",
        "classes": [f"{word} {part}" for word in ("Orders", "Returns", "Invoices", "Deliveries", "Accounts")
                    for part in ("in general", "that are late", "that went wrong", "from abroad")],
    }  # fmt: skip
    site.create("many", {**SMALL, **many}, [{"text": text} for text in texts[:8]])
    july = {**two, "name": "Films of July", "batch": 3, "comments": True, "flags": True}
    site.create("share", july, [{"text": text} for text in texts])
    site.create("arabic", {**july, "language": "ar"}, [{"text": text} for text in texts])
    held = {**two, "name": "Films of August", "plan": {"per_item": 1}, "policy": "fixed[votes=1]"}
    site.create("held", held, [{"text": text} for text in texts[:2]])
    screening = {
        "name": "Papers on exercise", "classes": ["No", "Yes"],
        "criteria": [{"name": "adults", "question": "Is the paper about adults?"},
                     {"name": "exercise", "question": "Is it about exercise?"}],
    }  # fmt: skip
    site.create("criteria", {**SMALL, **screening}, [{"text": f"Abstract {n} …"} for n in range(6)])
    site.create("archived", {**two, "name": "Films of April"}, [])
    site.requester.send("POST", f"/api/projects/{site.projects['archived']}/archive")
