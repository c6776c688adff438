"""Files that earlier versions have written are still read, and predict what they did."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.model_file import SETTINGS
from tests.learning.saved.write import FOLDER, checkpointed, classifiers, saved_votes

FILES = sorted(FOLDER.glob("*.safetensors"))
PREDICTIONS = json.loads((FOLDER / "predictions-1.json").read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_saved_classifier_predicts_the_pinned_probabilities(path: Path) -> None:
    name = path.stem.rpartition("-")[0]
    _, x = classifiers()[name]
    model = CrowdClassifier.load(path, device="cpu")
    np.testing.assert_allclose(model.predict_proba(x[:5]), PREDICTIONS[name], atol=1e-4)
    assert model.classes_.tolist() == ["cat", "dog", "owl"]
    assert model.votes_.workers.tolist() == list("abcd")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_that_is_written_now_has_the_names_of_version_1(path: Path, tmp_path: Path) -> None:
    """Renaming an attribute changes no file; a new name in the file is a new version."""
    name = path.stem.rpartition("-")[0]
    model, x = classifiers()[name]
    model.fit(x, saved_votes()[1]).save(tmp_path / "now")
    with safe_open(path, "pt") as old, safe_open(tmp_path / "now", "pt") as new:
        assert set(new.keys()) == set(old.keys())
        was, now = (json.loads(file.metadata()["crowdpilot"]) for file in (old, new))
    assert now.keys() == was.keys()
    assert now["settings"].keys() == was["settings"].keys()
    assert (now["format"], now["version"]) == ("crowdpilot-classifier", 1)
    if was["calibration_map"] is not None:
        assert now["calibration_map"].keys() == was["calibration_map"].keys()


def test_every_parameter_of_the_classifier_has_a_name_in_the_file() -> None:
    assert set(CrowdClassifier().get_params(deep=False)) == set(SETTINGS)


def test_a_run_resumes_from_a_saved_checkpoint(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "checkpoint-1", tmp_path / "run")
    before = (tmp_path / "run" / "train.safetensors").read_bytes()
    X, votes = saved_votes()
    model = checkpointed(tmp_path / "run").fit(X, votes)
    np.testing.assert_allclose(model.predict_proba(X[:5]), PREDICTIONS["checkpoint"], atol=1e-4)
    assert (tmp_path / "run" / "train.safetensors").read_bytes() == before
