"""Screenshots of every page of the service: light and dark, on a desktop and on a phone; see `pictures`."""

from __future__ import annotations

import io
import math
import re
import struct
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page

from crowdpilot.datasets.sets.digits import load_digits, to_png
from crowdpilot.service.demo.client import Client, multipart

DESKTOP, PHONE = (1280, 800), (390, 844)
SCREENS: tuple[tuple[tuple[int, int], Any], ...] = (
    (DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark"),
)  # fmt: skip
SHEET_HEIGHT, GAP = 620, 20  # of a sheet with the four of them, in pixels
MAX_HEIGHT = 1.25  # of what is shown, for each unit of a desktop's width
SETTLE_MS = 400
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
    "guests": {"per_hour": 1000, "per_address": 1000, "checks": 0},
}
PRAISE = ("A gem of a film", "Warm and funny", "What a cast", "I laughed and cried", "A small miracle")
BLAME = ("The story goes nowhere", "Two hours too long", "Dull from the start", "A waste of a cast", "Loud")
ENDS = (", and I would go again.", ", from the first scene on.", ", as so often.", ", whatever critics say.")
SMALL: dict[str, Any] = {"costs": {"prices": {"crowd": 0.05}}, "guests": FILMS["guests"]}


@dataclass
class Site:
    """A running service, a requester of it, and projects by name."""

    address: str
    key: str
    projects: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)  # of workers

    @property
    def requester(self) -> Client:
        """Somebody who may do everything, over HTTP."""
        return Client(self.address, {"X-API-Key": self.key})

    def create(self, name: str, spec: dict[str, Any], items: list[dict[str, Any]]) -> str:
        """A project with items; its id."""
        made = self.requester.send("POST", "/api/projects", spec)
        self.projects[name], self.links[name] = made["id"], made["link"]
        if items:
            self.requester.send("POST", f"/api/projects/{made['id']}/items", {"items": items})
        return str(made["id"])

    def upload(self, name: str, spec: dict[str, Any], files: dict[str, bytes], type: str) -> str:
        """A project with uploaded files; its id."""
        id = self.create(name, spec, [])
        self.requester.send("POST", f"/api/projects/{id}/items", *multipart(files, type))
        return id

    def work(self, name: str, truth: dict[str, str], workers: int, votes: int, wrong: int = 7) -> None:
        """Workers come through the link and vote; every so many-th answer is wrong."""
        spec = self.requester.send("GET", f"/api/projects/{self.projects[name]}")["spec"]
        invite = parse_qs(urlsplit(self.links[name]).query)["invite"][0]
        session = {"project": self.projects[name], "invite": invite, "consent": True,
                   "quiz": [question["label"] for question in spec["quiz"]]}  # fmt: skip
        turn = count(1)
        for _ in range(workers):
            token = Client(self.address, {}).send("POST", "/api/sessions", session)["token"]
            worker = Client(self.address, {"Authorization": f"Bearer {token}"})
            given = 0
            while given < votes and (items := worker.send("GET", "/api/next?n=5")["items"]):
                for item in items:
                    n = next(turn)
                    label = truth.get(item["content"].get("text", ""), spec["classes"][0])
                    if n % wrong == 0:
                        label = next(other for other in spec["classes"] if other != label)
                    vote = {"item": item["item"], "criterion": item["criterion"], "label": label,
                            "seconds": 2.0 + n % 5, "key": f"gallery-{n:08}"}  # fmt: skip
                    worker.send("POST", "/api/votes", vote)
                    given += 1


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


def fill(site: Site) -> None:
    """Projects in all states: running, finished, empty, with images, sounds, criteria and many classes."""
    texts = reviews(60)
    items = [{"name": f"review-{n:02}", "text": text, "gold": label if n % 6 == 0 else None}
             for n, (text, label) in enumerate(texts.items())]  # fmt: skip
    site.create("running", FILMS, items)
    site.work("running", texts, workers=6, votes=12)
    done = {**FILMS, "name": "Film reviews of May", "quiz": [], "consent": "", "plan": {"per_item": 3}}
    site.create("finished", done, [{**item, "gold": None} for item in items[:20]])
    site.work("finished", texts, workers=5, votes=40, wrong=9)
    site.create("empty", {**SMALL, "name": "Films of June", "classes": ["Against", "For"]}, [])
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
    site.create("many", {**SMALL, **many}, [{"text": text} for text in list(texts)[:8]])
    share = {**SMALL, "name": "Films of July", "classes": ["Against", "For"], "batch": 3, "currency": "EUR"}
    site.create("share", share, [{"text": text} for text in texts])
    screening = {
        "name": "Papers on exercise", "classes": ["No", "Yes"],
        "criteria": [{"name": "adults", "question": "Is the paper about adults?"},
                     {"name": "exercise", "question": "Is it about exercise?"}],
    }  # fmt: skip
    site.create("criteria", {**SMALL, **screening}, [{"text": f"Abstract {n} …"} for n in range(6)])


# The pages -------------------------------------------------------------------------------------

Show = Callable[[Site, Page], None]


class Shot(NamedTuple):
    """A page of the service: the name of its picture, what it is, and how it is opened."""

    name: str
    title: str
    show: Show
    is_worker: bool = False


def _dashboard(path: str, project: str = "running") -> Show:
    def show(site: Site, page: Page) -> None:
        page.goto(f"{site.address}{path.format(id=site.projects[project])}")

    return show


def _first_link(path: str, pattern: str) -> Show:
    """The first page of this kind that a list links to."""

    def show(site: Site, page: Page) -> None:
        page.goto(f"{site.address}{path.format(id=site.projects['running'])}")
        addresses = page.eval_on_selector_all("main a", "links => links.map(link => link.href)")
        page.goto(next(address for address in addresses if re.search(pattern, address)))

    return show


def _consent(site: Site, page: Page) -> None:
    page.goto(site.links["running"])


def _instructions(site: Site, page: Page) -> None:
    _consent(site, page)
    page.get_by_role("button", name="I agree").click()
    page.wait_for_url("**/instructions")


def _quiz(site: Site, page: Page) -> None:
    _instructions(site, page)
    page.locator("main .btn--primary").click()
    page.wait_for_url("**/quiz")


def _failed(site: Site, page: Page) -> None:
    _quiz(site, page)
    for _ in range(2):
        for wrong in ("Against", "For"):
            page.locator(f'input[name="answer-{int(wrong == "For")}"][value="{wrong}"]').check()
        page.locator("form .btn--primary").click()
        page.wait_for_load_state()


def _label(project: str) -> Show:
    def show(site: Site, page: Page) -> None:
        page.goto(site.links[project])
        page.locator("main .btn--primary").first.click()
        page.wait_for_url("**/label")

    return show


def _after(project: str, answers: int) -> Show:
    """What a worker sees after so many answers."""

    def show(site: Site, page: Page) -> None:
        _label(project)(site, page)
        for _ in range(answers):
            page.wait_for_timeout(SETTLE_MS)
            page.keyboard.press("1")
        page.wait_for_url("**/done")

    return show


def _paused(site: Site, page: Page) -> None:
    _label("share")(site, page)
    page.keyboard.press("p")
    page.wait_for_url("**/pause")


def _newcomer(site: Site, page: Page) -> None:
    page.goto(site.links["finished"])


SHOTS = (
    Shot("projects", "All projects", _dashboard("/projects")),
    Shot("new", "A new project", _dashboard("/projects/new")),
    Shot("overview", "A project that is running", _dashboard("/projects/{id}")),
    Shot("overview-finished", "A project that is finished", _dashboard("/projects/{id}", "finished")),
    Shot("overview-empty", "A project without items", _dashboard("/projects/{id}", "empty")),
    Shot("add", "Items are added", _dashboard("/projects/{id}/add")),
    Shot("items", "All items", _dashboard("/projects/{id}/items")),
    Shot("item", "Why an item is decided", _first_link("/projects/{id}/items", r"/items/[0-9]+$")),
    Shot("review", "Decisions are reviewed", _dashboard("/projects/{id}/review")),
    Shot("workers", "All workers", _dashboard("/projects/{id}/workers")),
    Shot("worker", "One worker", _first_link("/projects/{id}/workers", r"/workers/[0-9]+$")),
    Shot("recruiting", "Where workers come from", _dashboard("/projects/{id}/recruiting")),
    Shot("links", "Invitations", _dashboard("/projects/{id}/links")),
    Shot("audit", "An audit", _dashboard("/projects/{id}/audit", "finished")),
    Shot("export", "Exports", _dashboard("/projects/{id}/export", "finished")),
    Shot("settings", "Settings of a project", _dashboard("/projects/{id}/settings")),
    Shot("team", "Who may do what", _dashboard("/projects/{id}/members")),
    Shot("log", "Who did what", _dashboard("/projects/{id}/log")),
    Shot("delete", "A project is deleted", _dashboard("/projects/{id}/delete")),
    Shot("keys", "Keys", _dashboard("/keys")),
    Shot("members", "Members", _dashboard("/members")),
    Shot("sign-in", "Signing in", _dashboard("/login"), True),
    Shot("worker-consent", "Consent", _consent, True),
    Shot("worker-instructions", "Instructions", _instructions, True),
    Shot("worker-quiz", "The quiz", _quiz, True),
    Shot("worker-failed", "The quiz was not passed", _failed, True),
    Shot("worker-image", "An image", _label("images"), True),
    Shot("worker-sound", "A sound", _label("sounds"), True),
    Shot("worker-many", "Many classes", _label("many"), True),
    Shot("worker-criteria", "Several questions about an item", _label("criteria"), True),
    Shot("worker-pause", "A break", _paused, True),
    Shot("worker-done", "The share is done", _after("share", 3), True),
    Shot("worker-complete", "The study is complete", _newcomer, True),
)


def take(browser: Browser, site: Site, sign_in: str, folder: Path) -> None:
    """Save a sheet of each page in a folder: desktop and phone, light and dark."""
    fill(site)
    folder.mkdir(exist_ok=True)
    with _context(browser, DESKTOP, "light") as first:
        page = first.new_page()
        page.goto(f"{site.address}{sign_in}")
        page.wait_for_url("**/projects")
        state = first.storage_state()
    for shot in SHOTS:
        shown = [
            _screenshot(browser, site, shot, *screen, None if shot.is_worker else state) for screen in SCREENS
        ]
        save_sheet(shown, folder / f"{shot.name}.webp")


@contextmanager
def _context(
    browser: Browser, size: tuple[int, int], scheme: Any, state: Any = None
) -> Iterator[BrowserContext]:
    screen: Any = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=screen, color_scheme=scheme, storage_state=state)
    context.set_default_timeout(10_000)
    yield context
    context.close()


def _screenshot(
    browser: Browser, site: Site, shot: Shot, size: tuple[int, int], scheme: Any, state: Any
) -> Image.Image:
    with _context(browser, size, scheme, state) as context:
        page = context.new_page()
        shot.show(site, page)
        page.wait_for_timeout(SETTLE_MS)
        return Image.open(io.BytesIO(page.screenshot(full_page=True)))


def save_sheet(shown: list[Image.Image], file: Path) -> None:
    """Save screenshots side by side, all of one height; what is longer is cut."""
    scaled = []
    for shot in shown:
        longest = int(MAX_HEIGHT * DESKTOP[0] if shot.width == DESKTOP[0] else 2.6 * shot.width)
        cut = shot.convert("RGB").crop((0, 0, shot.width, min(shot.height, longest)))
        scale = SHEET_HEIGHT / longest
        scaled.append(cut.resize((round(cut.width * scale), round(cut.height * scale))))
    width = sum(shot.width + GAP for shot in scaled) + GAP
    sheet = Image.new("RGB", (width, SHEET_HEIGHT + 2 * GAP), "#d7dce3")
    x = GAP
    for shot in scaled:
        sheet.paste(shot, (x, GAP))
        x += shot.width + GAP
    sheet.save(file, quality=72, method=6)


def write_page(file: Path) -> None:
    """Write the page of the docs with all sheets."""
    lines = [
        "# Pages of the service",
        "",
        "Every page on a desktop and on a phone, in light and in dark; taken by `make pictures`.",
    ]
    for title, is_worker in (("For requesters", False), ("For workers", True)):
        lines += ["", f"## {title}"]
        for shot in SHOTS:
            if shot.is_worker is is_worker:
                lines += ["", f"### {shot.title}", "", f"![{shot.title}](images/pages/{shot.name}.webp)"]
    file.write_text("\n".join(lines) + "\n")
