"""Wrong input is one clear sentence, the same for every map."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.calibration import MAPS, find_map, load_map

PROBS = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]])
TRUTH = np.array([0, 1, 0])

every_map = pytest.mark.parametrize("model", [pytest.param(M(), id=name) for name, M in MAPS.items()])

WRONG = [
    ([[0.9, 0.2], [0.3, 0.7], [0.6, 0.4]], TRUTH, None, r"row 1 of the probabilities is \(0.9, 0.2\), exp"),
    ([[0.9, 0.1], [-0.3, 1.3], [0.6, 0.4]], TRUTH, None, r"row 2 of the probabilities is \(-0.3, 1.3\), exp"),
    ([[0.9, 0.1], [0.3, 0.7], [np.nan, 0.4]], TRUTH, None, r"row 3 of the probabilities is \(nan, 0.4\)"),
    ([[0.9, 0.1], [np.inf, 0.7], [0.6, 0.4]], TRUTH, None, r"row 2 of the probabilities is \(inf, 0.7\)"),
    (PROBS[0], TRUTH, None, r"shape \(2,\), expected \(tasks, classes\)"),
    (np.ones((3, 1)), np.zeros(3, int), None, r"shape \(3, 1\), expected \(tasks, classes\) with 2 classes"),
    (PROBS, TRUTH[:2], None, "there are 2 classes, expected one for each of 3 rows of probabilities"),
    (PROBS, [0, 2, 0], None, "class 2 in the target, expected codes between -1 and 1"),
    (PROBS, [0, 1, -2], None, "class -2 in the target, expected codes between -1 and 1"),
    (PROBS, [0.0, 1.0, 0.5], None, "neither a code for each task nor a row of soft labels"),
    (PROBS, ["a", "b", "a"], None, "neither a code for each task nor a row of soft labels"),
    (PROBS, np.full((3, 3), 1 / 3), None, "soft labels have 3 columns, expected one for each of 2 classes"),
    (
        PROBS,
        [[1, 0], [0.5, 0.4], [1, 0]],
        None,
        r"row 2 of the soft labels is \(0.5, 0.4\), expected numbers",
    ),
    (PROBS, [[1, 0], [0, 1], [np.nan, 0]], None, "row 3 of the soft labels is"),
    (PROBS, [-1, -1, -1], None, "0 tasks have a known class and a weight, expected 2 or more to fit a map"),
    (PROBS, np.zeros((3, 2)), None, "0 tasks have a known class"),
    (PROBS, [-1, 0, -1], None, "1 tasks have a known class"),
    (PROBS[:1], TRUTH[:1], None, "1 tasks have a known class"),
    (PROBS[:0], TRUTH[:0], None, "0 tasks have a known class"),
    (PROBS, TRUTH, [1, 0, 0], "1 tasks have a known class"),
    (PROBS, TRUTH, [1, -1, 1], "weights hold something else than one number of 0 or more"),
    (PROBS, TRUTH, [1, np.nan, 1], "weights hold something else than one number of 0 or more"),
    (PROBS, TRUTH, [1, 1], "there are 2 weights, expected one for each of 3 rows"),
]


@every_map
@pytest.mark.parametrize(("probs", "target", "weight", "message"), WRONG)
def test_what_cannot_be_fitted_on_is_named(model, probs, target, weight, message) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(probs, target, weight=weight)


@every_map
def test_what_cannot_be_mapped_is_named(model) -> None:
    fitted = model.fit(PROBS, TRUTH)
    with pytest.raises(ValueError, match=r"row 1 of the probabilities is \(0.5, 0.6\)"):
        fitted([[0.5, 0.6]])
    with pytest.raises(ValueError, match="3 columns, expected 2 as those the map was fitted on"):
        fitted([[0.2, 0.3, 0.5]])


@every_map
def test_no_rows_are_mapped_to_no_rows(model) -> None:
    assert model.fit(PROBS, TRUTH)(np.empty((0, 2))).shape == (0, 2)


@every_map
def test_probabilities_in_single_precision_are_good_enough(model) -> None:
    probs = np.random.default_rng(0).dirichlet(np.ones(50), 20).astype(np.float32)
    assert np.allclose(model.fit(probs, np.arange(20))(probs).sum(axis=1), 1)


@every_map
@pytest.mark.parametrize("floor", [0, 0.5, 1e-20])
def test_a_floor_that_is_none_is_an_error(model, floor) -> None:
    with pytest.raises(ValueError, match=r"floor is .*, expected a number from 1e-12 to 0.5"):
        type(model)(floor=floor)


@pytest.mark.parametrize(
    "text",
    [
        "temperature[strength=-1]",
        "platt[strength=-1]",
        "platt[strength='firm']",
        "temperature[floor=-1]",
        "dirichlet[off_diagonal=-1]",
        "isotonic[smoothing=-1]",
        "histogram[smoothing=-1]",
        "histogram[bins=0]",
        "histogram[bins=2.5]",
        "best[folds=1]",
        "best[maps=()]",
        "best[maps=('best',)]",
    ],
)
def test_settings_out_of_range_are_errors(text) -> None:
    with pytest.raises(ValueError, match="expected"):
        find_map(text)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "Other"},
        {"kind": "linear_scaling", "map": "temperature"},
        {"format": "crowdpilot-calibration-map"},
    ],
)
def test_other_data_are_no_map(data) -> None:
    with pytest.raises(ValueError, match="not a fitted map"):
        load_map(data)


def test_a_soft_row_that_is_nearly_one_is_good_enough() -> None:
    soft = np.array([[1 / 3, 2 / 3], [0.1, 0.9], [0.7, 0.3]], np.float32)
    assert find_map("temperature").fit(PROBS, soft)(PROBS).shape == (3, 2)
