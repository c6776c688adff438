from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from crowdpilot.hybrid.campaign import batch
from crowdpilot.hybrid.campaign.batch import BestCells, diverse, explore, mix_gold
from crowdpilot.hybrid.plan import Plan


@given(st.integers(0, 500), st.integers(1, 3), st.integers(1, 30))
def test_the_best_cells_are_those_of_a_full_sort(seed, questions, n):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((20, questions)) < 0.3, -np.inf, rng.normal(size=(20, questions)))
    every = [(q, row) for row in range(20) for q in range(questions) if values[row, q] > 0]
    without = [cell for cell in every if rng.random() < 0.2]
    expected = sorted((p for p in every if p not in without), key=lambda p: -values[p[1], p[0]])
    assert BestCells().find(values, rng.random(20), n, without) == expected[:n]


def test_ties_even_of_infinite_values_are_broken_by_the_hash():
    tie_break = np.array([0.2, 0.9, 0.5])
    for value in (1.0, np.inf):
        assert BestCells().find(np.full((3, 1), value), tie_break, 2) == [(0, 1), (0, 2)]


@given(st.integers(0, 10_000), st.integers(1, 2))
def test_candidates_give_the_same_cells_as_a_look_at_all(seed, questions):
    rng = np.random.default_rng(seed)
    values, tie_break = np.full((60, questions), -1.0), rng.random(60)
    best = BestCells()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "MAX_CANDIDATES", 12)
        for _ in range(20):
            rows = rng.choice(60, rng.choice([1, 3, 20]), replace=False)
            size = rng.choice([rng.normal(), 1e305, 1.0])
            values[rows] = size * rng.random((len(rows), questions)).round(1)
            best.update(rows)
            without = {(int(q), int(row)) for q, row in rng.integers(0, [questions, 60], (5, 2))}
            assert best.find(values, tie_break, 4, without) == BestCells().find(values, tie_break, 4, without)


def test_without_values_there_are_no_cells():
    assert BestCells().find(np.zeros((3, 2)), np.ones(3), 5) == []
    assert BestCells().find(np.zeros((0, 2)), np.ones(0), 5) == []


def test_a_batch_does_not_hold_the_same_thing_twice_while_there_are_others():
    x = np.array([[1.0, 0], [2, 0], [0, 1], [1, 1]])
    for rows in (x, csr_array(x)):
        assert diverse(np.array([4.0, 3.9, 1.0, 0.1]), rows, 2) == [0, 2]
        assert sorted(diverse(np.array([4.0, 3.9, 1.0, 0.1]), rows, 9)) == [0, 1, 2, 3]


def test_items_without_anything_in_common_are_taken_by_value():
    assert diverse(np.array([3.0, 2.0, 1.0]), np.eye(3), 2) == [0, 1]


def cells(n):
    return [(0, row) for row in range(n)]


def test_nothing_is_drawn_unless_the_plan_says_so():
    rng = np.random.default_rng(0)
    state = rng.bit_generator.state
    assert explore(cells(3), set(), np.ones((9, 1), bool), np.zeros((9, 1), bool), Plan(), rng) == cells(3)
    assert rng.bit_generator.state == state


@given(st.integers(0, 200))
def test_exploration_goes_where_a_vote_is_free_and_nowhere_twice(seed):
    rng = np.random.default_rng(seed)
    free, known = rng.random((30, 1)) < 0.7, rng.random((30, 1)) < 0.2
    seen = {(0, row) for row in range(10, 15)}
    plan = Plan(explore=0.6, gold=0.3)
    found = explore(cells(8), seen, free, known, plan, rng)
    assert len(set(found)) == 8
    for q, row in set(found) - set(cells(8)):
        assert (q, row) not in seen
        assert known[row, q] or free[row, q]


def test_shares_of_random_and_known_items_are_as_planned():
    rng = np.random.default_rng(0)
    known = np.arange(9000)[:, None] >= 5000
    free = ~known
    found = np.array(explore(cells(3000), set(), free, known, Plan(explore=0.2, gold=0.1), rng))[:, 1]
    np.testing.assert_allclose((found >= 5000).mean(), 0.1, atol=0.03)
    np.testing.assert_allclose(((found >= 3000) & (found < 5000)).mean(), 0.2, atol=0.03)


def test_where_everything_is_taken_what_was_chosen_stays():
    rng = np.random.default_rng(0)
    plan = Plan(explore=0.5, gold=0.5)
    none = np.zeros((4, 1), bool)
    assert explore(cells(4), set(), none, none, plan, rng) == cells(4)


def test_gold_items_are_mixed_in_at_random_places_each_class_as_often():
    rng = np.random.default_rng(1)
    gold = np.full((4000, 1), -1, np.int32)
    gold[2000:3900], gold[3900:] = 0, 1  # few are of class 1
    found = np.array([row for _, row in mix_gold(cells(150), set(), gold, 0.4, rng)])
    is_gold = found >= 2000
    assert 40 < is_gold.sum() < 80
    assert np.array_equal(found[~is_gold], np.arange(150)[~is_gold])
    assert 0.3 < (gold[found[is_gold], 0] == 1).mean() < 0.7
    assert len(set(found.tolist())) == 150


def test_gold_items_are_mixed_in_once_each_and_never_again():
    rng = np.random.default_rng(2)
    gold = np.full((20, 1), -1, np.int32)
    gold[15:] = 1
    found = mix_gold(cells(10), {(0, 15), (0, 16)}, gold, 1.0, rng)
    assert {row for _, row in found if row >= 15} == {17, 18, 19}
    assert mix_gold(cells(10), set(), np.full((20, 1), -1, np.int32), 1.0, rng) == cells(10)
