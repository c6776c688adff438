"""Discrete difficulty: good and bad workers on easy and hard tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from crowdpilot.simulation.base import AMOUNT, POSITIVE, SHARE, Crowd, CrowdDesign, Limits
from crowdpilot.simulation.confusion_matrices import draw_matrices, favour_diagonal


@dataclass(frozen=True, kw_only=True)
class DiscreteDifficulty(Crowd):
    """Nobody errs on easy tasks; on hard ones good workers are mostly right and bad ones guess.

    Parameters
    ----------
    ratio
        Share of the workers who are good; they come first.
    ratio_diff
        How many easy tasks there are for each hard one; 1 makes half of them easy.
    random
        Share of the tasks whose votes are all random.
    good, bad
        Concentrations of the Dirichlet laws of the rows of good workers' matrices (the largest
        value is then swapped onto the diagonal) and of bad workers' (it is not).

    References
    ----------
    Whitehill et al., NeurIPS 22, 2009; Lefort et al., Peerannot: learning from crowdsourced image
    datasets with Python, 2023.

    Examples
    --------
    >>> simulation = DiscreteDifficulty(tasks=6, ratio_diff=2, random=0.2, seed=3).run()
    >>> simulation.difficulty.tolist()
    ['easy', 'hard', 'easy', 'random', 'hard', 'easy']
    """

    ratio: float = 0.35
    ratio_diff: float = 1.0
    random: float = 0.0
    good: float = 0.2
    bad: float = 5.0

    name: ClassVar[str] = "discrete-difficulty"
    limits: ClassVar[Limits] = {
        **Crowd.limits,
        "ratio": SHARE,
        "ratio_diff": AMOUNT,
        "random": SHARE,
        "good": POSITIVE,
        "bad": POSITIVE,
    }

    def draw_design(self, rng: Generator) -> CrowdDesign:
        hard = (1 - self.random) / (1 + self.ratio_diff)
        chances = [1 - self.random - hard, hard, self.random]
        difficulty = rng.choice(["easy", "hard", "random"], self.tasks, p=chances)
        confusion = self.matrices(self.workers)
        if confusion is None:
            good = round(self.ratio * self.workers)
            confusion = draw_matrices(self.workers, self.classes, self.bad, rng)
            confusion[:good] = favour_diagonal(draw_matrices(good, self.classes, self.good, rng))
        return CrowdDesign(confusion, difficulty=difficulty)
