"""Scores of tasks from their content and their votes, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from crowdpilot.arrays import Floats, Names
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.data.labels import align, to_votes
from crowdpilot.learning.pruning.margins import EPOCHS
from crowdpilot.learning.pruning.prune import find_score
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.learning.registry import Network
from crowdpilot.learning.training.loop import Training
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.learning.vote_loss import Cost
from crowdpilot.votes import Votes


def score_tasks(
    X: Any,
    votes: Votes,
    score: str | TaskScore = "waum",
    *,
    network: Network = "mlp",
    training: Training | None = None,
    device: str = "auto",
    threads: int = 1,
    tasks: Sequence[Any] | Names | None = None,
) -> Floats:
    """How ambiguous each task is, or how wrong its votes; low values are the ones to look at.

    Parameters
    ----------
    X
        One row for each task: numbers, texts, pictures, or a file or folder of them.
    votes
        What the workers said.
    score
        A name of `SCORES` with options in brackets, such as "waum[margin='pleiss']".
    network, training
        What is trained, and how; 20 epochs if not given.
    device
        "auto" takes a GPU if there is one.
    threads
        How many threads torch may use on the processor.
    tasks
        The name of the task of each row, if neither X says it nor rows are in the order of the votes.

    Returns
    -------
    (tasks,), in the order of `votes.tasks`; NaN for a task without votes.

    Examples
    --------
    >>> import numpy as np
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=300, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    >>> X = np.eye(2)[truth] + np.random.default_rng(0).normal(0, 0.3, (300, 2))
    >>> X[3] = 1 - np.eye(2)[truth[3]]  # looks like the other class
    >>> int(score_tasks(X, votes, "waum[margin='pleiss']").argmin())
    3
    """
    made = find_score(score) if isinstance(score, str) else score
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    was = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        rows = to_rows(X, torch.device(device))
        names = getattr(rows, "names", None) if tasks is None else tasks
        about = to_votes(votes, len(rows)) if names is None else align(votes, list(names))
        recipe = Recipe(
            network, "two_stage", Cost(), training or Training(epochs=EPOCHS), torch.device(device)
        )
        found = made.score(recipe, rows, about)
    finally:
        torch.set_num_threads(was)
    place = {str(name): n for n, name in enumerate(about.tasks.tolist())}
    return found[[place[str(name)] for name in votes.tasks.tolist()]]
