from __future__ import annotations

import threading

from crowdpilot.service.jobs import runner, thumbnails
from crowdpilot.service.store import items, jobs, projects
from tests.service.harness.jobs import JobService
from tests.service.harness.service import PNG

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


def test_a_report_covers_items_without_votes_and_has_the_majority_beside_the_decision(
    service: JobService,
) -> None:
    project = service.create(name="Hybrid", machine="given", classes=["no", "yes"])
    service.add(project, 60, classifier_probs=[0.1, 0.9])
    service.vote(project, NAMES[:20])
    service.refit(project)
    address = f"/api/projects/{project}/report?wait=0"
    with service.requester() as client:
        assert client.get(address).status_code == 202
        service.do_jobs()
        page = client.get(address)
        assert "All 60 items of the project, also 40 that nobody voted on" in page.text
        assert "40 by the classifier alone" in page.text
        assert '"name":"majority"' in page.text
        assert "sandbox allow-scripts" in page.headers["content-security-policy"]
        assert "allow-same-origin" not in page.headers["content-security-policy"]
        with service.store.writing() as c:
            items.change(c, project, ["i50"], override={"label": "no", "by": "ann", "time": 1.0})
        assert client.get(address).status_code == 202  # an override is news
        service.do_jobs()
        page = client.get(address)
        assert "by an expert, who overrode it" in page.text
        assert '<span class="flag">overridden</span>' in page.text


def test_a_report_is_made_anew_when_items_or_settings_have_changed(any_service: JobService) -> None:
    service = any_service
    project = service.create(machine="given", classes=["no", "yes"])
    service.add(project, 20, classifier_probs=[0.1, 0.9])
    service.vote(project, NAMES[:20])
    service.refit(project)
    address = f"/api/projects/{project}/report?wait=0"
    with service.requester() as client:

        def is_made_anew() -> bool:
            before = client.get(address).status_code
            service.do_jobs()
            page = client.get(address)
            assert page.status_code == 200
            return before == 202

        assert is_made_anew()
        assert not is_made_anew()
        service.add(project, 10, first=20, classifier_probs=[0.1, 0.9])
        assert is_made_anew()
        assert "All 30 items of the project" in client.get(address).text
        for values in ({"state": items.STOPPED}, {"state": items.WITHDRAWN}, {"gold": "yes"}):
            with service.store.writing() as c:
                items.change(c, project, ["i3"], **values)
            assert is_made_anew()
        with service.store.writing() as c:
            projects.next_change(c, project, lease_requests=1)  # as for a lease, which changes no label
        assert not is_made_anew()
        assert client.patch(f"/api/projects/{project}", json={"name": "Other reviews"}).status_code == 200
        assert is_made_anew()
        assert "Other reviews" in client.get(address).text


def test_a_report_shows_pictures_and_a_broken_one_does_no_harm() -> None:
    shown = thumbnails.small_picture(PNG)
    assert shown.startswith("data:image/jpeg;base64,")
    assert thumbnails.small_picture(b"<svg onload='alert(1)'/>") == ""
    assert thumbnails.small_picture(PNG[:30]) == ""


def test_pictures_of_items_are_limited_in_number(service: JobService) -> None:
    project = service.create()
    with service.store.writing() as c:
        digest = items.save_file(c, project, "image/png", PNG)
        items.add(c, project, [{"name": "a", "content": {"image": f"/files/{project}/{digest}"}}])
    pictures = thumbnails.ItemPictures(service.store, project)
    found = [pictures("a") for _ in range(thumbnails.MAX_PICTURES + 1)]
    assert found[0].startswith("data:image/jpeg")
    assert found[-1] == ""
    assert pictures("none") == ""
