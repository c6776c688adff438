"""Mutual learning: cross-fitted EM between the confusion matrices of a crowd and an ensemble of networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.aggregation.models.dawid_skene import mean_log
from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.layers import Ensemble
from crowdpilot.learning.method import EvaluateAll, Method
from crowdpilot.learning.training.vote_weight import fit_inverse_temperature, fit_vote_weight
from crowdpilot.votes import Votes

DEPENDENT_VOTE_WEIGHT = 0.6  # of votes on one task, whose errors are dependent; by LabelMe's validation set
EPOCHS_BETWEEN_VOTE_WEIGHTS = 5  # epochs after which the vote weight is fitted again


class Mutual(Method):
    """EM between the crowd and networks that predict only tasks whose votes they have not seen.

    The tasks are assigned to as many folds as there are networks; network *m* is trained on all tasks
    but those of fold *m*, and predicts those (cross-fitting). Before each epoch, the E-step computes

        q_i(k) ∝ p_m(i)(k | x_i) · exp(vote_weight · Σ_j E log confusion[j, k, vote_j]),

    and the M-step the confusion matrices: row *k* of each worker has a Dirichlet prior with
    `pseudo_counts` votes in total, distributed as the votes of all workers on tasks of class *k*, so that
    common confusions are learned from all workers. In the epoch the networks are trained by
    cross-entropy towards q. A network that predicted its own training tasks would repeat their votes;
    held out, it corrects them.

    Deployed is the mean of the networks with temperature scaling: the inverse temperature is fitted on
    the held-out predictions of tasks on which two or more workers agree.

    Parameters
    ----------
    members
        How many networks.
    vote_weight
        The factor of the votes' log-likelihood beside the networks. If not given, it is fitted every few
        epochs by how well held-out votes are predicted by the networks and by the other votes: votes of
        a crowd that is better than the networks get more weight.
    pseudo_counts
        Pseudo-count of each row of each confusion matrix.
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
    task_buffers = ("target", "fold")
    uses_gold = True
    file_names: ClassVar[Mapping[str, str]] = {
        "target": "posterior", "fold": "fold", "matrices": "confusion",
        "inverse_temperature": "inverse_temperature", "current_vote_weight": "vote_weight",
    }  # fmt: skip

    net: Ensemble
    target: Tensor  # posterior of the tasks, (tasks, classes)
    matrices: Tensor  # (workers, true, said)
    fold: Tensor  # (tasks,)
    inverse_temperature: Tensor
    current_vote_weight: Tensor

    def __init__(
        self,
        net: nn.Module,
        votes: Votes,
        *,
        members: int = 5,
        vote_weight: float | None = None,
        pseudo_counts: float = 20.0,
        warmup: float = 0.25,
    ) -> None:
        if members < 2:
            raise ValueError(f"members is {members}, expected 2 or more: each predicts what others learn")
        super().__init__(Ensemble(net, members), votes)
        self.votes, self.vote_weight, self.pseudo_counts, self.warmup = (
            votes,
            vote_weight,
            pseudo_counts,
            warmup,
        )
        shares = votes.clamp(to_probs(votes.tally() + 0.1))
        weight = DEPENDENT_VOTE_WEIGHT if vote_weight is None else vote_weight
        self.register_buffer("target", torch.as_tensor(shares, dtype=torch.float32))
        self.register_buffer("fold", torch.randperm(len(votes.tasks)) % members)
        self.register_buffer("inverse_temperature", torch.ones(()))
        self.register_buffer("current_vote_weight", torch.tensor(weight))
        self.register_buffer("matrices", torch.as_tensor(to_probs(self._counts()), dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.net(x) * self.inverse_temperature
        return logits

    def before_epoch(self, epoch: int, epochs: int, evaluate_all: EvaluateAll) -> None:
        if epoch == 0 or epoch < self.warmup * epochs:
            return
        log_probs = evaluate_all(self._held_out_log_probs).cpu().numpy().astype(np.float64)
        counts = self._counts()
        self.inverse_temperature.fill_(fit_inverse_temperature(self.votes, log_probs))
        passed = epoch - self.first_selectable_epoch(epochs)
        if self.vote_weight is None and passed % EPOCHS_BETWEEN_VOTE_WEIGHTS == 0:
            self.current_vote_weight.fill_(self._fit_vote_weight(log_probs, counts))
        joint = log_probs + float(self.current_vote_weight) * votes_log_likelihood(
            self.votes, mean_log(counts)
        )
        self.target.copy_(torch.as_tensor(self.votes.clamp(softmax(joint))))
        self.matrices.copy_(torch.as_tensor(to_probs(counts)))

    def _held_out_log_probs(self, batch: Batch) -> Tensor:
        """Log-probabilities of each task by the network that has not seen its votes, (rows, classes)."""
        return self.net.one_of(batch.x, self.fold[batch.task]).log_softmax(dim=-1)

    def log_prior(self, batch: Batch) -> Tensor:
        return (self._held_out_log_probs(batch) * self.inverse_temperature).log_softmax(dim=-1)

    def loss(self, batch: Batch) -> Tensor:
        fold, target = self.fold[batch.task], self.target[batch.task]
        losses = [
            self.soft_cross_entropy(member(batch.x), target * (fold != n)[:, None])
            for n, member in enumerate(self.net.members)
        ]
        return torch.stack(losses).sum()

    def confusion(self) -> Tensor:
        return self.matrices

    def posterior_vote_weight(self, log_prior: Floats) -> float:
        return self._fit_vote_weight(log_prior, self._counts())

    def first_selectable_epoch(self, epochs: int) -> int:
        return int(np.ceil(self.warmup * epochs))

    def _fit_vote_weight(self, log_probs: Floats, counts: Floats) -> float:
        return DEPENDENT_VOTE_WEIGHT * fit_vote_weight(self.votes, log_probs, self._posterior(), counts)

    def _posterior(self) -> Floats:
        posterior: Floats = self.target.cpu().numpy().astype(np.float64)
        return posterior

    def _counts(self) -> Floats:
        """Expected counts of each worker's labels by class, with the pseudo-counts, (workers, true, said)."""
        counts = count_labels(self.votes, self._posterior())
        of_all_workers = to_probs(counts.sum(axis=0) + np.eye(self.classes) + 0.1)
        with_prior: Floats = counts + self.pseudo_counts * of_all_workers
        return with_prior
