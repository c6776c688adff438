"""Do scores of tasks find wrong labels? `python -m benchmarks.learning_swaps --data DIR`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from benchmarks.learning_sets import labelme
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.arrays import Codes, Floats
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.pruning.scores import find_score
from crowdpilot.learning.training.loop import Training
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

Bools = NDArray[np.bool_]
SHARE = 0.05  # of the tasks, whose votes all become votes for one other class
NAMES = ("waum", "aum", "waum[folds=1]", "aum[folds=1]", "entropy", "difficulty")


def swap(votes: Votes, truth: Codes, seed: int) -> tuple[Votes, Bools]:
    """The votes with a share of the tasks swapped, and which tasks those are."""
    rng = np.random.default_rng(seed)
    bad = rng.random(len(votes.tasks)) < SHARE
    to = (truth + rng.integers(1, len(votes.classes), len(truth))) % len(votes.classes)
    return replace(votes, label=np.where(bad[votes.task], to[votes.task], votes.label)), bad


def precision(scores: Floats, bad: Bools) -> float:
    """Average precision with which low scores find the bad tasks."""
    known = ~np.isnan(scores)
    return float(average_precision_score(bad[known], -scores[known]))


def main(
    data: Annotated[Path, typer.Option(help="Folder with labelme.")],
    seeds: Annotated[int, typer.Option(help="How many crowds with swapped labels.")] = 5,
    output: Annotated[Path, typer.Option(help="Folder for the report and its figures.")] = RESULTS,
) -> None:
    """Swap labels of LabelMe, score its tasks in every way, and see who finds them."""
    torch.set_num_threads(1)
    crowd, device = labelme(data / "labelme"), torch.device("cpu")
    rows = to_rows(crowd.x, device)
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for seed in range(seeds):
        votes, bad = swap(crowd.votes, crowd.truth, seed)
        training = Training(epochs=50, seed=seed)
        procedure = TrainingProcedure("mlp", "two_stage", VoteLoss(), training, device, standardize=False)
        for name in NAMES:
            found[name].append(precision(find_score(name).score(procedure, rows, votes), bad))
    body = [(name, f"{np.mean(v):.3f} ± {np.std(v, ddof=1):.3f}") for name, v in found.items()]
    table = markdown(("score", "average precision"), body)
    write(output, "learning_swaps", TEXT.format(machine=machine(), seeds=seeds, table=table), found)


TEXT = """# Finding wrong labels

Written by `python -m benchmarks.learning_swaps --data DIR`. Measured on {machine}.

LabelMe, 512 features. On 5 % of the tasks all votes become votes for one other class; the tasks are ranked by
each score, the lowest first. Average precision, mean ± standard deviation over {seeds} seeds; chance is 0.05.

{table}
"""

if __name__ == "__main__":
    typer.run(main)
