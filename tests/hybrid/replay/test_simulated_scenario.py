from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.replay.simulated_scenario import simulate_scenario


def test_a_simulated_crowd_follows_its_settings_and_its_seed() -> None:
    scenario, source = simulate_scenario(
        3, items=4000, workers=300, skill=0.7, spread=0.05, classes=3, share=0.1
    )
    again, same = simulate_scenario(3, items=4000, workers=300, skill=0.7, spread=0.05, classes=3, share=0.1)
    right = np.einsum("wkk->w", source.confusion) / 3
    assert (scenario.truth == 2).mean() == pytest.approx(0.1, abs=0.02)
    assert right.mean() == pytest.approx(0.7, abs=0.01)
    assert right.std() == pytest.approx(0.05, abs=0.01)
    np.testing.assert_allclose(source.confusion.sum(axis=2), 1)
    np.testing.assert_array_equal(scenario.truth, again.truth)
    np.testing.assert_array_equal(source.confusion, same.confusion)


def test_settings_out_of_range_are_an_error() -> None:
    for settings in ({"items": 0}, {"classes": 1}, {"skill": 1.5}, {"share": 0.0}, {"spread": 0.6}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            simulate_scenario(0, **settings)  # type: ignore[arg-type]  # some are whole numbers
