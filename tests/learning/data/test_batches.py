from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.votes import Votes


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 40))
def test_a_batch_holds_its_tasks_with_all_their_votes_and_no_others(seed, tasks, count):
    rng = np.random.default_rng(seed)
    task, worker, label = (rng.integers(0, n, count) for n in (tasks, 3, 2))
    weight = rng.random(count)
    votes = Votes(task, worker, label, np.arange(tasks), np.arange(3), np.arange(2), weight)
    x = torch.arange(tasks, dtype=torch.float32)[:, None]
    chosen = torch.as_tensor(rng.permutation(tasks)[: rng.integers(1, tasks + 1)])
    batch = Batches(Dense(x, torch.device("cpu")), votes).batch(chosen)
    assert batch.x[:, 0].tolist() == chosen.tolist() == batch.task.tolist()
    got = sorted(zip(batch.task[batch.row].tolist(), batch.worker.tolist(), batch.label.tolist(),
                     batch.weight.tolist(), strict=True))  # fmt: skip
    wanted = np.isin(task, chosen.numpy())
    parts = (task[wanted], worker[wanted], label[wanted], weight[wanted].astype(np.float32).astype(float))
    assert got == sorted(zip(*(part.tolist() for part in parts), strict=True))


def test_tasks_that_nobody_has_judged_teach_nothing():
    votes = Votes.of(["a"], ["x"], [1], tasks=["a", "b", "c"], classes=[0, 1], gold={"c": 0})
    rows = Dense(torch.zeros(3, 1), torch.device("cpu"))
    assert Batches(rows, votes).labelled_tasks.tolist() == [0, 2]
