"""Train our own methods, some epochs when asked, under the terms of `learning_peer_runner`."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.learning_peer_runner import Train, answer, make_network
from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.registry import find_method
from crowdpilot.learning.training.loop import Training, train
from crowdpilot.votes import Votes

CONTESTANTS = {"crowdlayer": "crowdlayer", "cross-entropy": "two_stage[labels='naive_soft',targets='soft']"}


def prepare(method: str, data: dict[str, Any]) -> Train:
    """One of our methods with the network of all contestants."""
    sizes = len(data["x"]), int(data["worker"].max()) + 1, int(data["classes"])
    tasks, workers, classes = map(np.arange, sizes)
    votes = Votes(data["task"], data["worker"], data["label"], tasks, workers, classes)
    trained = find_method(method)(make_network(data), votes)
    batches = Batches(to_rows(data["x"], torch.device("cpu")), votes)
    settings = partial(Training, batch_size=int(data["batch_size"]), lr=float(data["lr"]), weight_decay=0.0)

    def learn(epochs: int) -> None:
        train(trained, batches, settings(epochs=epochs))

    return learn


if __name__ == "__main__":
    answer({name: partial(prepare, method) for name, method in CONTESTANTS.items()}, sys.argv[1])
