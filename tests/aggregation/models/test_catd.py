"""CATD trusts workers as far as their errors are sure to be few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from crowdpilot.aggregation.models.catd import CATD


@pytest.mark.parametrize("quantile", [0.025, 0.5, 0.975])
def test_the_weight_is_a_quantile_of_chi_squared_over_the_errors(quantile):
    voted, errors = np.array([1.0, 5.0, 40.0]), np.array([0.0, 2.0, 2.0])
    weight = CATD(quantile=quantile, smoothing=0.5).worker_weights(errors, voted)
    np.testing.assert_allclose(weight, chi2.ppf(quantile, voted) / (errors + 0.5))


def test_of_workers_with_the_same_share_of_errors_the_one_with_more_votes_weighs_more():
    weight = CATD().worker_weights(np.array([1.0, 10.0, 100.0]), np.array([5.0, 50.0, 500.0]))
    assert (np.diff(weight) > 0).all()


def test_a_worker_without_votes_or_of_tiny_weight_does_not_weigh_zero_or_nan():
    weight = CATD().worker_weights(np.zeros(2), np.array([0.0, 1e-3]))
    assert (weight > 0).all()


def test_a_quantile_of_one_is_refused():
    with pytest.raises(ValueError, match="quantile of catd is 1, expected a number between 0 and 1"):
        CATD(quantile=1)
