"""`Torch`: the backend that runs EM iterations with PyTorch, on a GPU."""

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
from crowdpilot.scale.gpu.device_votes import DeviceVotes, KernelVotes
from crowdpilot.scale.gpu.tensor_votes import TensorVotes, columns_to_tensor_votes, to_tensor_votes
from crowdpilot.votes import Votes

Precision = Literal["single", "double"]
Column = NDArray[Any] | Tensor

MIN_VOTES_OF_SINGLE_PRECISION = 500_000  # it pays from here on, and cannot decide when EM converges

MODELS_FROM_SHARES: set[type[EM]] = {OneCoin, DawidSkene, FastDawidSkene, IBCC, GLAD}  # start at vote shares
SUPPORTED_MODELS: set[type[EM]] = MODELS_FROM_SHARES | {HybridDawidSkene, EBCC, MACE}


@dataclass(frozen=True)
class Torch:
    """Backend on a GPU, or any other device of PyTorch: `DawidSkene().fit(votes, backend=Torch("cuda"))`.

    The models are dawid_skene, fast_dawid_skene, hybrid_dawid_skene, ibcc, ebcc, one_coin, glad, mace
    and naive_soft, with all their settings. On an NVIDIA GPU each iteration of those with confusion
    matrices is one pass over the votes.

    Parameters
    ----------
    device
        Such as "cuda", "cuda:1" or "cpu".
    precision
        Of tables in the memory of a GPU, whose rows are read and added to for each vote. "single" is
        nearly twice as fast, and gives the probabilities of the other backends to 1e-4; "double", to
        1e-8. Everything else is in double precision, and so are these below half a million votes.
    chunk
        Votes to have on the device at a time: they stay in the memory of the host and are copied in
        every iteration, while the last chunk is computed. By default only if they would fill the device.

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
        if self.torch_device.type == "cuda" and not torch.cuda.is_available():
            raise ValueError("PyTorch finds no GPU here; leave out `backend`, or use the device 'cpu'")

    @property
    def torch_device(self) -> torch.device:
        """The device."""
        try:
            return torch.device(self.device)
        except RuntimeError:
            raise ValueError(f"the device is {self.device!r}, expected one such as 'cuda' or 'cpu'") from None

    def table_dtype(self, n_votes: int) -> torch.dtype:
        """The type of tables in the memory of the device."""
        single = self.precision == "single" and n_votes >= MIN_VOTES_OF_SINGLE_PRECISION
        return torch.float32 if single else torch.float64

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        return self.load_tensors(model, to_tensor_votes(votes), start=(votes, probs))

    def load_tensors(
        self, model: EMModel, votes: TensorVotes, *, start: tuple[Votes, Floats] | None = None
    ) -> DeviceVotes:
        """Load votes that are tensors; EM starts at `start` (see `DeviceVotes`), else at vote shares."""
        _check_supported(model, MODELS_FROM_SHARES if start is None else SUPPORTED_MODELS)
        loaded = KernelVotes if self._has_kernel(model, len(votes.classes)) else DeviceVotes
        dtype = self.table_dtype(len(votes))
        return loaded(votes, self.torch_device, table_dtype=dtype, chunk=self.chunk, start=start)

    def shares(self, votes: Votes) -> Floats:
        """Share of each class among the votes of each task, or its gold class; (tasks, classes)."""
        return DeviceVotes(to_tensor_votes(votes), self.torch_device, chunk=self.chunk).shares()

    def label(self, model: EM, task: Column, worker: Column, label: Column) -> NDArray[np.integer]:
        """Fit a model; the code of the most probable class of each task (the first of equals), (tasks,).

        Parameters
        ----------
        model
            The model.
        task, worker, label
            A code for each vote, (votes,), counted from zero, in any order.
        """
        _check_supported(model, MODELS_FROM_SHARES)
        device = self.torch_device if self.chunk is None else torch.device("cpu")
        columns = (_to_tensor(column).to(device) for column in (task, worker, label))
        votes: Any = columns_to_tensor_votes(*columns)
        if len(votes.classes) < 2:
            raise ValueError("all labels are 0; there is nothing to find out")
        loaded = self.load_tensors(model, votes)
        best = model.best_restart(loaded, model.pseudo_counts(votes))
        return loaded.most_probable(model, best.params)

    def _has_kernel(self, model: EMModel, classes: int) -> bool:
        """Whether the E-step of a model can be one pass of the kernel on this device."""
        fits = isinstance(model, TableEM) and classes * getattr(model, "M", 1) <= triton_kernel.MAX_STATES
        return fits and self.torch_device.type == "cuda" and triton_kernel.IS_AVAILABLE


def _to_tensor(column: Column) -> Tensor:
    return column if isinstance(column, Tensor) else torch.from_numpy(np.require(column, requirements="W"))


def _check_supported(model: Any, supported: set[type[EM]]) -> None:
    if type(model) not in supported:
        known = ", ".join(sorted(m.name for m in supported))
        raise ValueError(f"{model.name} cannot do this on a GPU; {known} can")
