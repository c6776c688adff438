"""Tensors give what the methods of `Votes` give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from crowdpilot.aggregation.em.loop import apply_gold_
from crowdpilot.scale.gpu.tensor_votes import (
    TensorVotes,
    columns_to_tensor_votes,
    split_by_votes,
    to_tensor_votes,
)
from crowdpilot.votes import Votes


@st.composite
def merged_votes(draw: Any) -> Votes:
    """Any votes, with or without weights and gold."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tasks, workers, classes = draw(st.integers(1, 12)), draw(st.integers(1, 5)), draw(st.integers(2, 5))
    n = draw(st.integers(1, 60))
    columns = rng.integers(0, tasks, n), rng.integers(0, workers, n), rng.integers(0, classes, n)
    weight = rng.choice([0.5, 1.0, 3.0], n) if draw(st.booleans()) else None
    gold = rng.integers(-1, classes, tasks) if draw(st.booleans()) else None
    names = np.arange(tasks), np.arange(workers), np.arange(classes)
    return Votes(*columns, *names, weight=weight, gold=gold).merged


@given(merged_votes())
def test_codes_are_those_of_votes(votes: Votes) -> None:
    tensors = to_tensor_votes(votes)
    assert len(tensors) == len(votes)
    for name in ("tasks", "workers", "classes"):
        assert len(getattr(tensors, name)) == len(getattr(votes, name))
    for name in ("task", "worker", "label", "cell", "starts"):
        assert_array_equal(getattr(tensors, name), getattr(votes, name))
    assert tensors.max_votes_per_cell == np.bincount(votes.cell).max()


@settings(deadline=None)
@given(merged_votes(), st.booleans())
def test_sums_are_those_of_votes(votes: Votes, with_values: bool) -> None:
    tensors = to_tensor_votes(votes)
    value = np.random.default_rng(0).random(len(votes)) if with_values else None
    tensor = None if value is None else torch.from_numpy(value)
    for name in ("tally", "cell_sum", "worker_sum", "task_sum"):
        assert_allclose(getattr(tensors, name)(tensor), getattr(votes, name)(value), atol=1e-12, err_msg=name)


@given(merged_votes())
def test_shares_are_those_of_votes(votes: Votes) -> None:
    assert_allclose(to_tensor_votes(votes).shares(), votes.shares(), atol=1e-12)


@settings(deadline=None)
@given(merged_votes(), st.integers(1, 3))
def test_sparse_products_are_those_of_votes(votes: Votes, columns: int) -> None:
    tensors, rng = to_tensor_votes(votes), np.random.default_rng(0)
    for name in ("onehot", "ballots"):
        matrix, expected = getattr(tensors, name), getattr(votes, name)
        assert matrix.shape == expected.shape
        assert matrix.T.shape == expected.T.shape
        right, left = rng.random((matrix.shape[1], columns)), rng.random((matrix.shape[0], columns))
        assert_allclose(matrix @ torch.from_numpy(right), expected @ right, atol=1e-12)
        assert_allclose(matrix.T @ torch.from_numpy(left), expected.T @ left, atol=1e-12)


@given(merged_votes(), st.integers(1, 3))
def test_gold_is_applied_as_to_arrays(votes: Votes, kinds: int) -> None:
    shape = len(votes.tasks), len(votes.classes) * kinds
    expected = np.random.default_rng(0).random(shape)
    log_joint = torch.from_numpy(expected.copy())
    apply_gold_(votes, expected)
    to_tensor_votes(votes).apply_gold_(log_joint)
    assert_array_equal(log_joint, expected)


@settings(deadline=None)
@given(merged_votes(), st.integers(1, 80))
def test_parts_have_all_tasks_and_votes_in_order(votes: Votes, size: int) -> None:
    tensors = to_tensor_votes(votes)
    parts = list(split_by_votes(tensors, size))
    assert sum(len(part.tasks) for part in parts) == len(votes.tasks)
    assert_array_equal(torch.cat([part.cell for part in parts]), tensors.cell)
    assert_array_equal(torch.cat([part.tally() for part in parts]), tensors.tally())
    assert_array_equal(torch.cat([part.shares() for part in parts]), tensors.shares())
    largest_task = int(tensors.starts.diff().max())
    assert all(len(part) < size + largest_task for part in parts)


@given(merged_votes(), st.randoms())
def test_columns_in_any_order_are_sorted_by_task(votes: Votes, random: Any) -> None:
    order = list(range(len(votes)))
    random.shuffle(order)
    columns = (torch.from_numpy(column[order]).long() for column in (votes.task, votes.worker, votes.label))
    tensors = columns_to_tensor_votes(*columns)
    assert (tensors.task.diff() >= 0).all()
    expected = sorted(zip(votes.task.tolist(), votes.worker.tolist(), votes.label.tolist(), strict=True))
    columns_read = (column.tolist() for column in (tensors.task, tensors.worker, tensors.label))
    assert sorted(zip(*columns_read, strict=True)) == expected
    assert len(tensors.workers) == votes.worker.max() + 1
    assert len(tensors.classes) == votes.label.max() + 1


def test_tables_with_many_rows_have_codes_of_64_bits() -> None:
    task, worker, label = (torch.tensor(column) for column in ([0, 0], [0, 2**20], [0, 2**11]))
    assert columns_to_tensor_votes(task, worker, label).cell.dtype == torch.int64
    assert columns_to_tensor_votes(task, worker // 2**10, label.int()).cell.dtype == torch.int32


def test_weights_of_one_are_left_out() -> None:
    votes = Votes.of(["a", "b"], ["v", "w"], ["x", "y"])
    assert to_tensor_votes(votes.merged).weight is None
    assert set(to_tensor_votes(votes.merged).columns) == {"cell", "starts"}


def test_all_columns_are_copied_to_a_device() -> None:
    cell, starts = torch.tensor([0, 3]), torch.tensor([0, 1, 2])
    votes = TensorVotes(cell, starts, range(2), range(2), torch.ones(2), torch.tensor([-1, 1]))
    moved = votes.to(torch.device("meta"))
    assert {column.device.type for column in moved.columns.values()} == {"meta"}
    assert set(moved.columns) == {"cell", "starts", "weight", "gold"}
    assert (moved.workers, moved.classes) == (votes.workers, votes.classes)


def test_no_votes_have_no_cell() -> None:
    votes = TensorVotes(
        torch.zeros(0, dtype=torch.int32), torch.zeros(3, dtype=torch.int32), range(2), range(2)
    )
    assert votes.max_votes_per_cell == 0
    assert_array_equal(votes.shares(), np.full((2, 2), 0.5))


@pytest.mark.parametrize(
    ("columns", "message"),
    [(([0], [0, 1], [0]), "different lengths"), (([], [], []), "empty"), (([0], [-1], [0]), "below zero")],
)
def test_columns_that_are_no_votes_are_refused(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns_to_tensor_votes(*(torch.tensor(column, dtype=torch.int64) for column in columns))
