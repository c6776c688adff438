"""Posterior of an item: the rules (`FUSIONS`) that combine classifier probabilities with crowd votes.

Every rule takes three arrays: the classifier's probabilities, (items, classes); the log-likelihood of the
votes so far, log P(votes | class), (items, classes); and the prior of the classes, (classes,). It returns
the posterior, (items, classes). A further vote adds one row to the log-likelihood of its item, so a posterior
is updated in time that depends on the number of classes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.calibration import FusionWeights
from crowdpilot.option_strings import choose

Rule = Callable[[Floats, Floats, Floats], Floats]

CLASSIFIER_WEIGHT = 0.8  # default exponent a of the classifier's probabilities in `tempered`
CROWD_WEIGHT = 0.8  # default exponent b of the votes' likelihood in `tempered`: errors on one item correlate
MIN_PROBABILITY = 1e-12


def bayes(classifier: Floats, log_likelihood: Floats, prior: Floats) -> Floats:
    """Bayes' rule with the classifier's probabilities as the prior: P(k) ∝ m_k P(votes | k)."""
    return FusionWeights()(classifier, log_likelihood, prior)


def tempered(
    classifier: Floats,
    log_likelihood: Floats,
    prior: Floats,
    *,
    a: float = CLASSIFIER_WEIGHT,
    b: float = CROWD_WEIGHT,
) -> Floats:
    """Bayes' rule with both sources raised to a power.

    log P(k) = a log m_k + b sum_j log confusion_j[k, v_j] + (1 - a) log prior_k + const.
    """
    return FusionWeights(a, b)(classifier, log_likelihood, prior)


def average(classifier: Floats, log_likelihood: Floats, prior: Floats, *, weight: float = 0.5) -> Floats:
    """Linear pool: `weight` m_k + (1 - `weight`) P_crowd(k); the classifier alone where there are no votes.

    Equal weights are the rule of Sayin et al., ICWS 2021.
    """
    both = weight * classifier + (1 - weight) * crowd_only(classifier, log_likelihood, prior)
    return np.where((log_likelihood == 0).all(axis=1, keepdims=True), classifier, both)


def classifier_as_worker(classifier: Floats, log_likelihood: Floats, prior: Floats) -> Floats:
    """The classifier counts as one more worker, whose accuracy is its confidence in its label."""
    K = classifier.shape[1]
    accuracy = classifier.max(axis=1, keepdims=True)
    label = classifier.argmax(axis=1)[:, None] == np.arange(K)
    likelihood = np.where(label, accuracy, (1 - accuracy) / max(K - 1, 1))
    return crowd_only(classifier, log_likelihood + np.log(np.maximum(likelihood, MIN_PROBABILITY)), prior)


def crowd_only(classifier: Floats, log_likelihood: Floats, prior: Floats) -> Floats:
    """The posterior of the votes alone: P(k) ∝ prior_k P(votes | k)."""
    return softmax(log_likelihood + np.log(to_probs(np.maximum(prior, MIN_PROBABILITY))))


FUSIONS: dict[str, Callable[..., Floats]] = {
    "bayes": bayes,
    "tempered": tempered,
    "average": average,
    "classifier_as_worker": classifier_as_worker,
    "crowd": crowd_only,
}


@dataclass(frozen=True)
class FusionRule:
    """A rule of `FUSIONS` with its options set.

    It has the exponent that it gives the votes' likelihood, and whether it uses the classifier at all.
    """

    rule: Rule
    crowd_weight: float = 1.0
    uses_classifier: bool = True

    def __call__(self, classifier: Floats, log_likelihood: Floats, prior: Floats) -> Floats:
        return self.rule(classifier, log_likelihood, prior)


def find_fusion(text: str) -> FusionRule:
    """The rule that a text names, such as `bayes` or `tempered[a=0.5]`.

    Examples
    --------
    >>> fuse = find_fusion("bayes")
    >>> vote = np.log([[0.8, 0.2]])  # of a worker with an accuracy of 0.8
    >>> fuse(np.array([[0.4, 0.6]]), vote, np.array([0.5, 0.5])).round(2).tolist()
    [[0.73, 0.27]]
    """
    rule, options = choose(text, FUSIONS, "fusion")
    crowd_weight = options.get("b", CROWD_WEIGHT) if rule is tempered else 1.0
    return FusionRule(partial(rule, **options), float(crowd_weight), rule is not crowd_only)
