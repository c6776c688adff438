"""score_tasks: scores of ambiguous tasks (AUM, WAUM and others) from their content and votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdpilot.arrays import Floats, Names
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.data.labels import votes_on
from crowdpilot.learning.pruning.scores import find_score
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.learning.pruning.training_margins import DEFAULT_EPOCHS
from crowdpilot.learning.registry import Network
from crowdpilot.learning.training.loop import Training
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.learning.training.torch_runtime import find_device, use_threads
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
    """A score of each task that is low if the task is ambiguous or its votes are wrong.

    Parameters
    ----------
    X
        One row for each task: numbers, texts, images, or a file or folder of them.
    votes
        On these tasks.
    score
        A name of `SCORES` with options in brackets, such as "waum[margin='pleiss']".
    network, training
        What is trained, and how; 20 epochs if not given.
    device
        "auto" takes a GPU if there is one.
    threads
        How many threads torch may use on the processor.
    tasks
        The name of the task of each row, if X does not name them and rows are not in the order of the votes.

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
    chosen = find_score(score) if isinstance(score, str) else score
    where = find_device(device)
    with use_threads(threads):
        rows = to_rows(X, where)
        about = votes_on(rows, votes, tasks=None if tasks is None else list(tasks))
        settings = training or Training(epochs=DEFAULT_EPOCHS)
        procedure = TrainingProcedure(network, "two_stage", VoteLoss(), settings, where)
        scores = chosen.score(procedure, rows, about)
    index = {str(name): n for n, name in enumerate(about.tasks.tolist())}
    return scores[[index[str(name)] for name in votes.tasks.tolist()]]
