"""The file of experience: written, read, and refused where it is something else."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.calibration.experience import (
    FEATURES,
    CrowdMap,
    load_experience,
    read_experience,
    write_experience,
)

SOME = CrowdMap(np.array([0.5, 0.25, 0.75]), np.diag([0.1, 0.2, 0.3]))


def test_what_is_written_is_read(tmp_path):
    file = tmp_path / "experience.json"
    write_experience(SOME, file, {"crowds": ["a", "b"]})
    data = json.loads(file.read_text())
    again = read_experience(data)
    np.testing.assert_array_equal(again.mean, SOME.mean)
    np.testing.assert_array_equal(again.covariance, SOME.covariance)
    assert data["source"] == {"crowds": ["a", "b"]}
    assert (data["format"], data["version"]) == ("crowdpilot-experience", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something"}, "not a file of experience"),
        ({"version": 2}, "version 2, expected 1 or less"),
        ({"features": ["decided", "votes", "mood"]}, "about decided, votes, mood, not decided, votes, pool"),
    ],
)
def test_something_else_is_refused(change, message, tmp_path):
    file = tmp_path / "experience.json"
    write_experience(SOME, file, {})
    with pytest.raises(ValueError, match=message):
        read_experience(json.loads(file.read_text()) | change)


def test_the_experience_of_the_package_is_a_distribution_with_its_source():
    experience = load_experience()
    assert experience.mean.shape == (len(FEATURES),)
    assert np.linalg.eigvalsh(experience.covariance).min() > 0
    np.testing.assert_array_equal(experience.covariance, experience.covariance.T)
    assert load_experience() is experience


def test_by_experience_more_evidence_is_more_confidence():
    """Each coefficient is positive: no feature counts against the label that it speaks for."""
    assert (load_experience().mean > 0).all()
