from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowdpilot.hybrid import Ask, Campaign, Costs, LogisticRegression, Plan, SimulatedVotes
from crowdpilot.votes import Votes

ITEMS = [f"item {n}" for n in range(30)]
CLASSES = ["no", "yes"]
COSTS = Costs.binary(fp=1, fn=1, crowd=0.02, expert=0.2)
EVERYTHING = Plan(policy="fixed[votes=3]", refit_every=0)  # asks for three votes on each item


def campaign(items=ITEMS, costs=COSTS, plan=EVERYTHING, **more):
    return Campaign(items, CLASSES, costs, plan=plan, **more)


def same_votes(worker, items, label="yes"):
    return [(item, worker, label) for item in items]


# What is asked ------------------------------------------------------------------------------


def test_one_worker_is_asked_about_every_item_once_and_then_no_more():
    c = campaign()
    asked = [ask.item for _ in range(10) for ask in c.ask("ann", 7)]
    assert sorted(asked) == sorted(ITEMS)


def test_an_answered_question_is_not_asked_again_of_the_same_worker():
    c = campaign(items=["a"])
    c.tell(same_votes("ann", ["a"]))
    assert c.ask("ann", 5) == []
    assert c.ask("bob", 5) == [Ask("a")]


def test_a_lease_counts_until_the_vote_arrives_or_it_is_released():
    c = campaign(items=["a"], plan=Plan(policy="fixed[votes=1]"))
    assert c.ask("ann") == [Ask("a")]
    assert c.ask("bob") == []
    c.release("ann")
    assert c._parts.ledger.reserved == 0
    assert c.ask("bob") == [Ask("a")]


def test_a_late_vote_of_a_worker_who_left_is_paid():
    c = campaign(items=["a"])
    c.ask("ann")
    c.release("ann")
    c.release("nobody ever came by this name")
    c.tell(same_votes("ann", ["a"]))
    assert c.status().votes == {"crowd": 1, "expert": 0}
    assert c.status().spent == 0.02
    assert c.ask("ann") == []


def test_leases_to_anyone_can_be_released():
    c = campaign(items=["a"], plan=Plan(policy="fixed[votes=1]"))
    c.tell([])
    assert len(c.ask(None, 5)) == 1
    c.release()
    assert c.status().reserved == 0
    assert c.ask("ann", 5) == [Ask("a")]


def test_any_worker_may_answer_a_lease_to_anyone():
    c = campaign(items=["a", "b"])
    asks = c.ask(None, 2)
    c.tell([(ask.item, "ann", "yes") for ask in asks])
    assert c.status().reserved == 0
    assert c.status().spent == pytest.approx(0.04)


def test_votes_without_a_name_may_come_more_than_once():
    c = campaign(items=["a"])
    c.tell([("a", None, "yes"), ("a", None, "yes"), ("a", float("nan"), "yes")])
    assert c.decide().votes.tolist() == [3]
    assert c.status().workers == 0


@pytest.mark.parametrize("limit", [0, 1, 4])
def test_a_worker_gives_no_more_votes_than_the_plan_allows(limit):
    c = campaign(plan=Plan(policy="fixed[votes=3]", per_worker=limit))
    first = c.ask("ann", 3)
    c.tell([(ask.item, "ann", "yes") for ask in first])
    c.close([ask.item for ask in first])
    c.drop_closed()  # dropped items still count against the limit
    assert len(first) + len(c.ask("ann", 100)) == limit
    assert len(c.ask("bob", 100)) == limit


def test_released_leases_do_not_count_against_the_limit():
    c = campaign(plan=Plan(policy="fixed[votes=3]", per_worker=2))
    c.ask("ann", 2)
    c.release("ann")
    assert len(c.ask("ann", 5)) == 2


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_an_item_gets_no_more_votes_than_the_plan_allows(share):
    c = campaign(plan=Plan(policy="fixed[votes=9]", per_item=2, explore=share))
    for worker in range(5):
        c.tell([(ask.item, worker, "yes") for ask in c.ask(worker, 30)], refit=False)
    assert c.decide().votes.max() == 2


def test_nothing_is_asked_beyond_the_budget():
    c = campaign(costs=Costs.binary(crowd=0.02, budget=0.1))
    assert len(c.ask("ann", 3)) == 3
    assert len(c.ask("bob", 3)) == 2
    assert c.ask("cat", 3) == []
    c.release("ann")
    assert len(c.ask("cat", 10)) == 3


def test_a_vote_beyond_the_budget_is_unpaid():
    c = campaign(costs=Costs.binary(crowd=0.02, budget=0.03))
    c.tell(same_votes("ann", ITEMS[:3]))
    now = c.status()
    assert (now.spent, now.unpaid, now.votes) == (0.02, 2, {"crowd": 3})


def test_the_classifier_is_paid_for_each_item_and_refused_beyond_the_budget():
    costs = Costs.binary(crowd=0.02, classifier=0.01, budget=0.05)
    c = campaign(ITEMS[:4], costs, classifier_probs=np.full((4, 2), 0.5))
    assert c.status().spent == pytest.approx(0.04)
    with pytest.raises(ValueError, match="the budget does not pay for the classifier to look at 2 items"):
        c.add(["x", "y"], classifier_probs=np.full((2, 2), 0.5))
    assert len(c.decide()) == 4
    c.add(["x", "y"])  # these are not classified


def test_known_items_are_asked_only_to_test_workers():
    gold = dict.fromkeys(ITEMS[:10], "yes")
    c = campaign(gold=gold)
    assert not {ask.item for ask in c.ask("ann", 30)} & gold.keys()
    tested = campaign(gold=gold, plan=Plan(policy="fixed[votes=3]", gold=0.5))
    share = np.mean([ask.item in gold for ask in tested.ask("ann", 15)])
    assert 0.2 < share < 0.8


def test_known_items_are_decided_as_known_and_tell_who_is_good():
    gold = dict.fromkeys(ITEMS[:10], "yes")
    c = campaign(gold=gold)
    c.tell([*same_votes("ann", ITEMS[:10], "yes"), *same_votes("bob", ITEMS[:10], "no")], refit=True)
    assert set(c.decide().labels[:10]) == {"yes"}
    c.tell([("item 20", "ann", "yes"), ("item 20", "bob", "no")], refit=False)
    assert c._parts.questions[0].posterior[20, 1] > 0.9


def test_nothing_is_asked_where_no_more_votes_can_be_had():
    c = campaign(items=["a", "b"])
    c.stop([Ask("a")])
    assert c.ask("ann", 5) == [Ask("b")]


def test_the_next_vote_is_worth_more_than_its_price_or_is_not_asked_for():
    plan = Plan(pilot=0)
    machine = np.array([[0.5, 0.5], [0.999, 0.001]])
    asked = campaign(["open", "sure"], plan=plan, classifier_probs=machine).ask("ann", 2)
    assert [ask.item for ask in asked] == ["open"]
    dear = Costs.binary(crowd=0.9)
    assert campaign(["open", "sure"], dear, plan, classifier_probs=machine).ask("ann", 2) == []


def test_a_worker_whose_votes_are_worth_less_than_their_price_is_not_asked():
    gold = {item: CLASSES[n % 2] for n, item in enumerate(ITEMS[:20])}
    c = campaign(costs=Costs.binary(crowd=0.2), plan=Plan(pilot=0, refit_every=0), gold=gold)
    c.tell([(item, "ann", CLASSES[n % 2]) for n, item in enumerate(ITEMS[:20])])
    c.tell([(item, "bob", CLASSES[n // 2 % 2]) for n, item in enumerate(ITEMS[:20])], refit=True)  # a coin
    assert len(c.ask("ann", 5)) == 5
    c.release("ann")
    assert c.ask("bob", 5) == []


# Kinds of workers ---------------------------------------------------------------------------


def test_unasked_votes_of_experts_count_and_are_paid_as_those_of_experts():
    c = campaign(items=["a", "b"])
    c.register_worker("eve", "expert")
    c.tell([("a", "eve", "yes"), ("b", "ann", "yes")])
    assert c.status().votes == {"crowd": 1, "expert": 1}
    assert c.status().spent == pytest.approx(0.22)
    a, b = c._parts.questions[0].posterior[:, 1]
    assert a > b > 0.5


def test_a_worker_keeps_their_kind():
    c = campaign()
    c.ask("eve", 1, kind="expert")
    c.ask("eve", 1)
    with pytest.raises(ValueError, match="worker 'eve' is of the kind 'expert', not 'crowd'"):
        c.register_worker("eve", "crowd")
    with pytest.raises(ValueError, match="no price for the kind of worker 'robot'"):
        c.ask("bob", 1, kind="robot")


def test_experts_are_asked_where_a_single_vote_must_not_err():
    costs = Costs.binary(fp=5, fn=5, crowd=0.09, expert=0.1)
    c = campaign(costs=costs, plan=Plan(pilot=0, skill={"crowd": 0.6, "expert": 0.99}))
    c.register_worker("eve", "expert")
    assert c.ask("ann", 3) == []
    assert len(c.ask("eve", 3, kind="expert")) == 3


def test_what_cannot_be_a_name_is_refused():
    with pytest.raises(ValueError, match="cannot be the name of a worker"):
        campaign().ask(["ann"])


# What is told -------------------------------------------------------------------------------


def test_votes_may_be_a_votes_object():
    votes = Votes.of(["item 1", "item 1", "item 2"], ["ann", "bob", "ann"], ["yes", "yes", "no"])
    one, other = campaign(), campaign()
    one.tell(votes)
    other.tell([("item 1", "ann", "yes"), ("item 1", "bob", "yes"), ("item 2", "ann", "no")])
    np.testing.assert_array_equal(one.posterior(), other.posterior())


@pytest.mark.parametrize(
    ("vote", "message"),
    [
        (("item 99", "ann", "yes"), "there is no item 'item 99'"),
        (("item 1", "ann", "maybe"), r"the label 'maybe' of item 'item 1' is not a class \(no, yes\)"),
        (("item 1", "ann", ["yes"]), r"the label \['yes'\] of item 'item 1' is not a class"),
        (("item 1", "ann", "yes", "size"), "there is no criterion 'size'; there are no criteria"),
        (("item 1", "ann"), r"is not \(item, worker, label\)"),
        ("item 1", r"is not \(item, worker, label\)"),
        (("item 1", ["ann"], "yes"), "cannot be the name of a worker"),
        (("item 0", "bob", "yes"), "worker 'bob' has voted on item 'item 0' already"),
        (("item 2", "cat", "yes"), "worker 'cat' has voted on item 'item 2' twice at once"),
    ],
)
def test_a_wrong_vote_is_refused_in_one_sentence_and_none_of_the_others_is_added(vote, message):
    c = campaign()
    c.ask("bob", 2)
    c.tell([("item 0", "bob", "no")])
    before = c.to_dict()
    with pytest.raises(ValueError, match=message):
        c.tell([("item 2", "cat", "yes"), vote])
    assert c.to_dict() == before


def test_no_votes_change_nothing():
    c = campaign()
    before = c.to_dict()
    c.tell([])
    assert c.to_dict() == before


def test_refits_are_due_as_often_as_the_plan_says():
    c = campaign(plan=Plan(policy="fixed", refit_every=4, refit_growth=0.5))
    c.tell(same_votes("ann", ITEMS[:3]))
    assert c.view.votes_since_refit == 3
    c.tell(same_votes("ann", ITEMS[3:5]))
    assert c.view.votes_since_refit == 0
    c.tell(same_votes("ann", ITEMS[5:9]), refit=False)
    assert c.status().refit_due is False  # four new ones, but fewer than half of all
    c.tell(same_votes("ann", ITEMS[9:10]), refit=False)
    assert c.status().refit_due is True


# Items that come and go ---------------------------------------------------------------------


def test_items_may_be_added_and_withdrawn_at_any_time():
    c = campaign(items=["a", "b"])
    c.withdraw(["a"])
    c.add(["c"])
    assert {ask.item for ask in c.ask("ann", 9)} == {"b", "c"}
    assert c.decide().items.tolist() == ["b", "c"]
    with pytest.raises(ValueError, match="there is an item 'b' already"):
        c.add(["d", "b"])
    assert len(c) == 3


def test_votes_on_withdrawn_items_still_count_for_workers():
    c = campaign(gold=dict.fromkeys(ITEMS[:8], "yes"))
    c.withdraw(ITEMS[:8])
    c.tell(same_votes("bob", ITEMS[:8], "no"), refit=True)
    assert c._parts.questions[0].worker_confusion(c._parts.workers.number_of["bob"])[1, 1] < 0.6


def test_a_closed_decision_is_final():
    c = campaign(items=["a", "b"])
    c.tell([("a", "ann", "yes"), ("b", "ann", "yes")])
    c.close(["a"])
    c.tell([(item, worker, "no") for item in "ab" for worker in range(9)], refit=True)
    assert c.decide().labels.tolist() == ["yes", "no"]
    assert c.ask("new", 5) == []


def test_closing_all_that_is_done_leaves_items_with_valuable_or_pending_votes():
    c = campaign(items=["a", "b", "c"], plan=Plan(policy="fixed[votes=1]"))
    c.ask("ann", 3)
    c.tell([("a", "ann", "yes")])
    c.release("ann")
    c.ask("bob", 1)
    assert c.status().done == 1
    c.close()
    assert (c.status().closed, c.status().open) == (1, 2)


def test_dropping_returns_the_decisions_and_keeps_the_confusion_matrices():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=30)
    c = campaign(gold={item: CLASSES[t] for item, t in zip(ITEMS[:15], truth, strict=False)})
    right = [(item, "ann", CLASSES[t]) for item, t in zip(ITEMS, truth, strict=True)]
    wrong = [(item, "bob", CLASSES[1 - t]) for item, t in zip(ITEMS, truth, strict=True)]
    c.tell([*right, *wrong], refit=True)
    skill = [c._parts.questions[0].worker_confusion(w)[1, 1] for w in (0, 1)]
    c.close(ITEMS[:14])
    c.withdraw(ITEMS[14:20])
    last = c.decide()
    gone = c.drop_closed()
    assert gone.items.tolist() == ITEMS[:14]
    assert gone.labels.tolist() == last.labels[:14].tolist()
    assert c.decide().items.tolist() == ITEMS[20:]
    c.refit()
    np.testing.assert_allclose(
        [c._parts.questions[0].worker_confusion(w)[1, 1] for w in (0, 1)], skill, atol=0.03
    )
    assert c.status().dropped == 20
    assert c.status().votes["crowd"] == 60


def test_an_item_with_an_open_lease_is_not_dropped():
    c = campaign(items=["a", "b"])
    c.ask("ann", 2)
    c.withdraw(["a", "b"])
    c.tell([("a", "ann", "yes")])
    c.drop_closed()
    assert c.view.item_names == ["b"]
    c.tell([("b", "ann", "yes")])
    c.drop_closed()
    assert c.view.item_names == []
    assert len(c.decide()) == 0
    assert c.status().loss == 0


def test_an_endless_stream_needs_bounded_memory():
    rng = np.random.default_rng(0)
    c = campaign(items=[], plan=Plan(policy="fixed[votes=2]", refit_every=10))
    for day in range(20):
        c.add([f"day {day}, item {n}" for n in range(5)], classifier_probs=rng.dirichlet([1, 1], 5))
        for worker in ("ann", "bob"):
            c.tell([(ask.item, worker, "yes") for ask in c.ask(worker, 5)])
        c.close()
        assert len(c.drop_closed()) == 5
        assert len(c) == len(c._parts.questions[0].vote_log) == len(c._parts.workers.asked[0]) == 0
    assert c.status().votes["crowd"] == 200
    assert c._parts.questions[0].worker_confusion(0)[1, 1] > 0.9


# Machines and criteria ----------------------------------------------------------------------


def test_a_classifier_is_trained_on_votes_and_decides_items_without_any():
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=200)
    x = rng.normal(size=(200, 3)) + 2 * truth[:, None]
    c = Campaign(
        range(200), CLASSES, COSTS, plan=Plan(refit_every=0), features=x, classifier=LogisticRegression()
    )
    c.tell([(n, w, CLASSES[truth[n]]) for n in range(60) for w in range(2)], refit=True)
    alone = c.decide().codes[60:]
    assert (alone == truth[60:]).mean() > 0.9


def test_a_classifier_needs_features_and_says_so():
    with pytest.raises(ValueError, match="expected a row for each of 30 items"):
        campaign(classifier=LogisticRegression())


def test_an_item_is_in_only_if_all_criteria_hold():
    c = campaign(["a", "b"], Costs.binary(fp=1, fn=1), Plan(), criteria=["old", "big"])
    c.tell([(i, w, "yes", "old") for i in "ab" for w in range(4)])
    c.tell([(i, w, "yes" if i == "a" else "no", "big") for i in "ab" for w in range(4)])
    now = c.decide()
    assert now.labels.tolist() == ["yes", "no"]
    np.testing.assert_allclose(
        now.probs[:, 1], np.prod([question.posterior[:, 1] for question in c._parts.questions], axis=0)
    )


def test_a_criterion_is_not_asked_about_an_item_that_is_out_already():
    costs = Costs.binary(fp=1, fn=1, crowd=0.02)
    c = campaign(["a"], costs, Plan(pilot=0, refit_every=0), criteria=["old", "big"])
    c.tell([("a", w, "no", "old") for w in range(6)])
    assert c.ask("new", 2) == []


def test_values_for_criteria_name_them():
    two = {"costs": Costs.binary(), "criteria": ["old", "big"]}
    c = campaign(["a"], classifier_probs={"big": [[0.1, 0.9]]}, **two)
    assert c._parts.questions[0].classifier_probs is None
    assert c._parts.questions[1].classifier_probs is not None
    with pytest.raises(ValueError, match="there is no criterion 'bog'; there are old, big"):
        campaign(["a"], classifier_probs={"bog": [[0.1, 0.9]]}, **two)
    with pytest.raises(ValueError, match="a mapping from their names is expected, not list"):
        campaign(["a"], classifier_probs=[[0.1, 0.9]], **two)


def test_questions_and_costs_must_fit():
    with pytest.raises(ValueError, match="a class or a criterion is given twice"):
        Campaign(ITEMS, ["a", "a"], COSTS)
    with pytest.raises(ValueError, match="a class or a criterion is given twice"):
        campaign(criteria=["x", "x"])
    with pytest.raises(ValueError, match="there are 3 classes, but costs of 2"):
        Campaign(ITEMS, ["a", "b", "c"], COSTS)
    with pytest.raises(ValueError, match="with criteria there are two classes"):
        Campaign(ITEMS, ["a", "b", "c"], Costs.equal(3), criteria=["x", "y"])


# The whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize("honest", [False, True])
def test_a_crowd_is_asked_until_it_does_not_pay_and_decisions_are_as_good_as_expected(honest):
    """The workers err independently, which a campaign may be told; otherwise it expects more errors."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    skill = rng.uniform(0.75, 0.95, 30)[:, None, None]
    confusion = skill * np.eye(2) + (1 - skill) * (1 - np.eye(2))
    source = SimulatedVotes(np.arange(300), np.array(CLASSES, object), truth, confusion, seed=0)
    c = Campaign(range(300), CLASSES, Costs.binary(crowd=0.02), plan=Plan(honest=honest))
    while asks := c.ask(None, 60):
        c.tell(source.answer(asks))
    now, status = c.decide(), c.status()
    assert now.done.all()
    wrong = (now.codes != truth).mean()
    assert wrong < 0.08
    if honest:
        assert wrong < status.error_rate < 0.25
    else:
        assert abs(wrong - status.error_rate) < 0.05
    assert status.done == status.open == 300
    assert status.spent == pytest.approx(0.02 * sum(status.votes.values()))
    assert status.loss == pytest.approx(300 * status.loss_per_item)


def test_a_campaign_with_a_classifier_drops_items_too():
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=60)
    x = rng.normal(size=(60, 2)) + 3 * truth[:, None]
    c = Campaign(
        range(60), CLASSES, COSTS, plan=Plan(refit_every=0), features=x, classifier=LogisticRegression()
    )
    c.tell([(n, "ann", CLASSES[truth[n]]) for n in range(40)], refit=True)
    c.close(range(10))
    c.drop_closed()
    np.testing.assert_array_equal(c._parts.classifier.features_of(np.arange(50)), x[10:])
    c.add([60], features=x[:1])
    c.refit()
    assert (c.decide().codes[:50] == truth[10:]).mean() > 0.9
    again = Campaign.from_dict(
        c.to_dict(), features=np.vstack([x[10:], x[:1]]), classifier=LogisticRegression()
    )
    again.refit()
    c.refit()
    np.testing.assert_array_equal(again.posterior(), c.posterior())


def test_a_classifier_of_scikit_learn_may_be_trained_on_texts():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    class Reader:
        def __init__(self):
            self.model = make_pipeline(CountVectorizer(), MultinomialNB())

        def fit(self, texts, labels, sample_weight):
            self.model.fit(texts, labels, multinomialnb__sample_weight=sample_weight)
            return self

        def predict_proba(self, texts):
            return self.model.predict_proba(texts)

    truth = np.arange(200) % 2
    texts = [f"word{n % 7} {'good' if t else 'bad'}" for n, t in enumerate(truth)]
    plan = Plan(pilot=20, refit_every=20, refit_growth=0)
    campaign = Campaign(
        range(200), [0, 1], Costs.equal(2, crowd=0.01), plan=plan, features=texts, classifier=Reader()
    )
    rng = np.random.default_rng(0)
    while asks := campaign.ask(None, 20):
        said = [(a.item, None, int(truth[a.item] ^ (rng.random() < 0.1))) for a in asks]
        campaign.tell(said)
    assert (campaign.decide().codes == truth).mean() > 0.95
    assert campaign.decide().votes.sum() < 300


def test_nothing_waits_for_experts_before_one_has_come():
    costs = Costs.equal(2, error=10, crowd=1.0, expert=1.1)
    campaign = Campaign(range(5), [0, 1], costs, plan=Plan(pilot=0))
    assert len(campaign.ask("ann", 5)) == 5
    campaign.release("ann")
    assert len(campaign.ask("eve", 5, kind="expert")) == 5
    campaign.release("eve")
    assert campaign.ask("ann", 5) == []  # eve is the better buy


def test_a_class_that_becomes_known_is_not_asked_about_any_more():
    c = Campaign(["a", "b"], ["no", "yes"], Costs.binary(crowd=0.02), plan=Plan(pilot=0))
    c.reveal({"a": "yes"})
    assert [ask.item for ask in c.ask("ann", 2)] == ["b"]
    assert c.decide().labels[0] == "yes"
    with pytest.raises(ValueError, match="is not a class"):
        c.reveal({"b": "perhaps"})
    with pytest.raises(ValueError, match="no item 'z'"):
        c.reveal({"z": "yes"})


def test_a_revealed_class_equals_one_known_from_the_start():
    votes = [(item, worker, "yes") for item in "abc" for worker in ("ann", "eve")]
    early, late = (
        Campaign(list("abc"), ["no", "yes"], Costs.binary(crowd=0.02), gold=g) for g in ({"a": "no"}, None)
    )
    late.reveal({"a": "no"})
    for c in (early, late):
        c.tell(votes, refit=True)
    np.testing.assert_array_equal(early.posterior(), late.posterior())


def test_a_vote_that_is_worth_its_price_from_an_average_worker_is_asked_of_somebody():
    """Even if no known worker is as good as the prior of the kind, the campaign ends."""
    rng = np.random.default_rng(0)
    skill = np.concatenate([np.full(8, 0.95), np.full(12, 0.85), np.full(8, 0.6), np.full(2, 0.3)])
    for seed in range(3):
        truth = rng.integers(0, 4, 80)
        c = Campaign(range(80), range(4), Costs.equal(4, crowd=0.02), plan=Plan(seed=seed))
        while True:
            before = sum(c.status().votes.values())
            for worker in rng.permutation(30).tolist():
                for ask in c.ask(worker, 2):
                    right = rng.random() < skill[worker]
                    said = truth[ask.item] if right else (truth[ask.item] + rng.integers(1, 4)) % 4
                    c.tell([(ask.item, worker, int(said))])
            if sum(c.status().votes.values()) == before:
                if c.view.votes_since_refit == 0:
                    break
                c.refit()
        assert c.decide().done.all()


@pytest.mark.parametrize(
    ("items", "classes", "message"),
    [
        (pd.DataFrame({"item": ["a"], "text": ["b"]}), CLASSES, "items is a data frame, expected names"),
        ("items.csv", CLASSES, "items is 'items.csv', expected a list of names"),
        (60, CLASSES, "items is '60', expected a list of names"),
        (["a"], 2, "classes is '2', expected a list of names"),
        (["a"], "no", "classes is 'no', expected a list of names"),
    ],
    ids=["frame", "file", "number", "number of classes", "text"],
)
def test_names_are_asked_for_where_there_are_none(items, classes, message):
    with pytest.raises(ValueError, match=message):
        Campaign(items, classes, COSTS)
    assert len(Campaign(pd.Series(["a", "b"]), CLASSES, COSTS)) == 2
