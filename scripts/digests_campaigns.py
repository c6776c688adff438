"""The results of campaigns, audits, forecasts and learning, for `scripts.digests`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation import DawidSkene
from crowdpilot.datasets import open as open_data
from crowdpilot.hybrid import (
    FUSIONS,
    POLICIES,
    Audit,
    Campaign,
    Costs,
    DynamicProgram,
    LogisticRegression,
    Plan,
    Scenario,
    SimulatedVotes,
    best_worker_kind,
    expected_loss_after,
    expert_error_bound,
    find_fusion,
    inclusion_probability,
    look_ahead,
    pac_labels,
    plan_ahead,
    prevalence,
    screening_errors,
)
from crowdpilot.hybrid.audit.betting import upper_mean
from crowdpilot.hybrid.audit.expert_errors import disagreement_upper, loss_with_misses
from crowdpilot.hybrid.forecast import forecast, forecast_design
from crowdpilot.hybrid.replay import replay_scenario
from crowdpilot.learning import METHODS, SCORES, CrowdClassifier, Training, tune
from crowdpilot.learning.data.targets import TARGETS
from crowdpilot.learning.pruning.scoring import score_tasks
from crowdpilot.learning.self_training.pseudo_votes import SELECTIONS
from crowdpilot.simulation import IndependentConfusion, OneCoin, Simulation
from crowdpilot.votes import Votes

Results = Iterator[tuple[str, Any]]

# Registry names of the code, and the terms that are used for them in the keys.
STABLE = {
    "crowd": "votes_only",
    "wdn": "doctor_net",
}
COSTS = Costs.binary(fp=1, fn=5, crowd=0.02)


def stable(name: str) -> str:
    """The name by which the keys call an entry of a registry."""
    return STABLE.get(name, name)


# Campaigns -----------------------------------------------------------------------------------


def binary_crowd() -> Simulation:
    """Seven votes on each of 120 items of two classes."""
    skill = tuple(np.random.default_rng(0).beta(8, 3, 15))
    return OneCoin(
        skill=skill, workers=15, tasks=120, classes=2, votes_per_task=7, prior=(0.7, 0.3), seed=1
    ).run()


def classifier_probs(truth: Any, K: int) -> NDArray[Any]:
    """Probabilities of a classifier that is right more often than not."""
    rng = np.random.default_rng(2)
    return np.array([rng.dirichlet(0.6 + 2 * (np.arange(K) == k)) for k in truth])


def contents(truth: Any, K: int, noise: float = 0.6) -> NDArray[Any]:
    """Five features of each item, which tell something of its class."""
    rng = np.random.default_rng(3)
    return np.asarray(rng.normal(0, 1, (K, 5))[truth] + rng.normal(0, noise, (len(truth), 5)))


def scenarios() -> dict[str, tuple[Scenario, Costs]]:
    """Recorded votes without and with a classifier, one that learns, three classes, and two criteria."""
    two = binary_crowd()
    three = IndependentConfusion(tasks=90, workers=15, classes=3, votes_per_task=6, seed=2).run()
    plain = Scenario(two.votes.tasks, two.votes.classes, two.truth, {"": two.votes})
    second = OneCoin(skill=(0.8,) * 10, workers=10, tasks=120, classes=2, votes_per_task=5, seed=4).run()
    both, rows = {"first": two.votes, "second": second.votes}, contents(two.truth, 2)
    return {
        "votes": (plain, COSTS),
        "classifier": (replace(plain, classifier_probs=classifier_probs(two.truth, 2)), COSTS),
        "learned_classifier": (replace(plain, features=rows, classifier=LogisticRegression()), COSTS),
        "two_classifiers": (
            replace(plain, features=rows, classifier=[LogisticRegression(50), LogisticRegression(0.1)]),
            COSTS,
        ),
        "three_classes": (
            Scenario(three.votes.tasks, three.votes.classes, three.truth, {"": three.votes}),
            Costs.equal(3, crowd=0.03),
        ),
        "criteria": (replace(plain, truth=two.truth & second.truth, votes=both), COSTS),
    }


def replayed(key: str, scenario: Scenario, costs: Costs, **plan: Any) -> Results:
    """The curves of a campaign on recorded votes and its last decisions, or that it is refused."""
    last: list[Campaign] = []
    try:
        found = replay_scenario(scenario, costs, Plan(seed=1, **plan), batch_size=10, callback=last.append)
    except ValueError:
        yield f"{key}/refused", True
        return
    yield f"{key}/curves", [found.votes, found.spent, found.loss, found.error, found.expected]
    yield f"{key}/decisions", last[-1].decide()


def policies() -> Results:
    """Every policy on every scenario, every fusion rule, and the other settings of a plan."""
    known = scenarios()
    for policy in POLICIES:
        for name, (scenario, costs) in known.items():
            yield from replayed(f"policy/{stable(policy)}/{name}", scenario, costs, policy=policy, pilot=20)
    for fusion in FUSIONS:
        scenario, costs = known["classifier"]
        yield from replayed(f"fusion/{stable(fusion)}/replay", scenario, costs, fusion=fusion, pilot=10)
        yield f"fusion/{stable(fusion)}/probs", fused(fusion)
    settings: dict[str, dict[str, Any]] = {
        "aggregated": {"policy": "fixed[votes=4,strategy='dawid_skene']"},
        "at_once": {"policy": "value[plans=False,ahead=3]"},
        "calibrated": {"map": "platt", "pilot": 15},
        "explore": {"explore": 0.3, "per_item": 4, "pilot": 10, "pilot_votes": 2},
        "online": {"online": True, "refit_every": 30, "refit_growth": 0.1},
    }
    for name, plan in settings.items():
        yield from replayed(f"policy/settings/{name}", *known["classifier"], **plan)
    scenario, costs = known["votes"]
    crowd = SimulatedVotes(scenario.items, scenario.classes, scenario.truth, binary_crowd().confusion, seed=3)
    found = replay_scenario(scenario, costs, Plan(policy="first_agree[votes=2]"), source=crowd)
    yield "policy/simulated_crowd", [found.votes, found.loss, found.expected]


def fused(fusion: str) -> Any:
    """The posterior probabilities that a fusion rule gives, and the weight of a vote in it."""
    rng = np.random.default_rng(4)
    probs, prior = rng.dirichlet([0.5, 1, 2], 40), np.array([0.2, 0.3, 0.5])
    log_likelihood = np.log(rng.dirichlet([1, 1, 1], 40)) * (np.arange(40) % 4 > 0)[:, None]
    rule = find_fusion(fusion)
    return [rule(probs, log_likelihood, prior), rule.crowd_weight]


def campaigns() -> Results:
    """A campaign in which all happens that can, saved and restored in the middle."""
    crowd = binary_crowd()
    votes, names = crowd.votes, [f"item {n}" for n in range(120)]
    costs = Costs.binary(fp=1, fn=4, classifier=0.001, budget=12, crowd=0.02, expert=0.2)
    probs, gold = classifier_probs(crowd.truth, 2), {names[n]: "ny"[crowd.truth[n]] for n in range(0, 60, 6)}
    plan = Plan(pilot=15, refit_every=25, gold=0.1, explore=0.1, per_worker=60, seed=5)
    campaign = Campaign(names[:80], list("ny"), costs, plan=plan, classifier_probs=probs[:80], gold=gold)
    campaign.register_worker("expert", "expert")
    said = {
        (names[t], f"w{w}"): "ny"[v] for t, w, v in zip(votes.task, votes.worker, votes.label, strict=True)
    }
    yield from worked("campaign/first", campaign, said)
    campaign.add(names[80:], classifier_probs=probs[80:])
    campaign.withdraw(names[3:9])
    campaign.reveal({names[10]: "y"})
    campaign.close()
    copy = Campaign.from_dict(json.loads(json.dumps(campaign.to_dict())))
    yield from worked("campaign/restored", copy, said)
    yield from worked("campaign/not_interrupted", campaign, said)
    yield "campaign/forgotten", copy.drop_closed()
    yield "campaign/end", [copy.decide(), copy.status()]
    campaign.refit()
    other = Campaign.from_dict(campaign.to_dict())
    other.apply_model_update(json.loads(json.dumps(campaign.model_update())))
    yield "campaign/learned_elsewhere", [other.posterior(), campaign.posterior()]


def worked(key: str, campaign: Campaign, said: dict[tuple[str, str], str]) -> Results:
    """Workers who are asked, answer what they have an answer to, and give the rest back."""
    asked: list[Any] = []
    for turn in range(3):
        for worker in [f"w{n}" for n in range(15)]:
            asks = campaign.ask(worker, 6)
            asked += [ask.item for ask in asks]
            answers = [
                (ask.item, worker, said[ask.item, worker]) for ask in asks if (ask.item, worker) in said
            ]
            campaign.tell(answers)
            campaign.release(worker)
            if answers and turn == 1:
                campaign.retract([ask for ask in asks if ask.item == answers[0][0]], worker)
                campaign.tell(answers[:1])
        asks = campaign.ask("expert", 4)
        asked += [ask.item for ask in asks]
        campaign.tell([(ask.item, "expert", "y") for ask in asks])
    yield f"{key}/asked", np.array(asked, object)
    yield f"{key}/decisions", campaign.decide()
    yield f"{key}/status", campaign.status()


def criteria() -> Results:
    """A campaign with two criteria that is saved and restored, with a learning classifier for each item."""
    crowd, names = binary_crowd(), ["first", "second"]
    rows, plan = contents(crowd.truth, 2), Plan(pilot=20, refit_every=40, seed=2)
    campaign = Campaign(
        range(120), [0, 1], COSTS, plan=plan, criteria=names, features=rows, classifier=LogisticRegression()
    )
    votes = crowd.votes
    triples = np.stack([votes.task, votes.worker, votes.label], axis=1).tolist()
    for criterion, part in zip(names, (triples[:500], triples[300:]), strict=True):
        campaign.tell([(*vote, criterion) for vote in part])
    yield "campaign/criteria/decisions", campaign.decide()
    data = json.loads(json.dumps(campaign.to_dict()))
    copy = Campaign.from_dict(data, features=rows, classifier=LogisticRegression())
    asks = copy.ask("new worker", 12)
    yield "campaign/criteria/asked", np.array([f"{ask.item} {ask.criterion}" for ask in asks])
    copy.refit()
    yield "campaign/criteria/refitted", copy.decide()
    rng = np.random.default_rng(5)
    holds, item = rng.beta(0.7, 0.4, 60), rng.integers(25, size=60)
    yield "screening/all_hold", inclusion_probability(holds, item, 25)
    yield "screening/errors", screening_errors(holds, item, [[0, 1], [5, 0]])


def values() -> Results:
    """The value of votes, and the dynamic program that is exact for identical workers."""
    for K, horizon in ((2, 15), (3, 8)):
        rng = np.random.default_rng(K)
        probs, errors = rng.dirichlet(np.full(K, 0.5), 30), rng.random((K, K)) * (1 - np.eye(K))
        said = 0.6 * np.eye(K) + 0.4 / K
        expert = 0.9 * np.eye(K) + 0.1 / K
        key = f"value/{K}_classes"
        yield f"{key}/look_ahead", [look_ahead(probs, said, errors, ahead=n) for n in (1, 3, 5)]
        yield f"{key}/plan_ahead", [plan_ahead(probs, said, errors, ahead=n) for n in (1, 4, None)]
        yield f"{key}/expected_after", [expected_loss_after(probs, said, errors, n) for n in (1, 4)]
        costs = Costs(errors, {"crowd": 0.02, "expert": 0.1})
        yield f"{key}/best_kind", best_worker_kind(probs, {"crowd": said, "expert": expert}, costs)
        yield f"{key}/costs", [costs.decide(probs), costs.expected(probs)]
        program = DynamicProgram(said, errors, price=0.01, horizon=horizon)
        yield f"dynamic_program/{K}_classes/solve", program.solve(probs)
        rule = program.evaluate(probs, lambda posterior: posterior.max(axis=1) < 0.9)
        yield f"dynamic_program/{K}_classes/follow", rule
    rows, targets = contents(binary_crowd().truth, 2), classifier_probs(binary_crowd().truth, 2)
    yield "logistic", LogisticRegression(strength=0.5).fit(rows, targets).predict_proba(rows)


def forecasts() -> Results:
    """Forecasts of a running campaign and of a design."""
    crowd = binary_crowd()
    campaign = Campaign(range(120), crowd.votes.classes, COSTS, plan=Plan(seed=1))
    campaign.tell(crowd.votes.take(crowd.votes.task < 40), refit=True)
    known = dict(enumerate(crowd.truth[:30].tolist()))
    found = {
        "campaign": forecast(campaign, runs=4, seed=0),
        "gold": forecast(campaign, gold=known, max_votes_per_item=5, runs=4, seed=1),
        "design": forecast_design(60, COSTS, prevalence=[0.7, 0.3], runs=4, seed=2),
        "design_classifier": forecast_design(
            60, Costs.equal(3, crowd=0.03), classifier_accuracy=0.9, runs=3, seed=3
        ),
    }
    for name, future in found.items():
        yield f"forecast/{name}/curves", future
        yield f"forecast/{name}/bands", [future.band(), future.band("error"), future.at(0.05)]
        yield f"forecast/{name}/ends", [future.end(kind) for kind in ("loss", "error", "votes", "spent")]
        yield f"forecast/{name}/cost_of", [future.cost_of(error=0.1), future.cost_of(loss=0.2)]


# Audits --------------------------------------------------------------------------------------


def audits() -> Results:
    """The items that an audit draws, and its bounds; other bounds from labels of experts."""
    rng = np.random.default_rng(0)
    positive = rng.beta(0.15, 0.3, 500)
    truth, probs = (rng.random(500) < positive).astype(int), np.stack([1 - positive, positive], axis=1)
    decided, loss = COSTS.decide(probs), COSTS.expected(probs)
    yield from audited("audit/probs", Audit(COSTS, decided, probs, planned=80, seed=1), truth)
    yield from audited("audit/expected_costs", Audit(COSTS, decided, loss, level=0.9, seed=2), truth)
    wrong = [np.where(rng.random(500) < 0.04, 1 - truth, truth) for _ in range(2)]
    audit = Audit(COSTS, decided, probs, seed=3, experts_err=True)
    yield from audited("audit/experts_err", audit, *wrong)
    sample, right = rng.permutation(500)[:150], (positive > 0.5) == truth
    sure = np.maximum(positive, 1 - positive)
    for epsilon in (0.05, 0.2):
        yield f"audit/pac_labels/{epsilon}", pac_labels(sure, sample, right[sample], epsilon=epsilon)
    yield "audit/prevalence", prevalence(probs, sample, truth[sample])
    values = rng.random(60) * (rng.random(60) < 0.3)
    yield "audit/betting", [upper_mean(values[:n], 400, level=0.95) for n in (5, 30, 60)]
    counts = [(20, 0), (60, 2), (100, 9)]
    yield "audit/experts/disagreement", [disagreement_upper(*pair, 0.05) for pair in counts]
    yield "audit/experts/error", [expert_error_bound(*pair, level=0.95) for pair in counts]
    yield "audit/experts/misses", [loss_with_misses(20, 5, error, 0.05) for error in (0.01, 0.1)]


def audited(key: str, audit: Audit, first: NDArray[Any], second: NDArray[Any] | None = None) -> Results:
    """Draws and bounds of an audit that is put aside in the middle."""
    drawn: list[int] = []
    bounds: list[Any] = []
    for turn in range(8):
        items = audit.draw(10)
        audit.add_answers(items[::-1], first[items[::-1]])
        if second is not None:
            again = audit.draw_second(6)
            audit.add_second_answers(again, second[again])
        drawn += items
        bounds += [audit.bound(), audit.estimate()]
        if turn == 3:
            audit = Audit.from_dict(json.loads(json.dumps(audit.to_dict())))
    yield f"{key}/draws", drawn
    yield f"{key}/bounds", bounds


def campaign_results() -> Results:
    """All results about decisions."""
    for section in (policies, campaigns, criteria, values, forecasts, audits):
        yield from section()


# Learning ------------------------------------------------------------------------------------


def single(values: Any) -> NDArray[Any]:
    """Numbers of single precision, with five decimals."""
    return np.round(np.asarray(values, np.float64), 5)


def learner(method: str = "mutual", network: str = "mlp[hidden=8]", **options: Any) -> CrowdClassifier:
    """A small classifier that learns for a few epochs."""
    settings: dict[str, Any] = {"epochs": 4, "lr": 0.01, "device": "cpu"} | options
    return CrowdClassifier(network, method, **settings)


def learned(key: str, model: CrowdClassifier, X: Any, votes: Votes, **options: Any) -> Results:
    """What a classifier says after learning."""
    model.fit(X, votes, **options)
    yield f"{key}/predictions", single(model.predict_proba(X))
    yield f"{key}/posterior", single(model.posterior_)
    yield f"{key}/history", single([epoch["loss"] for epoch in model.history_])
    try:
        yield f"{key}/confusion", single(model.method_.confusion().detach().cpu())
    except ValueError:
        yield f"{key}/no_confusion", True


def learning_methods() -> Results:
    """Every method, every target, self-training, pruning, calibration and classes of unequal size."""
    crowd = OneCoin(
        skill=(0.9, 0.8, 0.6, 0.5) * 3, workers=12, tasks=120, classes=3, votes_per_task=3, seed=1
    ).run()
    X, votes = contents(crowd.truth, 3), crowd.votes
    for method in METHODS:
        yield from learned(f"learning/{stable(method)}", learner(method), X, votes)
    result = DawidSkene().fit(votes)
    for name, target in TARGETS.items():
        method = f"two_stage[labels='dawid_skene',targets='{name}']"
        yield f"learning/targets/{stable(name)}", target(result)
        yield from learned(f"learning/two_stage/{stable(name)}", learner(method), X, votes)
    for choice in SELECTIONS:
        model = learner("crowdlayer", self_training=f"{choice}[rounds=2,add=60]")
        yield from learned(f"learning/self_training/{stable(choice)}", model, X, votes, truth=crowd.truth)
        rounds = [[r.pseudo_votes, *r[1:6], single(list(r.scores.values()))] for r in model.rounds_]
        yield f"learning/self_training/{stable(choice)}/rounds", rounds
    for name in SCORES:
        scores = score_tasks(X, votes, name, network="linear", training=Training(epochs=3), device="cpu")
        yield f"learning/task_scores/{stable(name)}", single(scores)
        model = learner("conal", prune=f"{name}[alpha=.1]")
        yield from learned(f"learning/pruned/{stable(name)}", model, X, votes)
        yield f"learning/pruned/{stable(name)}/tasks", model.pruned_
    yield from learning_settings(X, votes, crowd.truth)


def learning_settings(X: NDArray[Any], votes: Votes, truth: NDArray[Any]) -> Results:
    """Other settings of a classifier, and one that is saved and loaded."""
    for balance in ("resample", "reweight", "focal", "cb_focal"):
        yield from learned(f"learning/balance/{balance}", learner("two_stage", balance=balance), X, votes)
    for by in ("posterior", "votes", "one_vote"):
        model = learner("two_stage", "linear", calibrate="temperature", calibrate_by=by)
        yield from learned(f"learning/calibrated/{by}", model, X, votes)
    slow = learner("raykar", optimizer="sgd", schedule="cosine", patience=2)
    yield from learned("learning/validated", slow, X, votes, validation=(X[:40], truth[:40]))
    with TemporaryDirectory() as folder:
        slow.save(path := Path(folder) / "model.safetensors")
        yield "learning/loaded", single(CrowdClassifier.load(path, device="cpu").predict_proba(X))
    grid: dict[str, list[Any]] = {"lr": [0.01, 0.001], "batch_size": [16, 64]}
    found = tune(learner("two_stage", "linear"), grid, X, votes, (X[:40], truth[:40]))
    yield "learning/tuned", single([[trial["log_loss"], trial["accuracy"]] for trial in found.tried])


def learning_contents() -> Results:
    """Texts and images."""
    texts, digits = open_data("texts"), open_data("digits")
    for name, backbone in (("hashed", None), ("tfidf", "tfidf[ngrams=1]")):
        model = learner("two_stage", "linear", backbone=backbone)
        yield from learned(f"learning/texts/{name}", model, list(texts.texts or ()), texts.votes)
    model = learner("two_stage", "resnet_small[width=4,blocks=1,stages=2]", epochs=1)
    yield from learned("learning/images/resnet_small", model, digits.images, digits.votes)


def learning_results() -> Results:
    """All results about learning."""
    yield from learning_methods()
    yield from learning_contents()
