"""Votes on a device, and rounds over them there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crowdpilot.aggregation.em.backend import EMModel, Params, Stats, sum_stats
from crowdpilot.arrays import Floats
from crowdpilot.scale.gpu.tensor_votes import TensorVotes, cut
from crowdpilot.votes import Votes

ROOM = 0.5  # of the free memory of a device, for votes
BYTES = 32  # for each vote, with all that is derived from it
FLOWING = 2**26  # votes of one part, if parts come one after the other
WRITTEN = 2**26  # beliefs of one part


class Device:
    """Votes as tensors on a device; or on their way to it in every round, if they are too many.

    Parameters
    ----------
    votes
        All votes.
    target
        Where rounds are run.
    numbers
        The type of tables in memory, where a round is one pass over the votes; all else is double.
    chunk
        Votes to have on the device at a time, if not all.
    start
        The same votes and the probabilities to start at; vote shares if not given.
    """

    def __init__(
        self,
        votes: TensorVotes,
        target: torch.device,
        *,
        numbers: torch.dtype = torch.float64,
        chunk: int | None = None,
        start: tuple[Votes, Floats] | None = None,
    ) -> None:
        self.n_votes = len(votes)
        self._tasks = len(votes.tasks)
        self._target, self._numbers, self._start = target, numbers, start
        self._short = max(1, WRITTEN // len(votes.classes))
        if chunk is None and fills(votes, target):
            chunk = min(FLOWING, self._short)
        if chunk is None:
            self._parts = [part.to(target) for part in cut(votes, self.longest)]
        else:
            self._parts = [part.pin() if target.type == "cuda" else part for part in cut(votes, chunk)]

    @property
    def longest(self) -> int:
        """How many votes a part may have."""
        return self._short

    # LoadedVotes -----------------------------------------------------------------------------

    def initial_counts(self, model: EMModel, restart: int) -> Stats:
        if self._start is None:
            return add_up(
                self.expected_counts(model, part, self._first(model, part)) for part in self._flow()
            )
        votes, probs = self._start
        posterior = torch.from_numpy(next(islice(model.starting_posteriors(votes, probs), restart, None)))
        if restart + 1 == model.n_restarts:
            self._start = None  # it is large, and not needed any more
        own = posterior.split([len(part.tasks) for part in self._parts])
        return add_up(self.expected_counts(model, *pair) for pair in zip(self._flow(), own, strict=True))

    def iterate(self, model: EMModel, params: Params) -> tuple[Stats, float]:
        logliks: list[Tensor] = []

        def visit(part: TensorVotes) -> Stats:
            stats, loglik = self.visit(model, part, params)
            logliks.append(loglik)
            return stats

        return add_up(map(visit, self._flow())), float(sum(logliks))

    def to_backend(self, stats: Stats) -> Stats:
        sent: list[Any] = [send(array, self._target) for array in stats]
        return tuple(sent)

    def to_host(self, params: Params) -> Params:
        return each(lambda tensor: tensor.cpu().numpy(), params)

    def posterior(self, model: EMModel, params: Params) -> Floats:
        return self._collect(self.part_posterior(model, piece, params) for piece in self._pieces())

    # What else can be asked of it ------------------------------------------------------------

    def shares(self) -> Floats:
        """The share of each class among the votes of each task, gold where it is known."""
        return self._collect(piece.shares() for piece in self._pieces())

    def label(self, model: EMModel, params: Params) -> NDArray[np.integer]:
        """The code of the most probable class of each task, the first of equals."""
        best = [
            class_posterior(piece, self.part_posterior(model, piece, params)).argmax(dim=1).int().cpu()
            for piece in self._pieces()
        ]
        return torch.cat(best).numpy()

    # How it is done --------------------------------------------------------------------------

    def expected_counts(self, model: EMModel, part: Any, belief: Tensor) -> Stats:
        """The counts of a part, given what is believed of its tasks."""
        own: Any = belief.to(self._target)
        return model.expected_counts(part, own)

    def visit(self, model: EMModel, part: Any, params: Params) -> tuple[Stats, Tensor]:
        """One round over a part."""
        joint = self._log_joint(model, part, params)
        loglik = share_best_(joint) if getattr(model, "hard", False) else softmax_(joint)
        return self.expected_counts(model, part, joint), loglik

    def part_posterior(self, model: EMModel, part: Any, params: Params) -> Tensor:
        """What is believed of the tasks of a part in the end: this is soft for all models."""
        joint = self._log_joint(model, part, params)
        softmax_(joint)
        return joint

    def _log_joint(self, model: EMModel, part: Any, params: Params) -> Tensor:
        joint: Tensor = torch.as_tensor(model.log_joint(part, params))  # models say that it is an array
        part.fix_gold_(joint)
        return joint

    def _first(self, model: EMModel, part: Any) -> Tensor:
        probs: Any = torch.cat([piece.shares().to(self._numbers) for piece in cut(part, self._short)])
        return torch.as_tensor(next(model.starting_posteriors(part, probs)))

    def _pieces(self) -> Iterator[Any]:
        """The parts, cut so small that their beliefs can be written."""
        return (piece for part in self._flow() for piece in cut(part, self._short))

    def _flow(self) -> Iterator[Any]:
        """The parts, one after the other on the device; the next one is copied while one is used."""
        if self._parts[0].cell.device.type == self._target.type:
            yield from self._parts
            return
        main, side = torch.cuda.current_stream(self._target), torch.cuda.Stream(self._target)
        coming = _copy(self._parts[0], self._target, side)
        for after in [*self._parts[1:], None]:
            main.wait_stream(side)
            here = coming
            for column in here.columns.values():
                column.record_stream(main)
            if after is not None:
                coming = _copy(after, self._target, side)
            yield here

    def _collect(self, rows: Iterable[Tensor]) -> Floats:
        """Rows of all tasks as one array of this process."""
        whole, first = np.empty((0, 0)), 0
        for some in rows:
            if first == 0:
                whole = np.empty((self._tasks, some.shape[1]))
            torch.from_numpy(whole[first : first + len(some)]).copy_(some)
            first += len(some)
        return whole


def fills(votes: TensorVotes, target: torch.device) -> bool:
    """Whether there are more votes than there is room on a device."""
    if target.type != "cuda" or votes.cell.is_cuda:
        return False
    return len(votes) * BYTES > ROOM * torch.cuda.mem_get_info(target)[0]


def _copy(part: TensorVotes, target: torch.device, stream: torch.cuda.Stream) -> TensorVotes:
    with torch.cuda.stream(stream):
        return part.to(target)


def add_up(stats: Iterable[Stats]) -> Stats:
    """Sum of the counts of several parts, which are not kept."""
    return reduce(lambda total, more: sum_stats([total, more]), stats)


def softmax_(joint: Tensor) -> Tensor:
    """Turn rows of logs into probabilities *in place*; return the sum of their log-sum-exps."""
    evidence = joint.logsumexp(dim=1)
    joint.sub_(evidence[:, None]).exp_()
    return evidence.sum()


def share_best_(joint: Tensor) -> Tensor:
    """All probability on the highest of each row *in place*, equals share it; return the sum of highests."""
    best = joint.max(dim=1).values
    slack = 1e-12 * (1 + best.abs())
    close = joint >= (best - slack)[:, None]
    torch.div(close, close.sum(dim=1, keepdim=True), out=joint)
    return best.sum()


def class_posterior(votes: TensorVotes, belief: Tensor) -> Tensor:
    """Probabilities of the classes alone, (tasks, classes), whatever else is believed."""
    return belief.view(len(belief), len(votes.classes), -1).sum(dim=2)


def send(array: Floats, target: torch.device) -> Tensor:
    """An array on a device, in double precision; what is the same for all workers only once."""
    if array.ndim > 1 and array.strides[0] == 0 and len(array):
        return send(array[:1].copy(), target).expand(array.shape)
    return torch.tensor(array, dtype=torch.float64, device=target)


def each(change: Callable[[Tensor], Any], params: Any) -> Any:
    """Parameters with all their tensors changed."""
    if isinstance(params, Tensor):
        return change(params)
    changed = [each(change, value) for value in params]
    return type(params)(*changed) if hasattr(params, "_fields") else tuple(changed)
