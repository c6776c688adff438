"""Diagnoses of small crowds, ordinary and odd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from crowdpilot.aggregation import Auto, NaiveSoft
from crowdpilot.diagnosis import Diagnosis, diagnose
from crowdpilot.reporting import report
from crowdpilot.simulation import STRATEGIES
from crowdpilot.votes import Votes
from tests.crowds import partial_votes

NASTY = [
    "<script>alert('worker')</script>",
    "</script><img src=x onerror=alert(1)>",
    'say "hi" & go',
    "two\nlines\ttab",
    "$x^2$ and \\$5",
    "日本語のとても長い名前がここにあります",
    "🦆",
    "\u2028\u2029",
    "x" * 5000,
    "{{ 7 * 7 }}{% raw %}",
    "",
]


def draw(tasks: int, workers: int, classes: int, seed: int = 0, share: float = 0.4) -> Votes:
    """Votes of workers who are right more often than not."""
    skill = np.random.default_rng(seed).uniform(0.5, 1, workers)
    return partial_votes(tasks, skill.tolist(), classes, share, seed)[0]


def named(votes: Votes) -> Votes:
    """The same votes with names that break careless pages."""

    def names(n: int, kind: str) -> np.ndarray:
        array = np.empty(n, object)
        array[:] = [*NASTY, *(f"{kind} {k}" for k in range(n))][:n]
        return array

    return replace(
        votes,
        tasks=names(len(votes.tasks), "task"),
        workers=names(len(votes.workers), "worker"),
        classes=names(len(votes.classes), "class"),
    )


def timed(votes: Votes) -> Votes:
    """The same votes with times and seconds, some of them unknown or zero."""
    rng = np.random.default_rng(1)
    seconds = rng.lognormal(2, 1, len(votes))
    seconds[:3] = np.nan, 0, 1e6
    return replace(votes, seconds=seconds, time=rng.random(len(votes)) * 1e5)


def full() -> Votes:
    """Spammers, colluders, drift, seconds, times and gold, and workers who err."""
    settings = {
        "tasks": 400,
        "workers": 40,
        "classes": 4,
        "votes_per_task": 16,
        "drifting": 0.15,
        "colluding": 0.15,
    }
    crowd = STRATEGIES["independent-confusion"](
        concentration=0.2, group_size=3, seconds=8.0, seed=2, **settings
    )
    votes, truth = crowd.run()
    rng = np.random.default_rng(3)
    label = np.where(votes.worker < 4, rng.integers(4, size=len(votes)), votes.label)
    votes = replace(votes, label=label, classes=np.array(["cat", "dog", "emu", "fox"], object), dropped=7)
    return votes.with_gold({t: votes.classes[truth[t]] for t in range(60)})


ODD: dict[str, Callable[[], Votes]] = {
    "one vote": lambda: Votes.of(["a"], ["x"], ["cat"]),
    "one vote, two classes": lambda: Votes.of(["a"], ["x"], ["cat"], classes=["cat", "dog"]),
    "one worker": lambda: draw(20, 1, 3, share=1),
    "one task": lambda: draw(1, 12, 3, share=1),
    "one class": lambda: draw(10, 5, 1),
    "all votes equal": lambda: Votes.of([1, 1, 2, 2], list("xyxy"), list("aaaa"), classes=["a", "b"]),
    "a class without a vote": lambda: replace(draw(30, 6, 2), classes=np.array(["a", "b", "c"], object)),
    "nasty names": lambda: timed(named(draw(40, 15, 12))),
    "200 classes": lambda: replace(
        draw(300, 3, 200), classes=np.array([f"class {k} of many" for k in range(200)], object)
    ),
    "many workers": lambda: draw(60, 3000, 3, share=0.05),
    "tasks and workers without votes": lambda: replace(
        draw(10, 4, 2), tasks=np.arange(13), workers=np.arange(7)
    ),
    "two workers who never meet": lambda: Votes.of([1, 2], ["x", "y"], ["a", "b"]),
    "seconds and times": lambda: timed(draw(50, 10, 3)),
    "all seconds equal": lambda: replace(draw(20, 5, 2), seconds=np.full(len(draw(20, 5, 2)), 3.0)),
    "all there is": full,
}  # fmt: skip


@cache
def diagnosed(name: str) -> Diagnosis:
    """Of an odd crowd, made once."""
    votes = ODD[name]()
    return diagnose(votes, NaiveSoft() if len(votes.classes) > 100 else Auto(), samples=20)


@cache
def page_of(name: str) -> str:
    """With a truth and texts that are made up."""
    diagnosis = diagnosed(name)
    tasks, wrong = diagnosis.votes.tasks.tolist(), diagnosis.votes.classes[-1]
    texts = {task: f"Text of <b>{task}</b>" for task in tasks}
    truth = dict.fromkeys(tasks, wrong)
    return report(diagnosis, truth=truth, texts=texts, title=f"<i>{name}</i>", date="1 May 2025")


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest) -> Diagnosis:
    """Each of the odd crowds, and an ordinary one."""
    return diagnosed(request.param)


@pytest.fixture
def whole() -> Diagnosis:
    """A crowd with all there is to find."""
    return diagnosed("all there is")


@pytest.fixture
def nasty() -> Diagnosis:
    """A crowd whose names break careless pages."""
    return diagnosed("nasty names")


@pytest.fixture
def of() -> Callable[[str], Diagnosis]:
    """A crowd by its name."""
    return diagnosed


@pytest.fixture
def page() -> Callable[[str], str]:
    """The page of a crowd by its name."""
    return page_of
