"""What looks wrong in votes that were read is said in a sentence."""

from __future__ import annotations

import pytest

from crowdpilot.io import ReadingWarning, read

VOTES = {"task": [1, 1, 2, 2], "worker": ["x", "y", "x", "y"], "label": ["cat", "cat", "dog", "cat"]}


def test_a_truth_of_all_tasks_is_said_to_be_learned_from():
    with pytest.warns(ReadingWarning, match="'truth' is read as gold labels, .* all tasks have one"):
        read(VOTES | {"truth": ["cat", "cat", "dog", "dog"]})
    assert read(VOTES | {"gold": ["cat", "cat", "dog", "dog"]}).gold is not None
    assert read(VOTES | {"truth": ["cat", "cat", None, None]}).gold is not None
    assert read(VOTES | {"truth": ["cat", "cat", "dog", "dog"]}, columns={"gold": None}).gold is None


def test_measurements_are_said_to_be_no_classes():
    ratings = {
        "task": [*range(15)] * 2,
        "worker": ["x"] * 15 + ["y"] * 15,
        "label": [n / 7 for n in range(30)],
    }
    with pytest.warns(ReadingWarning, match="the labels are 30 numbers with decimals, each read as a class"):
        read(ratings)
    read(ratings | {"label": [*range(30)]})
