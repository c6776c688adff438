"""How many submissions are still needed: from open items, and never none while some are open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdpilot.service.requesters.recruiting import submissions_needed
from crowdpilot.service.requesters.recruiting.submissions_needed import Needed, OpenItems, read_open_items
from crowdpilot.service.store import items, jobs, projects
from tests.service.harness.jobs import JobService
from tests.service.harness.service import sqlite_url

NAMES = [f"i{n}" for n in range(20)]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[JobService]:
    made = JobService(sqlite_url(tmp_path))
    yield made
    made.close()


def needed(service: JobService, project: str, found: OpenItems | None = None) -> Needed:
    found = read_open_items(*service.context.replica(project)) if found is None else found
    with service.store.reading() as c:
        return submissions_needed.workers_needed(c, projects.find(c, project), [10], found)


def forecast(service: JobService, project: str, votes: float) -> None:
    with service.store.writing() as c:
        jobs.record_done(c, project, "forecast", {"total": {"votes": {"median": votes}}})


def create(service: JobService, **more: Any) -> str:
    project = service.create(**more)
    service.add(project, 20)
    return project


def test_a_forecast_says_how_many_answers_are_missing(service: JobService) -> None:
    project = create(service)
    forecast(service, project, 75)
    service.vote(project, NAMES, each=1, skill=0.75)
    found = needed(service, project)
    assert found.workers == 6
    assert found.words.startswith(
        "The forecast expects 75 answers in all, and 20 came: 55 are missing, and 10 answers were given"
    )


@pytest.mark.parametrize("expected", [15, 20])
def test_a_forecast_that_was_exceeded_is_named_and_open_items_count(
    service: JobService, expected: int
) -> None:
    project = create(service)
    forecast(service, project, expected)
    service.vote(project, NAMES, each=1, skill=0.75)
    found = needed(service, project)
    assert found.workers == 4  # 20 items that have one answer of three
    assert found.words.startswith(f"20 answers came, though the forecast expected {expected}. Still 20 items")


def test_items_that_need_no_answers_are_not_counted(service: JobService) -> None:
    project = create(service)
    with service.store.writing() as c:
        items.change(c, project, NAMES[:5], state=items.WITHDRAWN)
        items.change(c, project, NAMES[5:7], state=items.STOPPED)
        items.set_gold(c, project, dict.fromkeys(NAMES[7:10], "no"))
        items.change(c, project, NAMES[10:12], override={"label": "yes", "by": "ann", "time": 0.0})
    found = needed(service, project)
    assert found.workers == 3  # 24 answers
    assert "8 items are open; we guess that each gets 3 answers" in found.words


def test_a_fixed_number_of_answers_is_counted_exactly(service: JobService) -> None:
    project = create(service, policy="fixed[votes=3]")
    service.vote(project, NAMES[:10], each=3, skill=0.9)
    service.vote(project, NAMES[10:], each=1, skill=0.9, seed=1)
    found = needed(service, project)
    assert found.workers == 2
    assert found.words.startswith("10 items are open, and each gets 3 answers: 20 are missing")


def test_decided_items_tell_how_many_answers_others_get(service: JobService) -> None:
    project = create(service)
    found = OpenItems(3, np.array([1.0, 4.0, 5.0]), np.array([0.0, 0.0, 8.0]), usual_answers=4.2)
    shown = needed(service, project, found)
    assert shown.workers == 1  # 3.2, one more, and three that somebody asked for
    assert (
        "each gets 4.2 answers, as many as where it is decided, and at least one more: 7 are" in shown.words
    )


def test_while_an_item_is_open_one_place_is_needed(service: JobService) -> None:
    project = create(service)
    forecast(service, project, 20.2)
    service.vote(project, NAMES, each=1, skill=0.75)
    assert needed(service, project).workers == 1
    none = OpenItems(0, np.zeros(0), np.zeros(0))
    assert needed(service, project, none) == (0, "No item is open: no more answers are needed now.")


def test_without_a_campaign_the_items_of_the_last_refit_are_counted(service: JobService) -> None:
    project = create(service, plan={"per_item": 2})
    with service.store.reading() as c:
        found = submissions_needed.workers_needed(c, projects.find(c, project), [10])
    assert (found.workers, "20 items are open" in found.words) == (6, True)
    service.vote(project, NAMES[:10], each=2, skill=0.9)
    service.refit(project)
    with service.store.reading() as c:
        found = submissions_needed.workers_needed(c, projects.find(c, project), [10])
    assert (found.workers, "10 items are open" in found.words) == (3, True)
