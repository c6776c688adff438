from __future__ import annotations

import threading

from crowdpilot.service.jobs import runner
from crowdpilot.service.store import jobs
from tests.service.harness.jobs import JobService

NAMES = [f"i{n}" for n in range(60)]


def test_a_report_is_made_on_request_and_stored(any_service: JobService) -> None:
    service = any_service
    project = service.create(name="<b>Reviews</b>")
    service.add(project, 60)
    service.vote(project, NAMES, each=4)
    service.refit(project)
    address = f"/api/projects/{project}/report?wait=0"
    with service.requester() as client:
        soon = client.get(address)
        assert (soon.status_code, soon.json()["state"]) == (202, "queued")
        service.do_jobs()
        page = client.get(address)
        assert page.headers["content-type"].startswith("text/html")
        assert "&lt;b&gt;Reviews" in page.text
        assert "<b>Reviews" not in page.text
        assert "the campaign of the project" in page.text
        listed = client.get(f"/api/projects/{project}/jobs").json()["jobs"]
        assert "html" not in listed[0]["result"]
        service.vote(project, NAMES[:1], each=5)
        assert client.get(address).status_code == 202
        service.do_jobs()
        assert client.get(address).status_code == 200
    with service.store.reading() as c:
        pages = [row for row in jobs.latest(c, project) if row.kind == "report"]
    assert [row.result is None for row in pages] == [False, True]


def test_a_report_is_waited_for(service: JobService) -> None:
    project = service.create()
    service.add(project, 60)
    service.vote(project, NAMES)
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(service.settings, "jobs-1", stop))
    thread.start()
    try:
        with service.requester() as client:
            page = client.get(f"/api/projects/{project}/report?wait=30")
    finally:
        stop.set()
        thread.join()
    assert page.status_code == 200
    assert page.text.startswith("<!")


def test_a_report_has_one_page_for_each_criterion(service: JobService) -> None:
    project = service.create(criteria=[{"name": "new"}, {"name": "good"}], machine="tfidf")
    service.add(project, 60)
    service.vote(project, NAMES)
    service.refit(project)
    address = f"/api/projects/{project}/report"
    with service.requester() as client:
        assert client.get(address, params={"criterion": "old"}).status_code == 404
        assert client.get(address, params={"wait": 0}).status_code == 202
        service.do_jobs()
        assert "reviews: new" in client.get(address).text


def test_without_votes_there_is_nothing_to_report(service: JobService) -> None:
    project = service.create()
    with service.requester() as client:
        assert client.get(f"/api/projects/{project}/report").status_code == 409
        for end in ("report", "forecast", "jobs", "deliveries", "webhook"):
            assert client.get(f"/api/projects/000000000000/{end}").status_code == 404
            assert client.get(f"/api/projects/%00/{end}").status_code == 404


def test_a_report_needs_a_key(service: JobService) -> None:
    project = service.create()
    with service.requester() as client:
        client.headers.clear()
        for end in ("report", "forecast", "jobs", "deliveries", "webhook", "audit"):
            assert client.get(f"/api/projects/{project}/{end}").status_code == 401


def test_a_criterion_that_nobody_voted_on_is_not_reported_on(service: JobService) -> None:
    project = service.create(criteria=[{"name": "new"}, {"name": "good"}])
    service.add(project, 60)
    service.vote(project, NAMES)
    address = f"/api/projects/{project}/report?wait=0&criterion=good"
    with service.requester() as client:
        assert client.get(address).status_code == 202
        service.do_jobs()
        answer = client.get(address)
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "nobody has voted on 'good' yet; wait for it",
    )
