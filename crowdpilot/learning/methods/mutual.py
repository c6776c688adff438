"""Mutual teaching: crowd and classifier inform each other, and neither marks its own work."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.aggregation.models.dawid_skene import mean_log
from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.confusion_matrices import count_labels, hear
from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method, Sweep
from crowdpilot.learning.networks.ensemble import Ensemble
from crowdpilot.learning.vote_weight import find_heat, weigh_votes
from crowdpilot.votes import Votes

DEPENDENT = (
    0.6  # what votes on one task are worth, as their errors have common causes; by LabelMe's validation set
)
EVERY = 5  # epochs after which the weight of votes is found anew


class Mutual(Method):
    """EM between the crowd and networks that have not seen the votes they are asked about.

    The tasks are dealt to as many folds as there are networks; network *m* is trained on all tasks
    but those of fold *m*, and asked about those. Before each epoch the classes are worked out anew,

        q_i(k) ∝ p_m(i)(k | x_i) · exp(faith · sum_j E log confusion[j, k, vote_j]),

    then the confusion matrices: row *k* of each worker has a Dirichlet prior of `shared` imaginary
    votes, divided as the votes of the whole crowd on tasks of class *k*, so that confusions which
    all share are learned from all. In the epoch the networks are trained towards q. A network that
    is asked about its own training tasks would repeat the votes; held out, it corrects them.

    Deployed is the mean of the networks, its logits multiplied by the factor with which held-out
    predictions are honest about tasks on which two or more workers agree.

    Parameters
    ----------
    members
        How many networks.
    faith
        How much a vote counts beside the networks. If not given, it is found every few epochs from
        how well held-out votes are foreseen by the networks and by the other votes: a crowd that is
        better than the networks is believed more.
    shared
        Imaginary votes of each worker on each class.
    warmup
        Share of the epochs in which the networks are trained towards the shares of the votes.

    References
    ----------
    The parts are known: Raykar et al., JMLR 11, 2010 (EM with a classifier); Chernozhukov et al.,
    2018, https://arxiv.org/abs/1608.00060 (cross-fitting); Kim and Ghahramani, AISTATS 2012
    (mean-field confusion matrices); Lakshminarayanan et al., 2017, https://arxiv.org/abs/1612.01474
    (ensembles).
    """

    name = "mutual"
    aliases = ("cross_fitted_em",)
    of_tasks = ("target", "fold")
    heeds_gold = True

    net: Ensemble
    target: Tensor
    matrices: Tensor
    fold: Tensor
    heat: Tensor
    trust: Tensor

    def __init__(
        self,
        net: nn.Module,
        votes: Votes,
        *,
        members: int = 5,
        faith: float | None = None,
        shared: float = 20.0,
        warmup: float = 0.25,
    ) -> None:
        if members < 2:
            raise ValueError(f"members is {members}, expected 2 or more: each is asked what others learn")
        super().__init__(Ensemble(net, members), votes)
        self.votes, self.faith, self.shared, self.warmup = votes, faith, shared, warmup
        shares = votes.clamp(to_probs(votes.tally() + 0.1))
        self.register_buffer("target", torch.as_tensor(shares, dtype=torch.float32))
        self.register_buffer("fold", torch.randperm(len(votes.tasks)) % members)
        self.register_buffer("heat", torch.ones(()))
        self.register_buffer("trust", torch.tensor(DEPENDENT if faith is None else faith))
        self.register_buffer("matrices", torch.as_tensor(to_probs(self._counts()), dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.net(x) * self.heat
        return logits

    def begin(self, epoch: int, epochs: int, sweep: Sweep) -> None:
        if epoch == 0 or epoch < self.warmup * epochs:
            return
        logs, counts = sweep(self._asked).cpu().numpy().astype(np.float64), self._counts()
        self.heat.fill_(find_heat(self.votes, logs))
        if self.faith is None and (epoch - self.first(epochs)) % EVERY == 0:
            self.trust.fill_(DEPENDENT * weigh_votes(self.votes, logs, self._believed(), counts))
        joint = logs + float(self.trust) * hear(self.votes, mean_log(counts))
        self.target.copy_(torch.as_tensor(self.votes.clamp(softmax(joint))))
        self.matrices.copy_(torch.as_tensor(to_probs(counts)))

    def _asked(self, batch: Batch) -> Tensor:
        """What each task looks like to the network that has not seen its votes."""
        return self.net.one_of(batch.x, self.fold[batch.task]).log_softmax(dim=-1)

    def prior(self, batch: Batch) -> Tensor:
        return (self._asked(batch) * self.heat).log_softmax(dim=-1)

    def loss(self, batch: Batch) -> Tensor:
        fold, target = self.fold[batch.task], self.target[batch.task]
        costs = [
            self.towards(member(batch.x), target * (fold != n)[:, None])
            for n, member in enumerate(self.net.members)
        ]
        return torch.stack(costs).sum()

    def confusion(self) -> Tensor:
        return self.matrices

    def weigh(self, logs: Floats) -> float:
        return DEPENDENT * weigh_votes(self.votes, logs, self._believed(), self._counts())

    def first(self, epochs: int) -> int:
        return int(np.ceil(self.warmup * epochs))

    def _believed(self) -> Floats:
        believed: Floats = self.target.cpu().numpy().astype(np.float64)
        return believed

    def _counts(self) -> Floats:
        """Votes of each worker on each class, with the imaginary ones, (workers, true, said)."""
        said = count_labels(self.votes, self._believed())
        common = to_probs(said.sum(axis=0) + np.eye(self.classes) + 0.1)
        counts: Floats = said + self.shared * common
        return counts
