"""Rounds on a GPU: votes as tensors, models as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crowdpilot.aggregation import (
    EBCC,
    EM,
    GLAD,
    IBCC,
    MACE,
    DawidSkene,
    FastDawidSkene,
    HybridDawidSkene,
    OneCoin,
)
from crowdpilot.aggregation.em.backend import EMModel, LoadedVotes
from crowdpilot.aggregation.em.tables import TableEM
from crowdpilot.arrays import Floats
from crowdpilot.scale.gpu import triton_kernel
from crowdpilot.scale.gpu.device_backend import Device
from crowdpilot.scale.gpu.tensor_votes import TensorVotes, from_columns, from_votes
from crowdpilot.scale.gpu.triton_backend import OnePass
from crowdpilot.votes import Votes

Precision = Literal["single", "double"]
Column = NDArray[Any] | Tensor

MANY = 500_000  # votes from which on single precision pays, and cannot decide when the rounds end

SIMPLE: set[type[EM]] = {OneCoin, DawidSkene, FastDawidSkene, IBCC, GLAD}  # begin at shares of votes
READY: set[type[EM]] = SIMPLE | {HybridDawidSkene, EBCC, MACE}


@dataclass(frozen=True)
class Torch:
    """A GPU, or whatever else PyTorch can compute on: `DawidSkene().fit(votes, backend=Torch("cuda"))`.

    The models are dawid_skene, fast_dawid_skene, hybrid_dawid_skene, ibcc, ebcc, one_coin, glad, mace
    and naive_soft, with all their settings. On an NVIDIA GPU the rounds of those with confusion
    matrices are one pass over the votes each.

    Parameters
    ----------
    device
        Such as "cuda", "cuda:1" or "cpu".
    precision
        Of tables in the memory of a GPU, whose rows are read and added to for each vote. "single" is
        nearly twice as fast, and gives the probabilities of the other machines to 1e-4; "double", to
        1e-8. Everything else is double, and below half a million votes these are, too.
    chunk
        Votes to have on the device at a time: they stay in the memory of the host and are copied in
        every round, while the last chunk is computed. If not given, that happens when they would
        fill the device.

    Examples
    --------
    >>> from crowdpilot.aggregation import DawidSkene
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> DawidSkene().fit(votes, backend=Torch("cpu")).skill.round(1).tolist()
    [0.9, 0.8, 0.6, 0.3]
    """

    device: str = "cuda"
    precision: Precision = "single"
    chunk: int | None = None

    def __post_init__(self) -> None:
        if self.precision not in get_args(Precision):
            raise ValueError(f"precision is {self.precision!r}, expected 'single' or 'double'")
        if self.chunk is not None and self.chunk < 1:
            raise ValueError(f"chunk is {self.chunk}, expected a number of votes")
        if self.target.type == "cuda" and not torch.cuda.is_available():
            raise ValueError("PyTorch finds no GPU here; leave out `backend`, or use the device 'cpu'")

    @property
    def target(self) -> torch.device:
        """The device."""
        try:
            return torch.device(self.device)
        except RuntimeError:
            raise ValueError(f"the device is {self.device!r}, expected one such as 'cuda' or 'cpu'") from None

    def numbers(self, votes: int) -> torch.dtype:
        """The type of tables for so many votes."""
        return torch.float32 if self.precision == "single" and votes >= MANY else torch.float64

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        return self.load_tensors(model, from_votes(votes), start=(votes, probs))

    def load_tensors(
        self, model: EMModel, votes: TensorVotes, *, start: tuple[Votes, Floats] | None = None
    ) -> Device:
        """Load votes that are tensors already; iterations start at vote shares if nothing else is given."""
        _check(model, SIMPLE if start is None else READY)
        kind = self._kind(model, len(votes.classes))
        return kind(votes, self.target, numbers=self.numbers(len(votes)), chunk=self.chunk, start=start)

    def shares(self, votes: Votes) -> Floats:
        """The share of each class among the votes of each task, gold where it is known."""
        return Device(from_votes(votes), self.target, chunk=self.chunk).shares()

    def label(self, model: EM, task: Column, worker: Column, label: Column) -> NDArray[np.integer]:
        """The code of the most probable class of each task (the first of equals), and nothing else.

        Parameters
        ----------
        model
            What to fit.
        task, worker, label
            A code for each vote, counted from zero, in any order.
        """
        _check(model, SIMPLE)
        where = self.target if self.chunk is None else torch.device("cpu")
        votes: Any = from_columns(*(_tensor(column).to(where) for column in (task, worker, label)))
        if len(votes.classes) < 2:
            raise ValueError("all labels are 0; there is nothing to find out")
        loaded = self.load_tensors(model, votes)
        return loaded.label(model, model.best_restart(loaded, model.pseudo_counts(votes)).params)

    def _kind(self, model: EMModel, classes: int) -> type[Device]:
        fits = isinstance(model, TableEM) and classes * getattr(model, "M", 1) <= triton_kernel.WIDEST
        return OnePass if fits and self.target.type == "cuda" and triton_kernel.THERE else Device


def _tensor(column: Column) -> Tensor:
    return column if isinstance(column, Tensor) else torch.from_numpy(np.require(column, requirements="W"))


def _check(model: Any, ready: set[type[EM]]) -> None:
    if type(model) not in ready:
        known = ", ".join(sorted(m.name for m in ready))
        raise ValueError(f"{model.name} cannot do this on a GPU; {known} can")
