"""The one training loop."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch, Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.checkpoint import Checkpoint

SWEEP, NUMBERS = 1024, 2**24  # tasks at a time when nothing is learned, and numbers they hold at most
Optimizer = Literal["adam", "adamw", "sgd"]
Schedule = Literal["constant", "cosine", "multistep"]
Precision = Literal["full", "mixed"]
Scores = dict[str, float]


@dataclass(frozen=True)
class Training:
    """How to train.

    Parameters
    ----------
    epochs
        How often every task is seen.
    batch_size
        Tasks in a batch.
    lr, weight_decay, optimizer
        "adam", "adamw" or "sgd", its step and the pull of its weights to zero.
    momentum
        Of "sgd".
    schedule
        "constant"; "cosine" from `lr` down to zero; or "multistep", at each of the `milestones`
        (epochs) `lr_decay` times what it was.
    milestones, lr_decay
        See `schedule`.
    patience
        Stop after so many epochs in which the validation set did not get better.
    precision
        "full", or "mixed" for half precision where it does no harm.
    seed
        Decides everything that is random.
    """

    epochs: int = 100
    batch_size: int = 64
    lr: float = 1e-3
    weight_decay: float = 5e-4
    optimizer: Optimizer = "adam"
    momentum: float = 0.9
    schedule: Schedule = "constant"
    milestones: tuple[int, ...] = ()
    lr_decay: float = 0.1
    patience: int | None = None
    precision: Precision = "full"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kind in (("optimizer", Optimizer), ("schedule", Schedule), ("precision", Precision)):
            if (value := getattr(self, name)) not in get_args(kind):
                raise ValueError(f"{name} is {value!r}, expected one of {', '.join(get_args(kind))}")
        for name in ("epochs", "batch_size", "patience"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} is {value}, expected 1 or more")
        for name in ("lr", "weight_decay", "momentum", "lr_decay", "seed"):
            if not (value := getattr(self, name)) >= 0:
                raise ValueError(f"{name} is {value}, expected 0 or more")


class Watcher(Protocol):
    """Something that looks at a method after each epoch; what it must remember is its `state_dict`."""

    def watch(self, method: Method, batches: Batches) -> None:
        """Look at the method after an epoch."""
        ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> Any: ...


def train(
    method: Method,
    batches: Batches,
    settings: Training,
    *,
    validate: Callable[[Method], Scores] | None = None,
    watchers: Sequence[Watcher] = (),
    checkpoint: Checkpoint | None = None,
    tell: Callable[[Scores], None] | None = None,
) -> list[Scores]:
    """Train a method in place and say what happened in each epoch.

    Every epoch draws its random numbers from the seed and its own number, so a run that goes on
    from a checkpoint ends where an uninterrupted one does.

    Parameters
    ----------
    method, batches, settings
        What is trained, on what, and how.
    validate
        Scores of the method as it is; `score` is the one that decides which epoch is kept. If not
        given, the last epoch is.
    watchers
        Are shown the method after each epoch.
    checkpoint
        Where to save the state after each epoch, and where to go on from.
    tell
        Is told the scores of each epoch.
    """
    method.to(batches.device)
    optimizer = _optimizer(method, settings)
    history: list[Scores] = []
    best: dict[str, Tensor] | None = None
    parts = {"method": method, "optimizer": optimizer, **{f"watcher{n}": w for n, w in enumerate(watchers)}}
    if checkpoint is not None and (saved := checkpoint.load(parts)):
        history, best = saved
    while not _finished(history, settings):
        epoch = len(history)
        with seeded(settings.seed, epoch + 1, batches.device):
            _set_lr(optimizer, settings, epoch)
            method.begin(epoch, settings.epochs, lambda f: sweep(method, batches, f))
            scores = {"epoch": float(epoch), "loss": _epoch(method, batches, optimizer, settings)}
            for watcher in watchers:
                watcher.watch(method, batches)
        if validate is not None:
            scores |= validate(method.eval())
            if epoch < method.first(settings.epochs):
                scores["score"] = -np.inf  # phases come first
            elif scores["score"] > max((h["score"] for h in history), default=-np.inf):
                best = copy.deepcopy(method.state_dict())
        history.append(scores)
        if checkpoint is not None:
            checkpoint.save(parts, history, best)
        if tell is not None:
            tell(scores)
    if best is not None:
        method.load_state_dict(best)
    method.eval()
    return history


def sweep(method: nn.Module, batches: Batches, look: Callable[[Batch], Tensor]) -> Tensor:
    """`look` of all tasks in their order, in batches, with the method as it is deployed."""
    was, _ = method.training, method.eval()
    with torch.no_grad():
        found = [look(batches.batch(tasks)) for tasks in in_parts(batches.rows)]
    method.train(was)
    return torch.cat(found)


def in_parts(rows: Rows) -> Sequence[Tensor]:
    """The numbers of all rows, as many at a time as can be looked at together."""
    size = rows.take(torch.zeros(1, dtype=torch.long), train=False).numel()
    parts: Sequence[Tensor] = torch.arange(len(rows)).split(max(16, min(SWEEP, NUMBERS // max(size, 1))))
    return parts


@contextmanager
def seeded(seed: int, turn: int, device: torch.device) -> Iterator[None]:
    """Random numbers of torch that depend on these two alone; those outside go on as if nothing was."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int(np.random.SeedSequence([seed, turn]).generate_state(1, np.uint64)[0] >> 1))
        yield


def _finished(history: list[Scores], settings: Training) -> bool:
    if len(history) >= settings.epochs:
        return True
    if settings.patience is None or not history or "score" not in history[-1]:
        return False
    best = int(np.argmax([h["score"] for h in history]))
    return history[best]["score"] > -np.inf and len(history) - 1 - best >= settings.patience


def _epoch(method: Method, batches: Batches, optimizer: torch.optim.Optimizer, settings: Training) -> float:
    """The mean loss of one pass over all tasks that say anything."""
    method.train()
    device = batches.device.type
    total = torch.zeros((), device=batches.device)
    rounds = _shuffled(batches.taught, settings.batch_size)
    for tasks in rounds:
        batch = batches.batch(tasks, train=True)
        with torch.autocast(device, torch.bfloat16, enabled=settings.precision == "mixed"):
            loss = method.full_loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    mean = float(total) / len(rounds)
    if not np.isfinite(mean):
        raise ValueError(f"the loss became {mean} while training; try a smaller lr than {settings.lr}")
    return mean


def _shuffled(tasks: Tensor, size: int) -> list[Tensor]:
    """All tasks in random order; a last one that would be alone joins those before it."""
    parts = list(tasks[torch.randperm(len(tasks))].split(size))
    if len(parts) > 1 and len(parts[-1]) == 1 < size:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts


def _optimizer(method: nn.Module, settings: Training) -> torch.optim.Optimizer:
    kinds: dict[str, Any] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    momentum = settings.momentum
    own = {"momentum": momentum, "nesterov": momentum > 0} if settings.optimizer == "sgd" else {}
    optimizer: torch.optim.Optimizer = kinds[settings.optimizer](
        method.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True, **own
    )
    return optimizer


def _set_lr(optimizer: torch.optim.Optimizer, settings: Training, epoch: int) -> None:
    passed = sum(epoch >= milestone for milestone in settings.milestones)
    factor = {
        "constant": 1.0,
        "cosine": (1 + np.cos(np.pi * epoch / settings.epochs)) / 2,
        "multistep": settings.lr_decay**passed,
    }
    for group in optimizer.param_groups:
        group["lr"] = settings.lr * factor[settings.schedule]
