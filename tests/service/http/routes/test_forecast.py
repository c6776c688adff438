"""The last forecast of a project, while there is something to forecast."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdpilot.service.store import jobs, projects
from tests.service.harness.jobs import JobService
from tests.service.harness.service import sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[JobService]:
    made = JobService(sqlite_url(tmp_path))
    yield made
    made.close()


def queued(service: JobService, project: str) -> list[str]:
    with service.store.reading() as c:
        return [row.kind for row in jobs.latest(c, project) if row.state == jobs.QUEUED]


def test_a_project_that_is_done_has_no_forecast_any_more(service: JobService) -> None:
    project = service.create(costs={"prices": {"crowd": 0.02}})
    names = [f"i{n}" for n in range(60)]
    service.add(project, 60)
    service.vote(project, names, each=2)
    service.refit(project)
    address = f"/api/projects/{project}/forecast"
    with service.requester() as client:
        assert "curves" in client.get(address).json()
        with service.store.writing() as c:
            projects.change(c, project, done=True)
        before = queued(service, project)
        answer = client.get(address)
        assert answer.status_code == 404
        assert answer.json()["detail"] == "the project is done, so that there is nothing to forecast"
        assert queued(service, project) == before, "none is queued either"
        with service.store.writing() as c:
            projects.change(c, project, done=False)
        assert "curves" in client.get(address).json(), "new items open it again"
