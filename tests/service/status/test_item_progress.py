"""Items are open, settled or final, and the model never takes back that an item is final."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdpilot.service.jobs import runner
from crowdpilot.service.status.item_progress import ItemProgress, count_items
from crowdpilot.service.store import items, projects, workers
from tests.service.harness.jobs import JobService
from tests.service.harness.service import sqlite_url

NAMES = [f"i{n}" for n in range(60)]
PRICE = {"prices": {"crowd": 0.05}}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[JobService]:
    made = JobService(sqlite_url(tmp_path))
    yield made
    made.close()


def progress(service: JobService, project: str) -> ItemProgress:
    return count_items(*service.context.replica(project))


def test_the_final_count_never_falls_while_a_campaign_learns(service: JobService) -> None:
    project = service.create(costs=PRICE, plan={"per_item": 4, "refit_every": 20})
    service.add(project, 60)
    with service.store.writing() as c:
        items.set_gold(c, project, {name: ["no", "yes"][service.truth[name]] for name in NAMES[:5]})
    seen, settled = [progress(service, project).final], []
    for each, names in ((1, NAMES), (3, NAMES[10:30]), (3, NAMES[30:]), (4, NAMES[5:25]), (4, NAMES)):
        service.vote(project, names, each=each, skill=0.75, seed=each)
        seen.append(progress(service, project).final)
        service.refit(project)
        now = progress(service, project)
        assert now.items == 60
        seen.append(now.final)
        settled.append(now.settled)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (5, 60)
    assert len(set(settled)) > 1


def test_the_final_count_does_not_fall_when_a_guest_fails_the_checks(service: JobService) -> None:
    project = service.create(costs=PRICE, plan={"per_item": 2})
    service.add(project, 20)
    with service.store.writing() as c:
        items.set_gold(c, project, {name: ["no", "yes"][service.truth[name]] for name in NAMES[:5]})
    service.vote(project, NAMES[5:12], each=2, skill=1.0)
    before = progress(service, project)
    assert before == ItemProgress(open=8, settled=7, final=5)
    with service.store.writing() as c:
        workers.change(c, project, workers.list_all(c, project)[0].id, guest=True, trusted=False)
    assert progress(service, project) == ItemProgress(open=15, settled=0, final=5)


def test_full_items_are_final_where_no_vote_can_be_left_out(service: JobService) -> None:
    unchecked = service.create(costs=PRICE, plan={"per_item": 2}, guests={"checks": 0})
    without_gold = service.create(costs=PRICE, plan={"per_item": 2})
    for project in (unchecked, without_gold):
        service.add(project, 20)
        service.vote(project, NAMES[5:12], each=2, skill=1.0)
    with service.store.writing() as c:
        items.set_gold(c, unchecked, {"i0": "no"})
    assert progress(service, unchecked) == ItemProgress(open=12, settled=0, final=8)
    assert progress(service, without_gold) == ItemProgress(open=13, settled=0, final=7)


def test_items_with_as_many_votes_as_every_item_gets_are_final(service: JobService) -> None:
    project = service.create(costs=PRICE, policy="fixed[votes=2]")
    service.add(project, 20)
    service.vote(project, NAMES[:8], each=2, skill=0.7)
    service.vote(project, NAMES[8:12], each=1, skill=0.7)
    assert progress(service, project) == ItemProgress(open=12, settled=0, final=8)


def test_the_final_count_does_not_fall_after_a_late_vote(service: JobService) -> None:
    project = service.create(costs=PRICE)
    service.add(project, 20)
    service.vote(project, NAMES[:20], each=4, skill=1.0)
    service.refit(project)
    assert progress(service, project).final == 20
    service.vote(project, NAMES[:1], each=5, skill=1.0)
    service.enqueue(project, "completion")
    assert runner.step(service.context, "tests")
    assert progress(service, project).final == 20


def test_what_a_person_has_decided_is_final(service: JobService) -> None:
    project = service.create(costs=PRICE)
    service.add(project, 10)
    assert progress(service, project) == ItemProgress(10, 0, 0)
    with service.store.writing() as c:
        items.change(c, project, ["i0"], state=items.STOPPED)
        items.change(c, project, ["i1"], state=items.WITHDRAWN)
        items.set_gold(c, project, {"i2": "no"})
        items.change(c, project, ["i3"], override={"label": "yes", "by": "ann", "time": 0.0})
    assert progress(service, project) == ItemProgress(6, 0, 3)
    with service.store.writing() as c:
        projects.change(c, project, state=projects.CLOSED)
    assert progress(service, project) == ItemProgress(0, 0, 9)


def test_the_api_and_the_results_of_refits_have_the_counts(service: JobService) -> None:
    project = service.create(costs=PRICE)
    service.add(project, 20)
    service.vote(project, NAMES[:20], each=3, skill=0.95)
    result = service.refit(project)
    with service.requester() as client:
        found = client.get(f"/api/projects/{project}").json()
    assert found["status"]["items"] == 20
    assert sum(found["progress"].values()) == 20
    assert result["settled"] + result["final"] + result["open"] == 20
