"""`consensus` by crowdlab gives the numbers of cleanlab, as `scripts/record_cleanlab.py` recorded them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdpilot.aggregation.label_quality import Consensus, consensus

CASES: dict[str, Any] = json.loads((Path(__file__).parent / "cleanlab.json").read_text())["cases"]
FRAMES = ("label_quality", "annotator_stats", "detailed_label_quality")


def array(values: Any) -> np.ndarray:
    return np.asarray(values, float)


def found(case: dict[str, Any]) -> Consensus:
    unlabelled = array(case["pred_probs_unlabeled"])
    return consensus(
        array(case["labels"]), array(case["pred_probs"]), pred_probs_unlabeled=unlabelled, method="crowdlab"
    )


@pytest.mark.parametrize("name", [name for name in CASES if "label_quality" in CASES[name]])
@pytest.mark.parametrize("table", FRAMES)
def test_tables_are_those_of_cleanlab(name: str, table: str) -> None:
    expected = CASES[name][table]
    frame = found(CASES[name])[table]
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == expected["index"]
    assert frame.columns.tolist() == list(expected["columns"])
    for column, values in expected["columns"].items():
        np.testing.assert_allclose(frame[column].to_numpy(float), array(values), atol=1e-8, err_msg=column)


@pytest.mark.parametrize("name", CASES)
def test_active_learning_scores_are_those_of_cleanlab(name: str) -> None:
    for scores in ("active_learning_scores", "active_learning_scores_unlabeled"):
        np.testing.assert_allclose(found(CASES[name])[scores], array(CASES[name][scores]), atol=1e-8)


@pytest.mark.parametrize("name", [name for name in CASES if "model_weight" in CASES[name]])
def test_weights_are_those_of_cleanlab(name: str) -> None:
    case = CASES[name]
    assert found(case).model_weight == pytest.approx(case["model_weight"], abs=1e-8)
    np.testing.assert_allclose(found(case).annotator_weight, array(case["annotator_weight"]), atol=1e-8)
