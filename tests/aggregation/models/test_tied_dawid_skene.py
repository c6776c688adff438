"""Between one coin and a whole matrix."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation import DawidSkene, TiedDawidSkene
from crowdpilot.aggregation.models.tied_dawid_skene import tied_confusion
from crowdpilot.simulation import OneCoin


def test_tied_matrices_have_one_skill_for_each_worker_and_common_mistakes():
    rng = np.random.default_rng(0)
    said = rng.gamma(1, 5, (6, 4, 4)) + 20 * np.eye(4)
    matrices = tied_confusion(said)
    np.testing.assert_allclose(matrices.sum(axis=2), 1)
    diagonal = np.einsum("jkk->jk", matrices)
    np.testing.assert_allclose(diagonal, diagonal[:, :1].repeat(4, axis=1))
    mistakes = matrices / (1 - diagonal)[:, :, None]
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(mistakes[:, off], mistakes[:1, off].repeat(6, axis=0))


def test_a_strong_tie_makes_coins_of_the_workers(simulated):
    confusion = TiedDawidSkene(tie=1e6).fit(simulated[0]).params["confusion"]
    diagonal = np.einsum("jkk->jk", confusion)
    assert np.ptp(diagonal, axis=1).max() < 0.01
    assert np.ptp(diagonal[:, 0]) > 0.3


def test_it_helps_coins_with_few_votes():
    gain = []
    for seed in range(5):
        skill = tuple(np.random.default_rng(seed).uniform(0.3, 0.95, 60))
        crowd = OneCoin(tasks=300, workers=60, classes=8, skill=skill, votes_per_task=5, seed=seed)
        votes, truth = crowd.run()
        right = [(m.fit(votes).codes == truth).mean() for m in (TiedDawidSkene(), DawidSkene())]
        gain.append(right[0] - right[1])
    assert min(gain) > 0
