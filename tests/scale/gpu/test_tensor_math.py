from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from crowdpilot import arrays
from crowdpilot.scale.gpu.tensor_math import hardmax_, map_tensors, softmax_, sum_hidden_kinds, to_device

CPU = torch.device("cpu")


def log_joints(seed: int, tasks: int, states: int) -> np.ndarray:
    """Any log-joint probabilities, some of them of impossible states."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 50, (tasks, states))
    values[rng.random((tasks, states)) < 0.2] = -np.inf
    values[:, 0] = rng.normal(0, 50, tasks)
    return values


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 6))
def test_softmax_is_that_of_arrays(seed: int, tasks: int, states: int) -> None:
    expected = log_joints(seed, tasks, states)
    posterior = torch.from_numpy(expected.copy())
    log_likelihood = softmax_(posterior)
    assert_allclose(log_likelihood.item(), arrays.softmax_(expected), rtol=1e-12)
    assert_allclose(posterior, expected, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 6))
def test_hardmax_puts_all_probability_on_the_maximum(seed: int, tasks: int, states: int) -> None:
    values = log_joints(seed, tasks, states)
    posterior = torch.from_numpy(values.copy())
    assert_allclose(hardmax_(posterior).item(), values.max(axis=1).sum(), rtol=1e-12)
    assert_array_equal(posterior.argmax(dim=1), values.argmax(axis=1))
    assert_allclose(posterior.sum(dim=1), np.ones(tasks))


def test_hardmax_shares_ties_within_rounding() -> None:
    values = torch.tensor([[1.0, 1.0 + 1e-13, 0.0], [2.0, 1.0, 2.0]], dtype=torch.float64)
    assert hardmax_(values).item() == 3.0 + 1e-13
    assert_array_equal(values, [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])


def test_hidden_kinds_of_a_class_are_summed() -> None:
    posterior = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    assert_allclose(sum_hidden_kinds(posterior, 2), [[0.3, 0.7]])
    assert_allclose(sum_hidden_kinds(posterior, 4), posterior)


def test_arrays_are_sent_in_double_precision() -> None:
    sent = to_device(np.arange(3, dtype=np.float32), CPU)
    assert sent.dtype == torch.float64
    assert sent.tolist() == [0, 1, 2]


def test_broadcast_rows_are_sent_once() -> None:
    row = np.arange(6.0).reshape(2, 3)
    sent = to_device(np.broadcast_to(row, (1000, 2, 3)), CPU)
    assert sent.shape == (1000, 2, 3)
    assert sent.untyped_storage().nbytes() == 6 * 8
    assert_array_equal(sent[-1], row)
    assert to_device(np.broadcast_to(row, (0, 2, 3)), CPU).shape == (0, 2, 3)


class Params(NamedTuple):
    prior: torch.Tensor
    nested: tuple[torch.Tensor, ...]


def test_functions_apply_to_all_tensors_of_nested_tuples() -> None:
    params = Params(torch.ones(2), (torch.zeros(1), torch.ones(3)))
    mapped = map_tensors(lambda tensor: tensor.numpy() + 1, params)
    assert isinstance(mapped, Params)
    assert mapped.prior.tolist() == [2, 2]
    assert [array.tolist() for array in mapped.nested] == [[1], [2, 2, 2]]
