from __future__ import annotations

import numpy as np

from crowdpilot.service.demo import SimulatedCrowd


def test_the_crowd_is_as_good_as_it_is_said_to_be() -> None:
    crowd = SimulatedCrowd([0, 1, 2, 3] * 2000, classes=4, seed=0)
    right = (crowd.answers == crowd.truth).mean(axis=1)
    np.testing.assert_allclose(right[crowd.skill > 0], crowd.skill[crowd.skill > 0], atol=0.03)
    assert (crowd.answers[crowd.skill == 0] == 0).all()
