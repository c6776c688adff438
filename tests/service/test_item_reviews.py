"""Reviews of items: known answers are classes of the project, and criteria are decided one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service import access, item_reviews
from crowdpilot.service.store.requesters import reviews
from tests.service.harness.service import CRITERIA, PLAIN, Service, create_project, sqlite_url

ANN = access.Requester("ann", "ann", False, "write", None, "ann")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path))
    yield made
    made.close()


def project(service: Service, spec: dict[str, Any]) -> str:
    return create_project(service.store, spec, [{"name": "i0", "content": {"text": "Text 0"}}])


def stored(service: Service, id: str) -> Any:
    with service.store.reading() as c:
        return reviews.find(c, id, ["i0"])["i0"]


@pytest.mark.parametrize(("spec", "gold"), [(PLAIN, "ugly"), (PLAIN, {"human": "good"}),
                                            (CRITERIA, {"human": "perhaps"}), (CRITERIA, "yes")])  # fmt: skip
def test_only_classes_of_the_project_become_gold(service: Service, spec: dict[str, Any], gold: Any) -> None:
    id = project(service, spec)
    with pytest.raises(ValueError, match="class"):
        item_reviews.make_gold(service.store, id, ANN, {"i0": gold})
    assert stored(service, id).gold is None


def test_a_decision_about_one_criterion_keeps_those_about_others(service: Service) -> None:
    id = project(service, CRITERIA)
    for labels in ({"human": "yes"}, {"trial": "no"}, {"trial": "yes"}):
        item_reviews.override(service.store, id, ANN, {"i0": labels})
    assert stored(service, id).override["label"] == {"human": "yes", "trial": "yes"}
    item_reviews.override(service.store, id, ANN, {"i0": None})
    assert stored(service, id).override is None


def test_gold_ends_the_override_of_the_same_criterion_only(service: Service) -> None:
    id = project(service, CRITERIA)
    item_reviews.override(service.store, id, ANN, {"i0": {"human": "yes", "trial": "no"}})
    before = stored(service, id).override
    item_reviews.make_gold(service.store, id, ANN, {"i0": {"human": "no"}})
    assert stored(service, id).gold == {"human": "no"}
    assert stored(service, id).override == {**before, "label": {"trial": "no"}}
    item_reviews.make_gold(service.store, id, ANN, {"i0": {"trial": "no"}})
    assert stored(service, id).override is None
    item_reviews.undo(service.store, id, ANN)
    assert stored(service, id).override["label"] == {"trial": "no"}


def test_a_replica_follows_decisions_about_single_criteria(service: Service) -> None:
    id = project(service, CRITERIA)
    item_reviews.override(service.store, id, ANN, {"i0": {"human": "yes", "trial": "no"}})
    replica, _ = service.context.replica(id)
    assert replica.campaign.view.items().override.tolist() == [[1, 0]]
    item_reviews.make_gold(service.store, id, ANN, {"i0": {"human": "no"}})
    replica, _ = service.context.replica(id)
    table = replica.campaign.view.items()
    assert (table.gold.tolist(), table.override.tolist()) == ([[0, -1]], [[-1, 0]])
