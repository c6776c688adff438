"""Run of the demonstration: create a project over HTTP, let the crowd label it, and compare the cost."""

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
from crowdpilot.service.demo.cost_saving import CostSaving, compare
from crowdpilot.service.demo.crowd import SimulatedCrowd

CLASSES = ["three", "five", "eight", "nine"]
PROJECT = {
    "name": "Handwritten digits",
    "classes": CLASSES,
    "question": "Which digit is it?",
    "instructions": "Look at the image and choose the digit that the writer meant.\n\n"
    "If you really cannot tell, say so: nobody is worse off for it.",
    "costs": {"prices": {"crowd": 0.02}},
    "guests": {"per_address": 1000},  # all simulated workers come from one address
    "machine": "tfidf",
    "batch": 5,
}
Progress = Callable[[str, int, int], None]  # project id, settled items, votes
IMAGES_PER_UPLOAD = 200
TIMEOUT_SECONDS = 600.0  # for the labelling, and for the report
VOTES_PER_ITEM = 2.0  # about, to plan the pauses of workers


@dataclass(frozen=True)
class DemoResult:
    """The result of a demonstration.

    Parameters
    ----------
    project
        Its id.
    items, votes, wrong
        Their numbers; wrong decisions are counted by the true classes, which the service does not have.
    saving
        Against the same number of votes on every item.
    report
        The report, as HTML.
    """

    project: str
    items: int
    votes: int
    wrong: int
    saving: CostSaving
    report: bytes


def run_demo(
    address: str,
    key: str,
    *,
    seconds: float = 60.0,
    items: int = 600,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> DemoResult:
    """Create a project, let thirty simulated workers label it over HTTP, and compare the cost.

    Parameters
    ----------
    address, key
        Of a running service.
    seconds
        How long it takes, about.
    items
        How many images, up to 600.
    seed
        Of the answers of the crowd.
    on_progress
        Callback that gets the project id, the number of settled items and of votes, about every second.
    """
    images, names = load_digits()
    images, names = images[:items], names[:items]
    crowd = SimulatedCrowd([CLASSES.index(name) for name in names], len(CLASSES), seed)
    requester = Client(address, {"X-API-Key": key})
    created = requester.send("POST", "/api/projects", {**PROJECT, "plan": {"seed": seed}})
    project = created["id"]
    files = {f"digit-{n:03}.png": to_png(image) for n, image in enumerate(images)}
    for n in range(0, len(files), IMAGES_PER_UPLOAD):
        part = dict(list(files.items())[n : n + IMAGES_PER_UPLOAD])
        requester.send("POST", f"/api/projects/{project}/items", *multipart(part, "image/png"))
    if on_progress is not None:
        on_progress(project, 0, 0)
    invite = parse_qs(urlsplit(created["link"]).query)["invite"][0]
    pause = seconds * len(crowd) / (VOTES_PER_ITEM * len(images))
    item_of = {sha256(data).hexdigest(): n for n, data in enumerate(files.values())}
    labelling = Labelling(address, project, invite, crowd, item_of, pause, threading.Event())
    _label(labelling, requester, on_progress)
    return _result(requester, project, crowd)


class Labelling(NamedTuple):
    """What all workers share: `item_of` maps digests of files to items, `pause` is the mean time per vote."""

    address: str
    project: str
    invite: str
    crowd: SimulatedCrowd
    item_of: dict[str, int]
    pause: float
    over: threading.Event


def _label(labelling: Labelling, requester: Client, on_progress: Progress | None) -> None:
    """Let all workers label at once, until no more votes are needed."""
    end = time.monotonic() + TIMEOUT_SECONDS
    with ThreadPoolExecutor(len(labelling.crowd)) as pool:
        workers = [pool.submit(_work, labelling, w) for w in range(len(labelling.crowd))]
        try:
            while time.monotonic() < end and not all(worker.done() for worker in workers):
                now = requester.send("GET", f"/api/projects/{labelling.project}")
                if on_progress is not None:
                    items = now["progress"]
                    on_progress(labelling.project, items["settled"] + items["final"], now["votes"])
                if now["done"]:
                    break
                labelling.over.wait(1.0)
        finally:
            labelling.over.set()
    for worker in workers:
        worker.result()


def _work(labelling: Labelling, w: int) -> None:
    """One worker: leases an item, waits, and sends the answer of the simulated crowd."""
    rng = np.random.default_rng([w, len(labelling.crowd)])
    anonymous = Client(labelling.address, {})
    session = {"project": labelling.project, "invite": labelling.invite}
    token = anonymous.send("POST", "/api/sessions", session)["token"]
    anonymous.close()
    client = Client(labelling.address, {"Authorization": f"Bearer {token}"})
    while not labelling.over.wait(seconds := rng.exponential(labelling.pause)):
        leased = client.send("GET", "/api/next?n=1")["items"]
        for item in leased:
            n = labelling.item_of[item["content"]["image"].rpartition("/")[2]]
            label = CLASSES[labelling.crowd.answers[w, n]]
            vote = {"item": item["item"], "label": label, "seconds": seconds, "key": uuid4().hex}
            client.send("POST", "/api/votes", vote)
        if not leased:
            labelling.over.wait(0.5)
    client.close()


def _result(requester: Client, project: str, crowd: SimulatedCrowd) -> DemoResult:
    lines = requester.send("GET", f"/api/projects/{project}/decisions?format=ndjson").splitlines()
    labels = {row["item"]: row["label"] for row in map(json.loads, lines)}
    decided = np.array([CLASSES.index(labels[f"digit-{n:03}.png"]) for n in range(len(crowd.truth))])
    wrong, N = int((decided != crowd.truth).sum()), len(decided)
    votes = int(requester.send("GET", f"/api/projects/{project}")["votes"])
    saving = compare(crowd, votes / N, wrong / N)
    return DemoResult(project, N, votes, wrong, saving, _report(requester, project))


def _report(requester: Client, project: str) -> bytes:
    """Wait for the report."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        page = requester.send("GET", f"/api/projects/{project}/report?wait=30")
        if isinstance(page, bytes):
            return page
    raise ValueError("the report is not made in time; see the project's jobs in the dashboard")
