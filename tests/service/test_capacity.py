"""A project is as large as the memory that it was measured to need allows, and an error says so."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from crowdpilot.service import capacity
from crowdpilot.service.errors import ConflictError
from crowdpilot.service.labelling.replicas import Replicas
from crowdpilot.service.schemas import ProjectIn
from tests.service.harness.service import Service, create_project, migrated_store, sqlite_url


def described(classes: int, **more: Any) -> dict[str, Any]:
    return {"name": "many", "classes": [f"class {k}" for k in range(classes)], **more}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path))
    yield made
    made.close()


def test_too_many_classes_are_refused_with_what_they_need_and_use_no_memory(service: Service) -> None:
    tracemalloc.start()
    refused = service.send("POST", "/api/projects", json=described(1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused.status_code == 422
    assert "1000 classes need about 11.0 GB of memory for 100 workers" in refused.json()["detail"]
    assert f"up to {capacity.MAX_CLASSES} classes, because" in refused.json()["detail"]
    assert peak < 1000 * 1000 * 8  # not even one matrix


def test_as_many_classes_as_allowed_make_a_project_that_works(service: Service) -> None:
    project = service.project(**described(capacity.MAX_CLASSES))
    project.add_texts(6)
    worker = project.worker()
    leased = worker.next(3)
    assert worker.vote(leased[0]["item"], "class 7").status_code == 201
    service.do_jobs()
    assert len(project.worker().next(3)) == 3


@pytest.mark.parametrize("policy", ["value[ahead=100000]", "value[ahead=500]", "fixed[votes=1000000000]"])
def test_a_policy_that_looks_too_far_is_refused(policy: str) -> None:
    with pytest.raises(ValidationError, match="more votes than can be computed"):
        ProjectIn.model_validate(described(2, policy=policy))


def test_more_items_than_memory_holds_are_refused_before_any_is_added(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.project()
    project.add_texts(3)
    monkeypatch.setattr(capacity, "MAX_PROJECT_BYTES", 5 * 900)
    items = [{"name": f"more {n}", "text": "x"} for n in range(3)]
    refused = project.post("/items", json={"items": items})
    assert refused.status_code == 409
    assert "6 items of 2 classes need about 0.0 GB of memory" in refused.json()["detail"]
    assert "holds up to 5 items" in refused.json()["detail"]
    assert project.get().json()["status"]["items"] == 3
    assert project.post("/items", json={"items": items[:2]}).status_code == 201


def test_a_million_items_of_ten_classes_are_not_too_many() -> None:
    capacity.check_items(ProjectIn.model_validate(described(10)).model_dump(), 800_000, 200_000)


def test_the_matrices_of_too_many_workers_are_not_fitted() -> None:
    spec = ProjectIn.model_validate(described(200)).model_dump()
    capacity.check_refit(spec, 500)
    with pytest.raises(ConflictError, match=r"2,000 workers and 200 classes need about 8\.8 GB"):
        capacity.check_refit(spec, 2000)


def test_replicas_are_dropped_when_their_items_take_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = migrated_store(sqlite_url(tmp_path))
    new = [{"name": f"i{n}", "content": {"text": "x"}} for n in range(10)]
    ids = [create_project(store, described(2), new) for _ in range(3)]
    monkeypatch.setattr(capacity, "MAX_PROJECT_BYTES", 20 * 900)
    replicas = Replicas(store)
    first, *_ = [replicas.catch_up(id, 1.0)[0] for id in ids]
    assert list(replicas._replicas) == ids[1:]
    assert replicas.catch_up(ids[0], 1.0)[0] is not first
    store.close()
