"""Votes loaded on a device of PyTorch, and the E-steps over them: by tensor operations, or by the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crowdpilot.aggregation.em.backend import EMModel, Params, Stats, sum_stats
from crowdpilot.arrays import Floats
from crowdpilot.scale.gpu import triton_kernel
from crowdpilot.scale.gpu.tensor_math import hardmax_, map_tensors, softmax_, sum_hidden_kinds, to_device
from crowdpilot.scale.gpu.tensor_votes import TensorVotes, split_by_votes
from crowdpilot.votes import Votes

MAX_MEMORY_SHARE = 0.5  # of the free memory of a device, for votes that stay there
BYTES_PER_VOTE = 32  # on a device, with all that is derived from it
MAX_VOTES_PER_STREAMED_PART = 2**26  # if parts are copied to the device one after the other
MAX_POSTERIOR_ENTRIES_PER_PART = 2**26  # tasks x classes of a posterior in the memory of the device
MAX_VOTES_PER_KERNEL_PART = 2**30  # offsets of votes are 32-bit integers


class DeviceVotes:
    """Votes as tensors on a device, or copied to it in every iteration; implements `LoadedVotes`.

    Parameters
    ----------
    votes
        All votes.
    device
        Where iterations run.
    table_dtype
        The type of tables in the memory of the device, where an E-step is one pass over the votes of
        the kernel; all else is in double precision.
    chunk
        Votes to have on the device at a time, if not all.
    start
        The same votes, and the class probabilities to start at, (tasks, classes); vote shares if not given.
    """

    def __init__(
        self,
        votes: TensorVotes,
        device: torch.device,
        *,
        table_dtype: torch.dtype = torch.float64,
        chunk: int | None = None,
        start: tuple[Votes, Floats] | None = None,
    ) -> None:
        self.n_votes = len(votes)
        self._n_tasks = len(votes.tasks)
        self._device, self._table_dtype, self._start = device, table_dtype, start
        self._max_votes_per_posterior = max(1, MAX_POSTERIOR_ENTRIES_PER_PART // len(votes.classes))
        if chunk is None and exceeds_memory(votes, device):
            chunk = min(MAX_VOTES_PER_STREAMED_PART, self._max_votes_per_posterior)
        if chunk is None:
            self._parts = [part.to(device) for part in split_by_votes(votes, self.max_votes_per_part)]
        else:
            parts = split_by_votes(votes, chunk)
            self._parts = [part.pin() if device.type == "cuda" else part for part in parts]

    @property
    def max_votes_per_part(self) -> int:
        """Largest number of votes of which an E-step is computed at once."""
        return self._max_votes_per_posterior

    # LoadedVotes -----------------------------------------------------------------------------

    def initial_counts(self, model: EMModel, restart: int) -> Stats:
        parts = self._parts_on_device()
        if self._start is None:
            return sum_parts(self.expected_counts(model, part, self._shares(model, part)) for part in parts)
        votes, probs = self._start
        posterior = torch.from_numpy(next(islice(model.starting_posteriors(votes, probs), restart, None)))
        if restart + 1 == model.n_restarts:
            self._start = None  # large, and not needed any more
        of_parts = posterior.split([len(part.tasks) for part in self._parts])
        return sum_parts(self.expected_counts(model, *pair) for pair in zip(parts, of_parts, strict=True))

    def iterate(self, model: EMModel, params: Params) -> tuple[Stats, float]:
        log_likelihoods: list[Tensor] = []

        def counts_of(part: TensorVotes) -> Stats:
            stats, log_likelihood = self.e_step(model, part, params)
            log_likelihoods.append(log_likelihood)
            return stats

        return sum_parts(map(counts_of, self._parts_on_device())), float(sum(log_likelihoods))

    def to_backend(self, stats: Stats) -> Stats:
        tensors: list[Any] = [to_device(array, self._device) for array in stats]
        return tuple(tensors)

    def to_host(self, params: Params) -> Params:
        return map_tensors(lambda tensor: tensor.cpu().numpy(), params)

    def posterior(self, model: EMModel, params: Params) -> Floats:
        return self._to_array(self.part_posterior(model, part, params) for part in self._small_parts())

    # Other results ---------------------------------------------------------------------------

    def shares(self) -> Floats:
        """Share of each class among the votes of each task, or its gold class; (tasks, classes)."""
        return self._to_array(part.shares() for part in self._small_parts())

    def most_probable(self, model: EMModel, params: Params) -> NDArray[np.integer]:
        """The code of the most probable class of each task, the first of equals; (tasks,)."""
        codes = []
        for part in self._small_parts():
            probs = sum_hidden_kinds(self.part_posterior(model, part, params), len(part.classes))
            codes.append(probs.argmax(dim=1).int().cpu())
        return torch.cat(codes).numpy()

    # Parts -----------------------------------------------------------------------------------

    def expected_counts(self, model: EMModel, part: Any, posterior: Tensor) -> Stats:
        """Expected counts of a part, given the posterior of its tasks, (tasks, states)."""
        on_device: Any = posterior.to(self._device)
        return model.expected_counts(part, on_device)

    def e_step(self, model: EMModel, part: Any, params: Params) -> tuple[Stats, Tensor]:
        """Expected counts and log-likelihood of a part."""
        log_joint = self._log_joint(model, part, params)
        log_likelihood = hardmax_(log_joint) if getattr(model, "hard", False) else softmax_(log_joint)
        return self.expected_counts(model, part, log_joint), log_likelihood

    def part_posterior(self, model: EMModel, part: Any, params: Params) -> Tensor:
        """Final posterior of the tasks of a part, (tasks, states); soft even if the E-step is hard."""
        log_joint = self._log_joint(model, part, params)
        softmax_(log_joint)
        return log_joint

    def _log_joint(self, model: EMModel, part: Any, params: Params) -> Tensor:
        log_joint: Tensor = torch.as_tensor(model.log_joint(part, params))  # typed as an array by models
        part.apply_gold_(log_joint)
        return log_joint

    def _shares(self, model: EMModel, part: Any) -> Tensor:
        """Vote shares as the posterior to start at, (tasks, states)."""
        pieces = split_by_votes(part, self._max_votes_per_posterior)
        probs: Any = torch.cat([piece.shares().to(self._table_dtype) for piece in pieces])
        return torch.as_tensor(next(model.starting_posteriors(part, probs)))

    def _small_parts(self) -> Iterator[Any]:
        """The parts, split until their posteriors fit the memory of the device."""
        parts = self._parts_on_device()
        return (piece for part in parts for piece in split_by_votes(part, self._max_votes_per_posterior))

    def _parts_on_device(self) -> Iterator[Any]:
        """The parts, one after the other on the device; the next one is copied while one is used."""
        if self._parts[0].cell.device.type == self._device.type:
            yield from self._parts
            return
        main, side = torch.cuda.current_stream(self._device), torch.cuda.Stream(self._device)
        coming = _copy(self._parts[0], self._device, side)
        for following in [*self._parts[1:], None]:
            main.wait_stream(side)
            current = coming
            for column in current.columns.values():
                column.record_stream(main)
            if following is not None:
                coming = _copy(following, self._device, side)
            yield current

    def _to_array(self, rows: Iterable[Tensor]) -> Floats:
        """Rows of the tasks of consecutive parts as one array of this process, (tasks, columns)."""
        whole, first = np.empty((0, 0)), 0
        for some in rows:
            if first == 0:
                whole = np.empty((self._n_tasks, some.shape[1]))
            torch.from_numpy(whole[first : first + len(some)]).copy_(some)
            first += len(some)
        return whole


class KernelVotes(DeviceVotes):
    """Votes on a GPU whose E-step is one pass of the Triton kernel, for models with a table (`TableEM`).

    The posterior stays in the registers of the GPU: it is summed into the counts and never written.
    """

    _prepared: tuple[Any, Any] = (None, None)  # parameters and their table, the same for all parts

    @property
    def max_votes_per_part(self) -> int:
        return MAX_VOTES_PER_KERNEL_PART

    def expected_counts(self, model: Any, part: Any, posterior: Tensor) -> Stats:
        on_device = posterior.to(self._device, self._table_dtype).contiguous()
        counts = triton_kernel.expected_counts(part, on_device)
        return model.counts_from_table(counts.states, counts.table)  # type: ignore[no-any-return]  # a `TableEM`

    def e_step(self, model: Any, part: Any, params: Params) -> tuple[Stats, Tensor]:
        counts = triton_kernel.e_step(part, *self._table(model, params), hard=model.hard)
        return model.counts_from_table(counts.states, counts.table), counts.log_likelihood

    def part_posterior(self, model: Any, part: Any, params: Params) -> Tensor:
        return triton_kernel.posterior(part, *self._table(model, params))

    def _table(self, model: Any, params: Params) -> tuple[Tensor, Tensor]:
        """Log-likelihoods (workers x classes, states) and log-prior (states,) as the kernel reads them."""
        if self._prepared[0] is not params:
            table = model.table(params)
            log_likelihood = table.log_likelihood.to(self._table_dtype).contiguous()
            self._prepared = params, (log_likelihood, table.log_prior.contiguous())
        tensors: tuple[Tensor, Tensor] = self._prepared[1]
        return tensors


def exceeds_memory(votes: TensorVotes, device: torch.device) -> bool:
    """Whether votes that are not on a GPU yet would fill too much of its memory."""
    if device.type != "cuda" or votes.cell.is_cuda:
        return False
    return len(votes) * BYTES_PER_VOTE > MAX_MEMORY_SHARE * torch.cuda.mem_get_info(device)[0]


def _copy(part: TensorVotes, device: torch.device, stream: torch.cuda.Stream) -> TensorVotes:
    with torch.cuda.stream(stream):
        return part.to(device)


def sum_parts(stats: Iterable[Stats]) -> Stats:
    """Sum of the expected counts of several parts, of which two are in memory at a time."""
    return reduce(lambda total, more: sum_stats([total, more]), stats)
