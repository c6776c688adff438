"""The show: makes the project through the API, lets the crowd label, and says what came out."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import numpy as np

from crowdpilot.datasets.sets.digits import load_digits, to_png
from crowdpilot.service.demo.client import Client, multipart
from crowdpilot.service.demo.cost_saving import Saving, compare
from crowdpilot.service.demo.crowd import Crowd

CLASSES = ["three", "five", "eight", "nine"]
PROJECT = {
    "name": "Handwritten digits",
    "classes": CLASSES,
    "question": "Which digit is it?",
    "instructions": "Look at the image and choose the digit that the writer meant.\n\n"
    "If you really cannot tell, say so: nobody is worse off for it.",
    "costs": {"prices": {"crowd": 0.02}},
    "machine": "tfidf",
    "batch": 5,
}
Watch = Callable[[str, int, int], None]
UPLOAD = 200  # images in one request
GIVE_UP = 600.0  # seconds after which nobody waits any more


@dataclass(frozen=True)
class Show:
    """What came out of a demonstration.

    Parameters
    ----------
    project
        Its id.
    items, votes, wrong
        How many there were; wrong decisions are counted by the truth, which the service was not told.
    saving
        Beside the same number of votes on every item.
    report
        The report, as a page.
    """

    project: str
    items: int
    votes: int
    wrong: int
    saving: Saving
    report: bytes


def run(
    address: str,
    key: str,
    *,
    seconds: float = 60.0,
    items: int = 600,
    seed: int = 0,
    watch: Watch | None = None,
) -> Show:
    """Make a project, let thirty simulated workers label it over HTTP, and compare.

    Parameters
    ----------
    address, key
        Of a running service.
    seconds
        How long it takes, about.
    items
        How many images, up to 600.
    seed
        Draws who says what.
    watch
        Is told the project, and now and then how many items are decided and how many votes came.
    """
    images, names = load_digits()
    images, names = images[:items], names[:items]
    crowd = Crowd([CLASSES.index(name) for name in names], len(CLASSES), seed)
    office = Client(address, {"X-API-Key": key})
    made = office.send("POST", "/api/projects", {**PROJECT, "plan": {"seed": seed}})
    project = made["id"]
    files = {f"digit-{n:03}.png": to_png(image) for n, image in enumerate(images)}
    for n in range(0, len(files), UPLOAD):
        some = dict(list(files.items())[n : n + UPLOAD])
        office.send("POST", f"/api/projects/{project}/items", *multipart(some, "image/png"))
    if watch is not None:
        watch(project, 0, 0)
    invite = parse_qs(urlsplit(made["link"]).query)["invite"][0]
    pause = seconds * len(crowd) / (2.0 * len(images))  # two votes for each item, roughly
    place = {sha256(data).hexdigest(): n for n, data in enumerate(files.values())}
    _label(Stage(address, project, invite, crowd, place, pause, threading.Event()), office, watch)
    return _outcome(office, project, crowd)


class Stage(NamedTuple):
    """Where everybody works: `place` tells which image a digest belongs to, `pause` how long they think."""

    address: str
    project: str
    invite: str
    crowd: Crowd
    place: dict[str, int]
    pause: float
    over: threading.Event


def _label(stage: Stage, office: Client, watch: Watch | None) -> None:
    """Everybody labels at once until nothing is wanted any more."""
    end = time.monotonic() + GIVE_UP
    with ThreadPoolExecutor(len(stage.crowd)) as pool:
        people = [pool.submit(_work, stage, w) for w in range(len(stage.crowd))]
        try:
            while time.monotonic() < end and not all(person.done() for person in people):
                now = office.send("GET", f"/api/projects/{stage.project}")
                if watch is not None:
                    watch(stage.project, now["status"]["done"], now["votes"])
                if now["done"]:
                    break
                stage.over.wait(1.0)
        finally:
            stage.over.set()
    for person in people:
        person.result()


def _work(stage: Stage, w: int) -> None:
    """One worker: takes what they are given, thinks a while, and says what they always say."""
    rng = np.random.default_rng([w, len(stage.crowd)])
    entrance = Client(stage.address, {})
    session = {"project": stage.project, "invite": stage.invite}
    token = entrance.send("POST", "/api/sessions", session)["token"]
    entrance.close()
    client = Client(stage.address, {"Authorization": f"Bearer {token}"})
    while not stage.over.wait(thought := rng.exponential(stage.pause)):
        lent = client.send("GET", "/api/next?n=1")["items"]
        for item in lent:
            n = stage.place[item["content"]["image"].rpartition("/")[2]]
            label = CLASSES[stage.crowd.says[w, n]]
            vote = {"item": item["item"], "label": label, "seconds": thought, "key": uuid4().hex}
            client.send("POST", "/api/votes", vote)
        if not lent:
            stage.over.wait(0.5)
    client.close()


def _outcome(office: Client, project: str, crowd: Crowd) -> Show:
    lines = office.send("GET", f"/api/projects/{project}/decisions?format=ndjson").splitlines()
    found = {row["item"]: row["label"] for row in map(json.loads, lines)}
    said = np.array([CLASSES.index(found[f"digit-{n:03}.png"]) for n in range(len(crowd.truth))])
    wrong, N = int((said != crowd.truth).sum()), len(said)
    votes = int(office.send("GET", f"/api/projects/{project}")["votes"])
    saving = compare(crowd, votes / N, wrong / N)
    return Show(project, N, votes, wrong, saving, _report(office, project))


def _report(office: Client, project: str) -> bytes:
    """The report, as soon as it is made."""
    end = time.monotonic() + GIVE_UP
    while time.monotonic() < end:
        page = office.send("GET", f"/api/projects/{project}/report?wait=30")
        if isinstance(page, bytes):
            return page
    raise ValueError("the report is not made in time; see the project's jobs in the dashboard")
