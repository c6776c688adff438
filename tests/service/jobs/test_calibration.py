from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.metrics import ece
from crowdpilot.service.jobs.calibration import calibration_measures
from crowdpilot.service.store import items
from tests.service.harness.jobs import JobService

NAMES = [f"i{n}" for n in range(400)]


def test_calibration_is_measured_with_gold_and_a_classifier(service: JobService) -> None:
    project = service.create(machine="tfidf")
    service.add(project, 400)
    with service.store.writing() as c:
        items.set_gold(c, project, {name: ("no", "yes")[service.truth[name]] for name in NAMES[:100]})
    service.vote(project, NAMES, each=3, skill=0.8)
    service.refit(project)
    (measured,) = service.result(project, "calibration")["questions"].values()
    assert measured["gold"]["posterior"]["n"] == 100
    assert measured["gold"]["classifier"]["accuracy"] > 0.9
    assert measured["votes"]["posterior"]["n"] == 1200
    assert measured["votes"]["posterior"]["ece"] < 0.08
    assert measured["votes"]["classifier"]["ece"] < 0.08
    assert sum(row["n"] for row in measured["votes"]["posterior"]["table"]) == 1200


def test_without_gold_and_classifier_nothing_is_measured(service: JobService) -> None:
    project = service.create()
    service.add(project, 30)
    service.vote(project, NAMES[:30])
    service.refit(project)
    with pytest.raises(AssertionError):
        service.result(project, "calibration")


def test_overconfident_probabilities_have_a_large_calibration_error() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 5000)
    truth = (rng.random(5000) > p).astype(int)
    honest = calibration_measures(truth, np.stack([p, 1 - p], axis=1))
    bold = calibration_measures(truth, np.tile([0.99, 0.01], (5000, 1)))
    assert honest["ece"] < 0.03 < 0.2 < bold["ece"]
    assert honest["ece"] == ece(truth, np.stack([p, 1 - p], axis=1))
    for row in honest["table"]:
        assert abs(row["confidence"] - row["right"]) < 0.06
        assert row["from"] < row["confidence"] <= row["to"]
