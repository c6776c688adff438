"""Auto chooses well without seeing any truth, and says how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation import Auto, MajorityVoting
from crowdpilot.aggregation.auto import PANELS, pool
from crowdpilot.aggregation.panel_scores import held_out_log_likelihood
from crowdpilot.simulation import HammerSpammer, IndependentConfusion
from crowdpilot.votes import Votes


def weights(result) -> dict[str, float]:
    """How much each panel counts in all."""
    panels = {score.panel: 0.0 for score in result.params["scores"]}
    for score in result.params["scores"]:
        panels[score.panel] += score.weight
    return panels


def test_few_votes_of_equal_kind_go_to_the_coin():
    """Ten classes and few votes: a matrix for each worker cannot be learned."""
    votes, truth = HammerSpammer(tasks=300, workers=40, classes=10, votes_per_task=5, ratio=0.4, seed=1).run()
    result = Auto().fit(votes)
    assert weights(result)["coin"] > 0.9
    assert (result.codes == truth).mean() > (MajorityVoting().fit(votes).codes == truth).mean()


def test_biased_workers_go_to_the_matrices():
    votes, truth = IndependentConfusion(tasks=600, workers=20, classes=3, votes_per_task=8, seed=1).run()
    result = Auto().fit(votes)
    assert weights(result)["confusion"] > 0.9
    assert (result.codes == truth).mean() > (MajorityVoting().fit(votes).codes == truth).mean()


def test_the_table_names_every_model_and_weights_sum_to_one(simulated):
    scores = Auto().fit(simulated[0]).params["scores"]
    assert [s.panel for s in scores] == [name for name, members in PANELS.items() for _ in members]
    assert sum(s.weight for s in scores) == pytest.approx(1)
    assert all(s.score < 0 for s in scores)


def test_large_inputs_are_scored_on_a_sample_with_fewer_models():
    votes, truth = IndependentConfusion(tasks=2000, workers=30, classes=3, votes_per_task=5, seed=2).run()
    result = Auto(sample=1500).fit(votes)
    assert sum(s.weight > 0 for s in result.params["scores"]) < len(result.params["scores"])
    assert (result.codes == truth).mean() > (MajorityVoting().fit(votes).codes == truth).mean()


def test_a_class_prior_reaches_the_models(simulated):
    votes, _ = simulated
    sure = Auto(prior=(0.98, 0.01, 0.01)).fit(votes).probs[:, 0].mean()
    assert sure > Auto().fit(votes).probs[:, 0].mean()


def test_a_posterior_that_predicts_votes_scores_higher(simulated):
    votes, truth = simulated
    right = np.eye(3)[truth][votes.task]
    shuffled = np.eye(3)[np.random.default_rng(0).permutation(truth)][votes.task]
    assert held_out_log_likelihood(votes, right) > held_out_log_likelihood(votes, shuffled)


def test_a_score_does_not_depend_on_the_names_of_the_classes(simulated):
    votes, truth = simulated
    new = np.array([1, 2, 0])
    posterior = 0.8 * np.eye(3)[truth][votes.task] + 0.2 / 3
    renamed = replace(votes, label=new[votes.label])
    assert held_out_log_likelihood(renamed, posterior[:, np.argsort(new)]) == pytest.approx(
        held_out_log_likelihood(votes, posterior)
    )


def test_a_pool_averages_logs():
    a, b = np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])
    np.testing.assert_allclose(pool([a, b]), [[0.75, 0.25]])


def test_one_vote_decides_a_task():
    votes = Votes.of([1], ["x"], ["b"], classes=["a", "b"])
    result = Auto().fit(votes)
    assert result.labels.tolist() == ["b"]
    assert result.confidence[0] < 0.999
