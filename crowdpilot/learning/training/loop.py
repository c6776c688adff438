"""The training loop: epochs, optimizer, learning-rate schedule, early stopping, checkpoints."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch, Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.checkpoint import Checkpoint, Stateful
from crowdpilot.learning.training.torch_runtime import seeded

MAX_TASKS_PER_EVALUATION_BATCH = 1024
MAX_NUMBERS_PER_EVALUATION_BATCH = 2**24  # of the input
Optimizer = Literal["adam", "adamw", "sgd"]
Schedule = Literal["constant", "cosine", "multistep"]
Precision = Literal["full", "mixed"]
Scores = dict[str, float]


@dataclass(frozen=True)
class Training:
    """Settings of the training loop.

    Parameters
    ----------
    epochs
        Passes over all tasks.
    batch_size
        Tasks in a batch.
    lr, weight_decay, optimizer
        "adam", "adamw" or "sgd" (with Nesterov momentum), its learning rate and weight decay.
    momentum
        Of "sgd".
    schedule
        Of the learning rate: "constant"; "cosine" from `lr` down to zero; or "multistep", multiplied
        by `lr_decay` at each of the `milestones` (epochs).
    milestones, lr_decay
        See `schedule`.
    patience
        Stop early after so many epochs without a better score on the validation set.
    precision
        "full", or "mixed" for automatic mixed precision with bfloat16.
    seed
        Of all random numbers.
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


class EpochCallback(Stateful, Protocol):
    """A callback after each epoch; what it must remember across a restart is its `state_dict`."""

    def after_epoch(self, method: Method, batches: Batches) -> None:
        """Called with the method after each epoch."""
        ...


@dataclass(frozen=True)
class _MethodState:
    """The state of a method by its names in files."""

    method: Method

    def state_dict(self) -> dict[str, Tensor]:
        return self.method.to_file(self.method.state_dict())

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        self.method.load_state_dict(self.method.from_file(state))


def train(
    method: Method,
    batches: Batches,
    settings: Training,
    *,
    validate: Callable[[Method], Scores] | None = None,
    callbacks: Sequence[EpochCallback] = (),
    checkpoint: Checkpoint | None = None,
    on_epoch: Callable[[Scores], None] | None = None,
) -> list[Scores]:
    """Train a method in place, and return the scores of each epoch.

    Every epoch draws its random numbers from the seed and its own number, so that a run resumed from a
    checkpoint ends where an uninterrupted one does.

    Parameters
    ----------
    method, batches, settings
        What is trained, on what, and how.
    validate
        Scores of the method; the epoch with the largest `score` is kept. If not given, the last epoch is.
    callbacks
        Called with the method after each epoch.
    checkpoint
        Where to save the state after each epoch, and from where to resume.
    on_epoch
        Called with the scores of each epoch.
    """
    method.to(batches.device)
    optimizer = _optimizer(method, settings)
    history: list[Scores] = []
    best: dict[str, Tensor] | None = None
    parts: dict[str, Stateful] = {"method": _MethodState(method), "optimizer": optimizer}
    parts |= {f"callback{n}": callback for n, callback in enumerate(callbacks)}
    if checkpoint is not None and (saved := checkpoint.load(parts)):
        history, best = saved[0], None if saved[1] is None else method.from_file(saved[1])
    while not _finished(history, settings):
        epoch = len(history)
        with seeded(settings.seed, epoch + 1, batches.device):
            _set_lr(optimizer, settings, epoch)
            method.before_epoch(epoch, settings.epochs, lambda f: evaluate_all(method, batches, f))
            scores = {"epoch": float(epoch), "loss": _epoch(method, batches, optimizer, settings)}
            for callback in callbacks:
                callback.after_epoch(method, batches)
        if validate is not None:
            scores |= validate(method.eval())
            if epoch < method.first_selectable_epoch(settings.epochs):
                scores["score"] = -np.inf  # a phase of training that may not be kept
            elif scores["score"] > max((h["score"] for h in history), default=-np.inf):
                best = copy.deepcopy(method.state_dict())
        history.append(scores)
        if checkpoint is not None:
            checkpoint.save(parts, history, None if best is None else method.to_file(best))
        if on_epoch is not None:
            on_epoch(scores)
    if best is not None:
        method.load_state_dict(best)
    method.eval()
    return history


def evaluate_all(method: nn.Module, batches: Batches, function: Callable[[Batch], Tensor]) -> Tensor:
    """`function` of all tasks in their order, (tasks, ...), with the method in evaluation mode."""
    was_training, _ = method.training, method.eval()
    with torch.no_grad():
        values = [function(batches.batch(tasks)) for tasks in evaluation_batches(batches.rows)]
    method.train(was_training)
    return torch.cat(values)


def evaluation_batches(rows: Rows) -> Sequence[Tensor]:
    """The indices of all rows in order, in batches of bounded memory."""
    numbers = rows.take(torch.zeros(1, dtype=torch.long), train=False).numel()
    fitting = MAX_NUMBERS_PER_EVALUATION_BATCH // max(numbers, 1)
    parts: Sequence[Tensor] = torch.arange(len(rows)).split(
        max(16, min(MAX_TASKS_PER_EVALUATION_BATCH, fitting))
    )
    return parts


def _finished(history: list[Scores], settings: Training) -> bool:
    if len(history) >= settings.epochs:
        return True
    if settings.patience is None or not history or "score" not in history[-1]:
        return False
    best = int(np.argmax([h["score"] for h in history]))
    return history[best]["score"] > -np.inf and len(history) - 1 - best >= settings.patience


def _epoch(method: Method, batches: Batches, optimizer: torch.optim.Optimizer, settings: Training) -> float:
    """Train one pass over all tasks with votes or a known class; the mean loss."""
    method.train()
    device = batches.device.type
    total = torch.zeros((), device=batches.device)
    shuffled = _shuffled(batches.labelled_tasks, settings.batch_size)
    for tasks in shuffled:
        batch = batches.batch(tasks, train=True)
        with torch.autocast(device, torch.bfloat16, enabled=settings.precision == "mixed"):
            loss = method.loss_with_gold(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    mean = float(total) / len(shuffled)
    if not np.isfinite(mean):
        raise ValueError(f"the loss became {mean} while training; try a smaller lr than {settings.lr}")
    return mean


def _shuffled(tasks: Tensor, size: int) -> list[Tensor]:
    """All tasks in random batches; a single last task joins the batch before it."""
    parts = list(tasks[torch.randperm(len(tasks))].split(size))
    if len(parts) > 1 and len(parts[-1]) == 1 < size:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts


def _optimizer(method: nn.Module, settings: Training) -> torch.optim.Optimizer:
    kinds: dict[str, Any] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    momentum = settings.momentum
    options = {"momentum": momentum, "nesterov": momentum > 0} if settings.optimizer == "sgd" else {}
    optimizer: torch.optim.Optimizer = kinds[settings.optimizer](
        method.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True, **options
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
