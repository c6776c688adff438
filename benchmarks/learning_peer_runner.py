"""Train CrowdLayer of another library, an epoch when asked: `python learning_peer_runner.py DATA`.

DATA is an .npz file with the rows `x`, the votes `task`, `worker`, `label`, and the numbers `classes`,
`hidden`, `batch_size` and `lr`. Each line of standard input names a contestant and a number of epochs;
the answer is the seconds they took. It runs in the environment of the peers, so it imports no part of
Crowdpilot.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

Train = Callable[[int], None]  # so many epochs


def make_network(data: dict[str, Any]) -> nn.Module:
    """The network of all contestants."""
    features, hidden, classes = data["x"].shape[1], int(data["hidden"]), int(data["classes"])
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Dropout(0.5), nn.Linear(hidden, classes))


def peerannot(data: dict[str, Any], loaders: int = 0) -> Train:
    """Its own epochs over its own kind of labels: a row of all workers, -1 where there is no vote.

    Its constructor reads folders of images with torchvision, so it is passed by, and the rows lie in
    memory: what is timed is `run_epoch` alone.
    """
    from peerannot.models.agg_deep import Crowdlayer as module  # type: ignore[import-not-found]  # a peer

    workers, classes = int(data["worker"].max()) + 1, int(data["classes"])
    labels = np.full((len(data["x"]), workers), -1)
    labels[data["task"], data["worker"]] = data["label"]
    x = torch.from_numpy(data["x"])
    samples: Any = [(x[n], labels[n]) for n in range(len(x))]
    loader = DataLoader(samples, shuffle=True, batch_size=int(data["batch_size"]), num_workers=loaders)
    model = module.Crowdlayer.__new__(module.Crowdlayer)
    model.n_classes = classes
    net = module.Crowdlayer_net(classes, workers, make_network(data))
    first = torch.optim.Adam(net.classifier.parameters(), lr=float(data["lr"]))
    second = torch.optim.Adam([net.confusion], lr=float(data["lr"]))
    criterion = nn.CrossEntropyLoss(ignore_index=-1, reduction="mean")

    def train(epochs: int) -> None:
        for _ in range(epochs):
            model.run_epoch(net, loader, criterion, first, second, {"train_loss": []})

    return train


def crowd_kit(data: dict[str, Any]) -> Train:
    """Its layer takes a row for each vote; it has no training loop, so a plain one is around it."""
    parent = types.ModuleType("crowdkit.learning")  # its own beginning loads models of texts
    parent.__path__ = [str(Path(importlib.import_module("crowdkit").__file__ or "").parent / "learning")]
    sys.modules.setdefault("crowdkit.learning", parent)
    module = importlib.import_module("crowdkit.learning.crowd_layer")
    net = make_network(data)
    layer = module.CrowdLayer(int(data["classes"]), int(data["worker"].max()) + 1, conn_type="mw")
    votes = [torch.from_numpy(data[c].astype(np.int64)) for c in ("worker", "label")]
    rows = TensorDataset(torch.from_numpy(data["x"][data["task"]]), *votes)
    loader = DataLoader(rows, shuffle=True, batch_size=int(data["batch_size"]), num_workers=0)
    optimizer = torch.optim.Adam([*net.parameters(), *layer.parameters()], lr=float(data["lr"]))
    criterion = nn.CrossEntropyLoss()

    def train(epochs: int) -> None:
        net.train()
        for _ in range(epochs):
            for x, worker, label in loader:
                optimizer.zero_grad()
                criterion(layer(net(x).softmax(dim=-1), worker), label).backward()
                optimizer.step()

    return train


def answer(makers: dict[str, Callable[[dict[str, Any]], Train]], path: str) -> None:
    """Read names and numbers of epochs, and print seconds, until there is nothing more to read."""
    torch.set_num_threads(1)
    with np.load(path) as file:
        data = {name: file[name] for name in file}
    ready: dict[str, Train] = {}
    for line in sys.stdin:
        name, epochs = line.rsplit(" ", 1)
        if name not in ready:
            torch.manual_seed(0)
            ready[name] = makers[name](data)
        start = perf_counter()
        ready[name](int(epochs))
        print(perf_counter() - start, flush=True)


if __name__ == "__main__":
    with_a_loader = partial(peerannot, loaders=1)
    answer(
        {"peerannot": peerannot, "peerannot with a loader": with_a_loader, "crowd-kit": crowd_kit},
        sys.argv[1],
    )
