from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.datasets import DATASETS, load


@pytest.mark.parametrize("name", DATASETS)
def test_a_data_set_loads_and_says_where_it_is_from(name: str) -> None:
    assert len(load(name)) > 0
    entry = DATASETS[name]
    assert entry.name == name
    assert all([entry.description, entry.licence, entry.source])


def test_all_ratings_of_the_anaesthetists_count() -> None:
    """Dawid and Skene 1979: the first saw each of 45 patients three times, the others once."""
    votes = load("anesthesia")
    assert votes.classes.tolist() == [1, 2, 3, 4]
    seen = np.bincount(votes.task * 5 + votes.worker).reshape(45, 5)
    np.testing.assert_array_equal(seen, np.broadcast_to([3, 1, 1, 1, 1], (45, 5)))


def test_the_ratings_are_those_of_the_published_table() -> None:
    """Patients 1, 12 and 36 of Table 1 in Dawid and Skene 1979."""
    votes = load("anesthesia")
    rows = {votes.tasks[t]: votes.classes[votes.label[votes.task == t]].tolist() for t in (0, 11, 35)}
    assert rows == {1: [1] * 7, 12: [2, 2, 2, 3, 3, 4, 3], 36: [4, 3, 3, 4, 3, 4, 3]}


def test_an_unknown_data_set_is_refused() -> None:
    with pytest.raises(ValueError, match="no data set 'mnist', expected one of anesthesia"):
        load("mnist")
