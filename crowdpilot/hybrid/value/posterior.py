"""Belief: what machine and crowd together say of an item, one rule for each way to join them.

Every rule takes what the machine says (items, classes), how likely the votes so far would be were
the item of each class (log, items x classes), and the shares of the classes. A further vote adds one
row to those logs, so a belief is updated in time that depends on the number of classes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.calibration import Fusion
from crowdpilot.option_strings import choose

Rule = Callable[[Floats, Floats, Floats], Floats]

CROWD = 0.8  # what the log of a vote counts, as votes on one item err together
MACHINE = 0.8


def bayes(machine: Floats, heard: Floats, prior: Floats) -> Floats:
    """The machine's probabilities as a prior, the votes as evidence."""
    return Fusion()(machine, heard, prior)


def tempered(
    machine: Floats, heard: Floats, prior: Floats, *, a: float = MACHINE, b: float = CROWD
) -> Floats:
    """Bayes with less faith in both.

    log P(k) = a log m_k + b sum_j log confusion_j[k, v_j] + (1 - a) log prior_k + const.
    """
    return Fusion(a, b)(machine, heard, prior)


def average(machine: Floats, heard: Floats, prior: Floats, *, weight: float = 0.5) -> Floats:
    """`weight` times what the machine says and the rest what the crowd says; the machine alone without votes.

    Half and half is the rule of Sayin et al., ICWS 2021.
    """
    both = weight * machine + (1 - weight) * crowd_only(machine, heard, prior)
    return np.where((heard == 0).all(axis=1, keepdims=True), machine, both)


def voter(machine: Floats, heard: Floats, prior: Floats) -> Floats:
    """The machine as one more voter, whose accuracy is its confidence in its label."""
    K = machine.shape[1]
    sure = machine.max(axis=1, keepdims=True)
    label = machine.argmax(axis=1)[:, None] == np.arange(K)
    said = np.where(label, sure, (1 - sure) / max(K - 1, 1))
    return crowd_only(machine, heard + np.log(np.maximum(said, 1e-12)), prior)


def crowd_only(machine: Floats, heard: Floats, prior: Floats) -> Floats:
    """The votes alone."""
    return softmax(heard + np.log(to_probs(np.maximum(prior, 1e-12))))


FUSIONS: dict[str, Callable[..., Floats]] = {
    "bayes": bayes,
    "tempered": tempered,
    "average": average,
    "voter": voter,
    "crowd": crowd_only,
}


@dataclass(frozen=True)
class Joined:
    """A rule with its options, and what the log of a vote counts in it."""

    rule: Rule
    faith: float = 1.0

    def __call__(self, machine: Floats, heard: Floats, prior: Floats) -> Floats:
        return self.rule(machine, heard, prior)


def find_fusion(text: str) -> Joined:
    """The rule that a text names.

    Examples
    --------
    >>> join = find_fusion("bayes")
    >>> vote = np.log([[0.8, 0.2]])  # of someone who is right in 8 of 10 cases
    >>> join(np.array([[0.4, 0.6]]), vote, np.array([0.5, 0.5])).round(2).tolist()
    [[0.73, 0.27]]
    """
    rule, options = choose(text, FUSIONS, "fusion")
    faith = options.get("b", CROWD) if rule is tempered else 1.0
    return Joined(partial(rule, **options), float(faith))
