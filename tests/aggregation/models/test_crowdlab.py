"""CROWDLAB: a classifier and the workers as one ensemble."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.crowdlab import Crowdlab
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.votes import Votes

SAID = np.array(
    [
        [0, 0, 1, -1],
        [1, 1, -1, 1],
        [2, -1, 2, 0],
        [0, 0, -1, -1],
        [-1, 1, 2, -1],
        [2, -1, -1, -1],
        [1, 1, 1, 0],
    ]
)
MACHINE = np.array(
    [
        [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.3, 0.5, 0.2],
        [0.1, 0.5, 0.4], [0.5, 0.2, 0.3], [0.1, 0.8, 0.1],
    ]
)  # fmt: skip


def table(said: np.ndarray) -> Votes:
    """Votes from a (tasks, workers) table, -1 where there is none."""
    task, worker = np.nonzero(said >= 0)
    sizes = (np.arange(n) for n in (*said.shape, 3))
    return Votes(task, worker, said[task, worker], *sizes)


def test_cleanlab_gives_the_same():
    """Numbers of cleanlab 2.9.0, `get_label_quality_multiannotator`, with its weights returned."""
    result = Crowdlab(MACHINE).fit(table(SAID))
    expected = [
        [0.66668114, 0.2259726, 0.10734627],
        [0.16665925, 0.72599448, 0.10734627],
        [0.25045938, 0.25045894, 0.49908168],
        [0.48874239, 0.34459833, 0.16665928],
        [0.10429166, 0.56272382, 0.33298452],
        [0.39600197, 0.1776877, 0.42631033],
        [0.10734663, 0.7853071, 0.10734627],
    ]
    np.testing.assert_allclose(result.probs, expected, atol=1e-8)
    np.testing.assert_allclose(result.params["weight"], [0.4, 1 / 3, 1e-6, 1e-6], atol=1e-8)
    assert result.params["classifier_weight"] == pytest.approx(1.0690449676496978)


def test_one_pass_by_hand():
    """Two of three tasks are unanimous: A = 5/6, E = 1/3, agreement (5 - 1) / 6 of x, y with others.

    x and y disagree on task 3 only, where the classifier breaks the tie: it never misses.
    """
    votes = Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), list("aabbab"))
    result = Crowdlab([[0.8, 0.2], [0.1, 0.9], [0.7, 0.3]], passes=1).fit(votes)
    np.testing.assert_allclose(result.params["weight"], [1e-6, 1e-6])  # 1 - (1/3) / (1/3) is nothing
    assert result.params["classifier_weight"] == pytest.approx(np.sqrt(2))
    np.testing.assert_allclose(result.probs, [[0.8, 0.2], [0.1, 0.9], [0.7, 0.3]], atol=1e-5)


def test_good_workers_and_a_fair_classifier_beat_the_majority(simulated):
    votes, truth = simulated
    rng = np.random.default_rng(0)
    machine = rng.dirichlet(np.ones(3), len(truth))
    machine[np.arange(len(truth)), truth] += rng.random(len(truth)) < 0.8
    machine /= machine.sum(axis=1, keepdims=True)
    right = (Crowdlab(machine).fit(votes).codes == truth).mean()
    assert right > (MajorityVoting().fit(votes).codes == truth).mean() + 0.02
    assert right > (machine.argmax(axis=1) == truth).mean() + 0.02


def test_a_mapping_by_task_is_the_same_as_an_array_in_their_order():
    votes = table(SAID)
    by_task = {str(n): row for n, row in reversed(list(enumerate(MACHINE)))}
    np.testing.assert_allclose(Crowdlab(by_task).fit(votes).probs, Crowdlab(MACHINE).fit(votes).probs)


def test_without_votes_the_classifier_decides():
    result = Crowdlab([[0.3, 0.7]]).fit(Votes.of([], [], [], classes="ab", tasks=[1]))
    np.testing.assert_allclose(result.probs, [[0.3, 0.7]])


def test_single_votes_are_taken_at_their_word():
    """Nobody can be compared, so every worker weighs 1; the classifier misses 1 of 4, the guess 2 of 4."""
    votes = Votes.of([1, 2, 3, 4], list("wxyz"), list("aabb"))
    result = Crowdlab([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], passes=1).fit(votes)
    np.testing.assert_allclose(result.params["weight"], 1)
    assert result.params["classifier_weight"] == pytest.approx(0.5)
    np.testing.assert_allclose(result.probs[3], [0.3 / 1.5, 1.2 / 1.5])


def test_gold_is_kept_and_judges_the_workers():
    votes = table(SAID).with_gold({0: 1, 6: 0})
    result = Crowdlab(MACHINE).fit(votes)
    np.testing.assert_allclose(result.probs[[0, 6]], [[0, 1, 0], [1, 0, 0]])
    before = Crowdlab(MACHINE).fit(table(SAID))
    agree = [r.params["agreed"] / r.params["vote_weight"] for r in (before, result)]
    assert agree[1][0] < agree[0][0]
    assert agree[1][3] > agree[0][3]


def test_history_adds_to_the_agreement_of_a_worker():
    votes = table(SAID)
    first = Crowdlab(MACHINE).fit(votes)
    np.testing.assert_allclose(first.params["agreed"], [7, 6, 3, 2])
    np.testing.assert_allclose(first.params["vote_weight"], [10, 9, 8, 7])
    together = Votes.of([*range(10, 18)] * 2, [2] * 8 + [3] * 8, [1] * 16, classes=[0, 1, 2])
    history = Crowdlab(np.tile([0.2, 0.5, 0.3], (8, 1))).fit(together)
    weight = Crowdlab(MACHINE).fit(votes, history=history).params["weight"]
    np.testing.assert_allclose(weight, 1 - (1 - np.array([7 / 10, 6 / 9, 11 / 16, 10 / 15])) / 0.5)


@pytest.mark.parametrize(
    ("probs", "message"),
    [
        (None, "crowdlab needs the probabilities of a classifier"),
        (MACHINE[:3], r"have shape \(3, 3\), expected \(tasks, classes\) \(7, 3\)"),
        (MACHINE * 2, "of task '0' sum to 2, expected 1"),
        (np.full((7, 3), np.nan), "of task '0' have no number for the class '0'"),
        (np.tile([1.5, -0.5, 0], (7, 1)), "of task '0' are 1.5, -0.5, 0; a probability is never negative"),
        (dict(enumerate(MACHINE[:6])), "no row for task '6'"),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(probs, message):
    with pytest.raises(ValueError, match=message):
        Crowdlab(probs).fit(table(SAID))


def test_the_settings_are_printed_and_compared_without_the_data():
    model = Crowdlab(MACHINE, passes=2)
    assert str(model) == "crowdlab[passes=2]"
    assert repr(model) == "Crowdlab(seed=0, passes=2)"
    assert model == Crowdlab(MACHINE / 2, passes=2)
    assert "crowdlab[passes=2]" in repr(model.fit(table(SAID)))
    with pytest.raises(ValueError, match="number of passes is 0"):
        Crowdlab(MACHINE, passes=0)
