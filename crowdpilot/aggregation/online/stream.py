"""Stream: votes added, corrected and deleted one by one, with labels at any moment (incremental EM)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.aggregation.em.loop import EM
from crowdpilot.aggregation.online import snapshot
from crowdpilot.aggregation.online.counts import StreamCounts
from crowdpilot.aggregation.online.models import online_model
from crowdpilot.aggregation.online.name_index import NameIndex
from crowdpilot.aggregation.online.online_model import OnlineEM
from crowdpilot.aggregation.online.vote_log import Integers
from crowdpilot.aggregation.registry import parse_strategy
from crowdpilot.arrays import Codes, Floats, last_of_each, to_probs
from crowdpilot.names import to_names
from crowdpilot.votes import Votes

VOTES_PER_CHUNK = 4096  # votes that are added by one partial E-step


class Stream:
    """A model that follows votes while they are added, corrected and deleted.

    Incremental EM: the expected counts of workers are at all times the sum over all votes of the
    posterior that their tasks had at their last vote. A vote changes the posterior of its own task alone
    and takes time O(classes x votes on the task), however many votes there are in all. Votes that are
    added together are judged by the parameters before. Models without likelihood (majority, naive soft,
    weighted, wawa) have the batch answer at all times; the others come close to it, and `refit` brings
    them there.

    With a `half_life` the expected counts of workers forget old votes exponentially (stepwise EM with a
    constant step), while tasks do not: a task keeps the posterior that it had at its last vote, by the
    skills that workers had then.

    Parameters
    ----------
    model
        Any of those in `crowdpilot.aggregation.online.models.ONLINE_MODELS`.
    classes
        All classes, two or more.
    half_life
        After so many more votes of a worker, a vote of theirs counts half in the expected counts.

    References
    ----------
    Neal and Hinton, A view of the EM algorithm that justifies incremental, sparse, and other variants,
    1998. https://doi.org/10.1007/978-94-011-5014-9_12
    Cappé and Moulines, On-line expectation-maximization, JRSS B 71(3), 2009.
    https://arxiv.org/abs/0712.4273

    Examples
    --------
    >>> from crowdpilot.aggregation import DawidSkene
    >>> stream = Stream(DawidSkene(), ["cat", "dog"])
    >>> stream.add("a", "ann", "cat")
    >>> stream.add_many(["a", "a", "b"], ["bob", "eve", "ann"], ["dog", "cat", "dog"])
    >>> stream.label("a"), stream.label("b")
    ('cat', 'dog')
    >>> stream.delete("a", "eve")
    >>> stream
    Stream(3 votes, 2 tasks, 3 workers by dawid_skene)
    """

    def __init__(self, model: Aggregator, classes: Sequence[Any], *, half_life: float = np.inf) -> None:
        self.model = model
        self.classes = NameIndex("class", to_names(classes).tolist())
        self.tasks, self.workers = NameIndex("task"), NameIndex("worker")
        if len(self.classes) < 2 or len(self.classes) < len(classes):
            raise ValueError("a stream needs two or more classes, each once")
        self.counts = StreamCounts(online_model(model, len(self.classes)), half_life)

    def __len__(self) -> int:
        return len(self.counts.log)

    def __repr__(self) -> str:
        sizes = f"{len(self)} votes, {len(self.tasks)} tasks, {len(self.workers)} workers"
        return f"Stream({sizes} by {self.model})"

    # Votes -----------------------------------------------------------------------------------

    def add(self, task: Any, worker: Any, label: Any, *, weight: float = 1.0) -> None:
        """Add a vote; it replaces an earlier vote of the same worker on the task."""
        self._add([task], [worker], [label], np.array([weight], float))

    def add_many(
        self, tasks: Iterable[Any], workers: Iterable[Any], labels: Iterable[Any], *, weights: ArrayLike = 1.0
    ) -> None:
        """Add many votes, in the order in which they came; all are checked before any is added."""
        task, worker, label = (to_names(c).tolist() for c in (tasks, workers, labels))  # type: ignore[arg-type]  # any
        if len({len(task), len(worker), len(label)}) > 1:
            raise ValueError("tasks, workers and labels have different lengths")
        self._add(task, worker, label, np.broadcast_to(np.asarray(weights, float), len(task)))

    def add_votes(self, votes: Votes) -> None:
        """Add all of these votes, and their gold labels."""
        names = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
        self.add_many(*names, weights=votes.weights)
        if votes.gold is not None:
            known = votes.gold >= 0
            gold = votes.tasks[known].tolist(), votes.classes[votes.gold[known]].tolist()
            self.reveal(dict(zip(*gold, strict=True)))

    def _add(self, tasks: list[Any], workers: list[Any], labels: list[Any], weight: Floats) -> None:
        label = self.classes.codes(labels)
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise ValueError("a vote has a negative or infinite weight; weights are 0 or more")
        self._add_names(self.tasks.new(tasks), self.workers.new(workers))
        task, worker = self.tasks.codes(tasks), self.workers.codes(workers)
        for n in range(0, len(task), VOTES_PER_CHUNK):
            part = slice(n, n + VOTES_PER_CHUNK)
            self._add_codes(task[part], worker[part], label[part], weight[part])

    def _add_names(self, tasks: list[Any], workers: list[Any]) -> None:
        """Tasks and workers that are new."""
        self.tasks.add(tasks)
        self.workers.add(workers)
        self.counts.add_names(len(tasks), workers)

    def _add_codes(self, task: Codes, worker: Codes, label: Codes, weight: Floats) -> None:
        if len(task) > 1:
            last = last_of_each(pair_keys(task, worker))
            task, worker, label, weight = task[last], worker[last], label[last], weight[last]
        if len(rows := self._replaced(task, worker)):
            self.counts.delete(rows)
        self.counts.add(task, worker, label, weight)

    def _replaced(self, task: Codes, worker: Codes) -> Integers:
        """The rows of earlier votes of the same workers on the same tasks."""
        log = self.counts.log
        if len(task) == 1:
            row = log.find(int(task[0]), int(worker[0]))
            return np.array([row] if row >= 0 else [], np.intp)
        rows, _ = log.rows_of(np.unique(task[log.last[task] >= 0]))
        return rows[np.isin(pair_keys(log.task[rows], log.worker[rows]), pair_keys(task, worker))]

    def correct(self, task: Any, worker: Any, label: Any) -> None:
        """Change the label of a vote; it counts as given now, with the weight it had."""
        row = self._row(task, worker)
        self.add(task, worker, label, weight=float(self.counts.log.extra["weight"][row]))

    def delete(self, task: Any, worker: Any) -> None:
        """Delete the vote of a worker on a task; both names stay known."""
        row = self._row(task, worker)
        self.counts.delete(np.array([row]))
        self.counts.update(self.tasks.codes([task]))

    def _row(self, task: Any, worker: Any) -> int:
        row = self.counts.log.find(int(self.tasks.codes([task])[0]), int(self.workers.codes([worker])[0]))
        if row < 0:
            raise ValueError(f"worker {worker!r} has not voted on task {task!r}")
        return row

    def reveal(self, gold: Mapping[Any, Any]) -> None:
        """Set the gold labels of these tasks, or remove them where None is given."""
        labels = [name for name in gold.values() if name is not None]
        self.classes.codes(labels)
        self._add_names(self.tasks.new(gold), [])
        tasks = self.tasks.codes(gold)
        self.counts.gold[tasks] = [-1 if name is None else self.classes.code[name] for name in gold.values()]
        self.counts.update(tasks)

    def votes(self) -> Votes:
        """All votes, in the order in which they came, with the gold labels."""
        log, gold = self.counts.log, self.counts.gold
        weight = log.column("weight")
        return Votes(
            log.column("task"), log.column("worker"), log.column("label"),
            to_names(self.tasks.names), to_names(self.workers.names), to_names(self.classes.names),
            weight=None if (weight == 1).all() else weight,
            gold=gold.copy() if (gold >= 0).any() else None,
        )  # fmt: skip

    # Results ---------------------------------------------------------------------------------

    def probs(self, task: Any) -> Floats:
        """Posterior of a task, (classes,), by the current parameters of workers."""
        probs: Floats = self.counts.probs(self.tasks.codes([task]))[0]
        return probs

    def label(self, task: Any) -> Any:
        """The most probable class of a task; ties are broken as in `Aggregate`."""
        none = np.zeros(0, np.int32)
        votes = Votes(none, none, none, to_names([task]), none, to_names(self.classes.names))
        return Aggregate(votes, self.probs(task)[None], np.zeros(0), model=self.model).labels[0]

    def skill(self, worker: Any) -> float:
        """Accuracy of a worker, of recent votes if there is a half-life; NaN without votes."""
        code = self.workers.codes([worker])
        return float(self.counts.model.skill(code, self.counts.forgetting.scale(code))[0])

    def result(self) -> Aggregate:
        """Posterior of all tasks by the current parameters of workers: one E-step over all votes."""
        votes, online = self.votes(), self.counts.model
        everybody = np.arange(len(self.workers))
        scale = self.counts.forgetting.scale(everybody)
        if not isinstance(online, OnlineEM) or not isinstance(self.model, EM):
            probs = self.counts.probs(np.arange(len(self.tasks)))
            return Aggregate(votes, probs, online.skill(everybody, scale), model=self.model)
        stats = online.stats(scale)
        params = online.params(sum_stats([stats, self.model.pseudo_counts(votes)]))
        posterior = self.model.posterior(votes.merged, params)
        kept = self.counts.keeps_posterior(np.arange(len(posterior)))
        posterior[kept] = to_probs(self.counts.posterior[kept])
        result = self.model.to_result(votes.merged, params, posterior)
        return replace(result, votes=votes, model=self.model, params={**result.params, "stats": stats})

    def refit(self) -> Aggregate:
        """Fit the model to all votes at once, and go on from there."""
        votes, online = self.votes(), self.counts.model
        result = self.model.fit(votes)
        if isinstance(online, OnlineEM) and isinstance(self.model, EM):
            online.adopt(result)
            params = online.params(sum_stats([result.params["stats"], self.model.pseudo_counts(votes)]))
            self.counts.recount(self.model.posterior(votes.merged, params))
        return result

    # Snapshots -------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """A snapshot as plain data that JSON can hold, from which `from_dict` goes on exactly."""
        names = {"classes": self.classes.names, "tasks": self.tasks.names, "workers": self.workers.names}
        return snapshot.write(str(self.model), names, self.counts)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The stream of a snapshot."""
        snapshot.check(data)
        stream = cls(
            parse_strategy(data["strategy"]),
            snapshot.names(data, "classes"),
            half_life=snapshot.half_life(data),
        )
        stream._add_names(snapshot.names(data, "tasks"), snapshot.names(data, "workers"))
        snapshot.restore(data, stream.counts)
        return stream


def pair_keys(task: Integers, worker: Integers) -> Integers:
    """One number for each pair of task and worker."""
    return task.astype(np.int64) << 32 | worker
