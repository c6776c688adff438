"""View of a campaign: its items, workers, votes, estimates and money for others to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.hybrid.campaign.estimates import Estimates, ItemTable, WorkerTable
from crowdpilot.hybrid.campaign.estimation.contributions import Contribution, find_contributions
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.campaign.input_checks import criterion_code
from crowdpilot.hybrid.campaign.parts import Parts
from crowdpilot.hybrid.campaign.workers import Cell
from crowdpilot.votes import Votes


class CampaignView:
    """What may be read of a campaign; nothing here changes it.

    Parameters
    ----------
    parts
        Of the campaign.
    criteria
        Names of the questions.
    """

    def __init__(self, parts: Parts, criteria: Sequence[str]) -> None:
        self._parts, self._criteria = parts, criteria

    @property
    def item_names(self) -> list[Any]:
        """Names of all items that were not dropped, in the order in which they were added."""
        return list(self._parts.items.names)

    def item_rows(self, names: Iterable[Any]) -> NDArray[np.intp]:
        """The rows of these items in `item_names`; ValueError if there is no such item."""
        return self._parts.items.rows(names)

    def items(self) -> ItemTable:
        """The state of every item."""
        items, questions = self._parts.items, self._parts.questions
        return ItemTable(
            names=list(items.names),
            open=items.open,
            withdrawn=items.withdrawn.copy(),
            pilot=items.pilot.copy(),
            stopped=items.stopped.copy(),
            final=items.closed.copy(),
            done=self._parts.values.done,
            gold=np.stack([question.gold for question in questions], axis=1),
            override=items.override.copy(),
            votes=np.stack([question.tally.sum(axis=1) for question in questions], axis=1),
            votes_wanted=items.votes_wanted.copy(),
        )

    def workers(self) -> WorkerTable:
        """All workers, their kinds, and what each was asked."""
        workers = self._parts.workers
        asked = [(w, row, q) for w, cells in enumerate(workers.asked) for q, row in cells]
        return WorkerTable(
            names=list(workers.names),
            kind=np.asarray(workers.kind, np.intp),
            kinds=list(workers.kinds),
            votes_by_kind=list(workers.votes_by_kind),
            asked=np.array(asked, np.intp).reshape(-1, 3),
        )

    def kind_of(self, worker: Any) -> str:
        """The kind of a worker, by name."""
        workers = self._parts.workers
        return workers.kinds[workers.kind[workers.number_of[worker]]]

    def votes(self, criterion: str = "") -> Votes:
        """All votes on one question, with known classes; tasks are rows of items, all else is by number."""
        return self._question(criterion).votes()

    def estimates(self, criterion: str = "") -> Estimates:
        """Posterior, confusion matrices and classifier probabilities of one question."""
        question = self._question(criterion)
        posteriors = question.posteriors
        return Estimates(
            posterior=question.posterior,
            log_likelihood=posteriors.log_likelihood,
            expert_log_likelihood=posteriors.expert_log_likelihood,
            class_prior=question.class_prior,
            log_confusion=question.matrices.all(),
            classifier_probs=question.classifier_probs,
            calibrated_probs=posteriors.calibrated_probs(np.arange(len(question.gold))),
            kind_pseudo_counts=question.kind_pseudo_counts,
            worker_kind=question.worker_kind,
            dropped_counts=question.matrices.dropped_counts,
            dropped_classes=question.dropped_classes,
            fusion=posteriors.fusion,
            crowd_errors=posteriors.crowd_errors,
            experts=posteriors.experts,
            learned_from_votes=posteriors.learned_from_votes,
        )

    def contributions(self, item: Any, criterion: str = "") -> list[Contribution]:
        """What prior, classifier and each vote add to the log posterior of an item, as if it were unknown.

        There are none where the policy does not decide by that posterior: see `decision_rule`.
        """
        row = self._parts.items.row(item)
        return [] if self.decision_rule else find_contributions(self._question(criterion), row)

    def vote_values(self) -> Floats:
        """Acquisition value of a vote of the first kind of worker on each question, (items, questions)."""
        return self._parts.values.values[:, 0].copy()

    @property
    def decision_rule(self) -> str:
        """How the policy decides where it has a rule of its own, in words; empty if by the posterior."""
        return self._parts.values.policy.decision_rule

    def _question(self, criterion: str) -> Question:
        return self._parts.questions[criterion_code(criterion, self._criteria)]

    @property
    def vote_count(self) -> int:
        """Votes on all questions about items that were not dropped."""
        return sum(len(question.vote_log) for question in self._parts.questions)

    @property
    def votes_by_kind(self) -> list[int]:
        """The number of votes of each kind of worker, also about items that were dropped."""
        return list(self._parts.workers.votes_by_kind)

    @property
    def workers_with_votes(self) -> int:
        """Workers who have a confusion matrix of their own, by the question with the most."""
        return max(len(question.matrices.with_votes) for question in self._parts.questions)

    @property
    def trains_classifier(self) -> bool:
        """Whether a classifier is fitted to the votes here."""
        return self._parts.classifier is not None

    @property
    def is_classified(self) -> bool:
        """Whether every question has class probabilities of a classifier."""
        return all(question.classifier_probs is not None for question in self._parts.questions)

    @property
    def is_finished(self) -> bool:
        """Whether there are open items, and all of them are done."""
        open_ = self._parts.items.open
        return bool(open_.any() and self._parts.values.done[open_].all())

    @property
    def pilot_left(self) -> int:
        """Items that the pilot still takes from those that are added next."""
        return self._parts.items.pilot_left

    @property
    def has_open_leases(self) -> bool:
        """Whether any vote is pending."""
        return bool(self._parts.ledger.leases)

    def asked_count(self, worker: Any) -> int:
        """How many votes are leased to a worker or given by them."""
        who = self._parts.workers.number_of.get(worker)
        return 0 if who is None else self._parts.workers.asked_count[who]

    def waits_for_others(self, worker: Any) -> bool:
        """Whether somebody else holds a lease of a vote that this worker could give if it were returned."""
        asked, own = self._asked(worker)
        gold = [question.gold for question in self._parts.questions]
        return any(
            who != own and (q, row) not in asked and gold[q][row] < 0
            for q, row, who in self._parts.ledger.leases
        )

    def has_unasked(self, worker: Any, per_item: int | None = None) -> bool:
        """Whether an open item of unknown class has a question that this worker was not asked.

        With `per_item` those with so many votes do not count.
        """
        items, questions = self._parts.items, self._parts.questions
        known = np.stack([question.gold >= 0 for question in questions], axis=1)
        free = items.open[:, None] & ~items.stopped & ~known
        if per_item is not None:
            free &= np.stack([question.tally.sum(axis=1) for question in questions], axis=1) < per_item
        asked, _ = self._asked(worker)
        for q, row in asked:
            free[row, q] = False
        return bool(free.any())

    def _asked(self, worker: Any) -> tuple[set[Cell], int | None]:
        """What a worker was asked, and their number; nothing and None if they never were."""
        who = self._parts.workers.number_of.get(worker)
        return (set(), None) if who is None else (self._parts.workers.asked[who], who)

    def is_leased(self, ask: Ask, worker: Any) -> bool:
        """Whether a worker holds a lease of this vote."""
        return self._parts.leases.is_leased(self._cell(ask), worker)

    def has_answered(self, ask: Ask, worker: Any) -> bool:
        """Whether a worker has voted on this, or said that they cannot tell."""
        return self._parts.leases.has_answered(self._cell(ask), worker)

    def _cell(self, ask: Ask) -> Cell:
        return criterion_code(ask.criterion, self._criteria), self._parts.items.row(ask.item)

    @property
    def votes_since_refit(self) -> int:
        """Votes that have arrived since confusion matrices and classifier were fitted."""
        return self._parts.leases.votes_since_refit

    @property
    def requests(self) -> int:
        """Requests for votes served so far, which number the streams of random draws."""
        return self._parts.leases.requests

    @property
    def spent(self) -> float:
        """Money spent so far."""
        return self._parts.ledger.spent

    @property
    def budget_left(self) -> float:
        """Money that is neither spent nor reserved."""
        return self._parts.ledger.left

    @property
    def worker_names(self) -> list[Any]:
        """Names of all workers in the order in which they came; None is a worker without a name."""
        return list(self._parts.workers.names)

    def all_were_asked(self, rows: NDArray[np.intp]) -> bool:
        """Whether every worker with a name was asked all about the items in these rows; False without any."""
        workers, questions = self._parts.workers, range(len(self._parts.questions))
        asked = [cells for name, cells in zip(workers.names, workers.asked, strict=True) if name is not None]
        if not asked or not len(rows) or min(map(len, asked)) < len(rows) * len(questions):
            return False  # no need to look at single votes, which may be many
        wanted = [(q, row) for q in questions for row in rows.tolist()]
        return all(cell in cells for cells in asked for cell in wanted)
