"""Stream: votes one by one, with an answer at any moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import add
from crowdpilot.aggregation.em.loop import EM
from crowdpilot.aggregation.online.base import Expected
from crowdpilot.aggregation.online.counts import Tally
from crowdpilot.aggregation.online.models import ONLINE, rule_of
from crowdpilot.aggregation.online.name_index import Register
from crowdpilot.aggregation.online.vote_log import Rows
from crowdpilot.aggregation.parsing import parse
from crowdpilot.arrays import Codes, Floats, to_names, to_probs
from crowdpilot.json_values import pack, unpack
from crowdpilot.votes import Votes

CHUNK = 4096  # votes that are taken at once
VERSION = 1


class Stream:
    """A model that follows votes as they come, are corrected and are taken back.

    What is counted of workers is, at every moment, the sum over all votes of what was believed of their
    tasks when these had their last vote (incremental EM). A vote touches the votes on the same task and
    nothing else: it takes time O(classes x votes on the task), however many there are in all. Votes that
    are added together are judged by what was known of workers before. Models of shares (majority,
    naive soft, weighted, wawa) have the batch answer at every moment; the others come close to it, and
    `refit` brings them there.

    With a `half_life` old votes fade in what they tell of workers (stepwise EM with a constant step), and
    not in what they tell of their task: a task is shown as believed at its last vote, by what workers were
    like then, and not by what they are like now.

    Parameters
    ----------
    model
        Any of those in `crowdpilot.aggregation.online.models.ONLINE`.
    classes
        All classes, two or more.
    half_life
        After so many more votes of a worker, a vote of theirs counts half for what they are like.

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
        self.classes = Register("class", to_names(classes).tolist())
        self.tasks, self.workers = Register("task"), Register("worker")
        if len(self.classes) < 2 or len(self.classes) < len(classes):
            raise ValueError("a stream needs two or more classes, each once")
        self.tally = Tally(rule_of(model, len(self.classes)), half_life)

    def __len__(self) -> int:
        return len(self.tally.book)

    def __repr__(self) -> str:
        sizes = f"{len(self)} votes, {len(self.tasks)} tasks, {len(self.workers)} workers"
        return f"Stream({sizes} by {self.model})"

    # Votes -----------------------------------------------------------------------------------

    def add(self, task: Any, worker: Any, label: Any, *, weight: float = 1.0) -> None:
        """A vote; if the worker has voted on the task before, it takes the place of that vote."""
        self._add([task], [worker], [label], np.array([weight], float))

    def add_many(
        self, tasks: Iterable[Any], workers: Iterable[Any], labels: Iterable[Any], *, weights: ArrayLike = 1.0
    ) -> None:
        """Many votes, in the order in which they came; all are checked before any is taken."""
        task, worker, label = (to_names(c).tolist() for c in (tasks, workers, labels))  # type: ignore[arg-type]  # any
        if len({len(task), len(worker), len(label)}) > 1:
            raise ValueError("tasks, workers and labels have different lengths")
        self._add(task, worker, label, np.broadcast_to(np.asarray(weights, float), len(task)))

    def tell(self, votes: Votes) -> None:
        """Many votes, and the classes of tasks that are known."""
        names = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
        self.add_many(*names, weights=votes.weights)
        if votes.gold is not None:
            known = votes.gold >= 0
            gold = votes.tasks[known].tolist(), votes.classes[votes.gold[known]].tolist()
            self.reveal(dict(zip(*gold, strict=True)))

    def _add(self, tasks: list[Any], workers: list[Any], labels: list[Any], weight: Floats) -> None:
        label = self.classes.find(labels)
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise ValueError("a vote has a negative or infinite weight; weights are 0 or more")
        self._meet(self.tasks.new(tasks), self.workers.new(workers))
        task, worker = self.tasks.find(tasks), self.workers.find(workers)
        for n in range(0, len(task), CHUNK):
            part = slice(n, n + CHUNK)
            self._take(task[part], worker[part], label[part], weight[part])

    def _meet(self, tasks: list[Any], workers: list[Any]) -> None:
        """Tasks and workers that are new."""
        self.tasks.enlist(tasks)
        self.workers.enlist(workers)
        self.tally.meet(len(tasks), workers)

    def _take(self, task: Codes, worker: Codes, label: Codes, weight: Floats) -> None:
        if len(task) > 1:
            last = last_of_each(task, worker)
            task, worker, label, weight = task[last], worker[last], label[last], weight[last]
        if len(rows := self._same(task, worker)):
            self.tally.drop(rows)
        self.tally.add(task, worker, label, weight)

    def _same(self, task: Codes, worker: Codes) -> Rows:
        """The rows of earlier votes of the same workers on the same tasks."""
        book = self.tally.book
        if len(task) == 1:
            row = book.find(int(task[0]), int(worker[0]))
            return np.array([row] if row >= 0 else [], np.intp)
        rows, _ = book.of(np.unique(task[book.last[task] >= 0]))
        return rows[np.isin(pairs(book.task[rows], book.worker[rows]), pairs(task, worker))]

    def correct(self, task: Any, worker: Any, label: Any) -> None:
        """Another label of a worker for a task; it counts as given now, as much as the one before."""
        row = self._row(task, worker)
        self.add(task, worker, label, weight=float(self.tally.book.more["weight"][row]))

    def delete(self, task: Any, worker: Any) -> None:
        """Take back the vote of a worker on a task; both stay known."""
        row = self._row(task, worker)
        self.tally.drop(np.array([row]))
        self.tally.renew(self.tasks.find([task]))

    def _row(self, task: Any, worker: Any) -> int:
        row = self.tally.book.find(int(self.tasks.find([task])[0]), int(self.workers.find([worker])[0]))
        if row < 0:
            raise ValueError(f"worker {worker!r} has not voted on task {task!r}")
        return row

    def reveal(self, gold: Mapping[Any, Any]) -> None:
        """The classes of these tasks are known from now on, or not any more if None."""
        given = [name for name in gold.values() if name is not None]
        self.classes.find(given)
        self._meet(self.tasks.new(gold), [])
        tasks = self.tasks.find(gold)
        self.tally.known[tasks] = [-1 if name is None else self.classes.place[name] for name in gold.values()]
        self.tally.renew(tasks)

    def votes(self) -> Votes:
        """All votes, in the order in which they came, with the classes that are known."""
        book, known = self.tally.book, self.tally.known
        weight = book.kept("weight")
        return Votes(
            book.kept("task"), book.kept("worker"), book.kept("label"),
            to_names(self.tasks.names), to_names(self.workers.names), to_names(self.classes.names),
            weight=None if (weight == 1).all() else weight,
            gold=known.copy() if (known >= 0).any() else None,
        )  # fmt: skip

    # Answers ---------------------------------------------------------------------------------

    def probs(self, task: Any) -> Floats:
        """The probability of each class of a task, by what is known of workers."""
        probs: Floats = self.tally.show(self.tasks.find([task]))[0]
        return probs

    def label(self, task: Any) -> Any:
        """The most probable class of a task; equals are drawn by lot, as in `Aggregate`."""
        none = np.zeros(0, np.int32)
        votes = Votes(none, none, none, to_names([task]), none, to_names(self.classes.names))
        return Aggregate(votes, self.probs(task)[None], np.zeros(0), model=self.model).labels[0]

    def skill(self, worker: Any) -> float:
        """How often a worker is right, lately if votes fade; NaN for one without votes."""
        who = self.workers.find([worker])
        return float(self.tally.rule.skill(who, self.tally.fading.scale(who))[0])

    def result(self) -> Aggregate:
        """What is believed of all tasks by what is known of workers: one look at all votes."""
        votes, rule = self.votes(), self.tally.rule
        scale = self.tally.fading.scale(np.arange(len(self.workers)))
        if not isinstance(rule, Expected) or not isinstance(self.model, EM):
            everybody = np.arange(len(self.workers))
            probs = self.tally.show(np.arange(len(self.tasks)))
            return Aggregate(votes, probs, rule.skill(everybody, scale), model=self.model)
        stats = rule.stats(scale)
        params = rule.params(add([stats, self.model.pseudo(votes)]))
        belief = self.model.believe(votes.merged, params)
        dated = self.tally.dated(np.arange(len(belief)))
        belief[dated] = to_probs(self.tally.belief[dated])
        found = self.model.finish(votes.merged, params, belief)
        return replace(found, votes=votes, model=self.model, params={**found.params, "stats": stats})

    def refit(self) -> Aggregate:
        """The answer of the model to all votes at once, from which the stream goes on."""
        votes, rule = self.votes(), self.tally.rule
        found = self.model.fit(votes)
        if isinstance(rule, Expected) and isinstance(self.model, EM):
            rule.adopt(found)
            params = rule.params(add([found.params["stats"], self.model.pseudo(votes)]))
            self.tally.recount(self.model.believe(votes.merged, params))
        return found

    # State -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold, from which `Stream.from_dict` goes on exactly."""
        half_life = self.tally.fading.half_life
        return {
            "version": VERSION,
            "model": str(self.model),
            "half_life": half_life if np.isfinite(half_life) else None,
            **{name: pack(getattr(self, name).names) for name in ("classes", "tasks", "workers")},
            "tally": pack(self.tally.state()),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The stream that `to_dict` has written down."""
        if data["version"] != VERSION:
            raise ValueError(f"the stream was written in form {data['version']}, expected {VERSION}")
        half_life = np.inf if data["half_life"] is None else data["half_life"]
        model = parse(data["model"], ONLINE)
        made = cls(model, unpack(data["classes"]), half_life=half_life)
        made._meet(unpack(data["tasks"]), unpack(data["workers"]))
        made.tally.resume(unpack(data["tally"]))
        return made


def pairs(task: Rows, worker: Rows) -> Rows:
    """One number for each task and worker."""
    return task.astype(np.int64) << 32 | worker


def last_of_each(task: Rows, worker: Rows) -> Rows:
    """The places of votes that no later vote of the same worker on the same task follows."""
    _, back = np.unique(pairs(task, worker)[::-1], return_index=True)
    return np.sort(len(task) - 1 - back)
