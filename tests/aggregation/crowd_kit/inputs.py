"""Inputs of crowd-kit's own tests, as rows of worker, task and label, and crowds drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

Rows = list[tuple[Any, Any, Any]]  # worker, task, label

# tests/conftest.py of crowd-kit 1.4.2, `toy_answers_df`
TOY: Rows = [
    (worker, f"t{task}", label)
    for worker, labels in {
        "w1": {1: "no", 2: "yes", 3: "yes", 4: "yes", 5: "yes"},
        "w2": {1: "yes", 2: "yes", 3: "no", 4: "yes", 5: "no"},
        "w3": {2: "yes", 3: "no", 4: "yes", 5: "no"},
        "w4": {1: "yes", 2: "no", 3: "yes", 4: "yes", 5: "no"},
        "w5": {1: "no", 2: "no", 3: "no", 4: "yes", 5: "no"},
    }.items()
    for task, label in labels.items()
]

# The same file, `simple_answers_df`; ids are shortened to their last three characters
SIMPLE: Rows = [
    (worker, task, label)
    for worker, labels in {
        "2d2": "eec goose efb parrot f03 goose f05 goose f02 parrot f08 parrot",
        "6e8": "efb parrot ee8 chicken f07 parrot efd chicken ee4 chicken f03 goose",
        "718": "ee8 chicken eec goose f05 goose f02 parrot f08 parrot",
        "b3d": "eec goose ee8 chicken f03 goose ee4 chicken",
        "06e": "eec parrot efb parrot f07 parrot efd parrot ee4 parrot f05 parrot",
        "c55": "efb parrot ee8 goose f02 parrot f08 parrot f07 parrot efd goose",
    }.items()
    for task, label in zip(labels.split()[::2], labels.split()[1::2], strict=True)
]

# The same file, `data_with_bool_labels`
BOOLEAN: Rows = [(f"w{w}", f"t{t}", w < 3) for w in (1, 2, 3) for t in (1, 2)]

# tests/aggregation/data_gold_mv.py, `multiple_gt_df`
THREE_LABELS: Rows = [
    ("w1", "t1", "l1"), ("w1", "t2", "l1"), ("w1", "t3", "l1"), ("w2", "t1", "l2"), ("w2", "t2", "l1"),
    ("w2", "t3", "l2"), ("w3", "t1", "l3"), ("w3", "t3", "l3"),
]  # fmt: skip

# `toy_gold_df` and `simple_gold_df` of tests/conftest.py; of random crowds, the majority of five tasks
GOLD: dict[str, dict[Any, Any]] = {
    "toy": {"t1": "yes", "t2": "yes"},
    "simple": {"eec": "goose", "efb": "parrot", "ee8": "chicken"},
    "binary_0": {0: 0, 1: 1, 2: 1, 3: 0, 4: 1},
    "ternary_0": {0: 0, 1: 2, 2: 2, 3: 0, 4: 1},
}


def draw(classes: int, seed: int, tasks: int = 50, workers: int = 10, votes_per_task: int = 7) -> Rows:
    """Votes of workers who are right with probability .7 to .95, and else give any other class.

    With worse workers and fewer votes the models of both libraries differ in more tasks, as ours have priors.
    """
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.7, 0.95, workers)
    truth = rng.integers(classes, size=tasks)
    rows: Rows = []
    for task in range(tasks):
        for worker in rng.permutation(workers)[:votes_per_task]:
            wrong = (truth[task] + rng.integers(1, classes)) % classes
            label = truth[task] if rng.random() < skill[worker] else wrong
            rows.append((int(worker), task, int(label)))
    return rows


INPUTS: dict[str, Rows] = {
    "toy": TOY,
    "simple": SIMPLE,
    "boolean": BOOLEAN,
    "three_labels": THREE_LABELS,
    **{f"binary_{seed}": draw(2, seed) for seed in range(3)},
    **{f"ternary_{seed}": draw(3, seed) for seed in range(3)},
}
