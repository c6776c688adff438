from __future__ import annotations

import threading

from crowdpilot.service.jobs import runner
from crowdpilot.service.store import jobs
from tests.service.jobs.site import Site

NAMES = [f"i{n}" for n in range(60)]


def test_a_report_is_made_when_asked_for_and_kept(any_site: Site) -> None:
    site = any_site
    project = site.project(name="<b>Reviews</b>")
    site.add(project, 60)
    site.vote(project, NAMES, each=4)
    site.refit(project)
    address = f"/api/projects/{project}/report?wait=0"
    with site.client() as client:
        soon = client.get(address)
        assert (soon.status_code, soon.json()["state"]) == (202, "queued")
        site.work()
        page = client.get(address)
        assert page.headers["content-type"].startswith("text/html")
        assert "&lt;b&gt;Reviews" in page.text
        assert "<b>Reviews" not in page.text
        assert "the beliefs of the project" in page.text
        listed = client.get(f"/api/projects/{project}/jobs").json()["jobs"]
        assert "html" not in listed[0]["result"]
        site.vote(project, NAMES[:1], each=5)
        assert client.get(address).status_code == 202
        site.work()
        assert client.get(address).status_code == 200
    with site.store.reading() as c:
        pages = [row for row in jobs.latest(c, project) if row.kind == "report"]
    assert [row.result is None for row in pages] == [False, True]


def test_a_report_is_waited_for(site: Site) -> None:
    project = site.project()
    site.add(project, 60)
    site.vote(project, NAMES)
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(site.settings, "jobs-1", stop))
    thread.start()
    try:
        with site.client() as client:
            page = client.get(f"/api/projects/{project}/report?wait=30")
    finally:
        stop.set()
        thread.join()
    assert page.status_code == 200
    assert page.text.startswith("<!")


def test_a_report_has_one_page_for_each_criterion(site: Site) -> None:
    project = site.project(criteria=[{"name": "new"}, {"name": "good"}], machine="tfidf")
    site.add(project, 60)
    site.vote(project, NAMES)
    site.refit(project)
    address = f"/api/projects/{project}/report"
    with site.client() as client:
        assert client.get(address, params={"criterion": "old"}).status_code == 404
        assert client.get(address, params={"wait": 0}).status_code == 202
        site.work()
        assert "reviews: new" in client.get(address).text


def test_without_votes_there_is_nothing_to_report(site: Site) -> None:
    project = site.project()
    with site.client() as client:
        assert client.get(f"/api/projects/{project}/report").status_code == 409
        for end in ("report", "forecast", "jobs", "deliveries", "webhook"):
            assert client.get(f"/api/projects/000000000000/{end}").status_code == 404
            assert client.get(f"/api/projects/%00/{end}").status_code == 422


def test_who_has_no_key_sees_nothing(site: Site) -> None:
    project = site.project()
    with site.client() as client:
        client.headers.clear()
        for end in ("report", "forecast", "jobs", "deliveries", "webhook", "audit"):
            assert client.get(f"/api/projects/{project}/{end}").status_code == 401


def test_a_criterion_that_nobody_voted_on_is_not_reported_on(site: Site) -> None:
    project = site.project(criteria=[{"name": "new"}, {"name": "good"}])
    site.add(project, 60)
    site.vote(project, NAMES)
    address = f"/api/projects/{project}/report?wait=0&criterion=good"
    with site.client() as client:
        assert client.get(address).status_code == 202
        site.work()
        answer = client.get(address)
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "nobody has voted on 'good' yet; wait for it",
    )
