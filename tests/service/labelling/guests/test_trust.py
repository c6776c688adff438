"""Whether the votes of a guest count, by their answers to gold items."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from crowdpilot.service.labelling.guests.trust import MAX_ODDS_AGAINST, GoldRecord, find_caveats
from crowdpilot.service.schemas import ProjectIn


def record(answers: str, n_classes: int = 2) -> GoldRecord:
    """The record of right (r) and wrong (w) answers, in this order."""
    found = GoldRecord()
    for answer in answers:
        found = found.add(answer == "r", n_classes)
    return found


@pytest.mark.parametrize(
    ("answers", "n_classes", "passes"),
    [("rrrr", 2, True), ("rrrw", 2, True), ("rrww", 2, False), ("wwww", 2, False), ("rrww", 4, False),
     ("rrrw", 4, True), ("wrrrr", 2, True)],
)  # fmt: skip
def test_three_of_four_right_answers_pass(answers, n_classes, passes):
    assert (record(answers, n_classes).log_odds > 0) is passes


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10])
def test_the_third_wrong_answer_in_a_row_outweighs_any_number_of_right_ones(n_classes):
    before = "r" * 100
    assert record(f"{before}ww", n_classes).log_odds > 0
    assert record(f"{before}www", n_classes).log_odds < 0


@pytest.mark.parametrize("n_classes", [2, 4])
def test_four_wrong_answers_end_the_work(n_classes):
    assert record("wwww", n_classes).log_odds < -log(MAX_ODDS_AGAINST)


def test_the_error_rates_are_those_that_the_module_states():
    rng = np.random.default_rng(0)
    stated = {(0.85, 4): 0.89, (0.5, 4): 0.31, (0.15, 4): 0.01, (0.85, 10): 0.95, (0.5, 10): 0.17,
              (0.85, 20): 0.97, (0.5, 20): 0.05}  # fmt: skip
    for (accuracy, n), share in stated.items():
        crowds = ["".join("r" if right else "w" for right in row) for row in rng.random((4000, n)) < accuracy]
        assert np.mean([record(answers).log_odds > 0 for answers in crowds]) == pytest.approx(
            share, abs=0.025
        )


@pytest.mark.parametrize(
    ("more", "n_gold", "words"),
    [({}, 0, "come many times"), ({}, 2, "only 2 known answers"), ({}, 4, ""), ({}, 20, ""),
     ({"guests": {"checks": 0}}, 20, "not checked"),
     ({"quiz": [{"text": "x", "label": "yes"}]}, 0, "answers of the quiz")],
)  # fmt: skip
def test_a_requester_is_told_how_well_guests_are_checked(more, n_gold, words):
    spec = ProjectIn.model_validate({"name": "x", "classes": ["no", "yes"], **more}).model_dump()
    found = find_caveats(spec, n_gold)
    assert words in found[0] if words else found == []
