from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from crowdpilot.hybrid import Ask, Campaign, Costs, LogisticRegression, Plan
from tests.crowds import vote_tuples

NAMES = ["ann", "bob", "cat", "dan"]
KINDS = {"ann": "crowd", "bob": "crowd", "cat": "crowd", "dan": "expert"}


def again(campaign, **made):
    """The same campaign, saved and restored."""
    return Campaign.from_dict(json.loads(json.dumps(campaign.to_dict())), **made)


def final(decisions):
    return dict(zip(decisions.items.tolist(), decisions.codes.tolist(), strict=True))


def fingerprint(campaign):
    """The whole state of a campaign, as text."""
    return json.dumps(campaign.to_dict())


class Anything(RuleBasedStateMachine):
    """Any actions in any order; a twin that is saved and restored does the same."""

    @initialize(
        criteria=st.sampled_from([(), ("old", "big")]),
        classified=st.booleans(),
        budget=st.sampled_from([math.inf, 0.31, 1.0]),
        limit=st.sampled_from([None, 2, 5]),
        share=st.sampled_from([0.0, 0.3]),
        policy=st.sampled_from(["value", "fixed[votes=2]", "posterior_threshold"]),
        online=st.booleans(),
        seed=st.integers(0, 99),
    )
    def start(self, criteria, classified, budget, limit, share, policy, online, seed):
        self.rng = np.random.default_rng(seed)
        plan = Plan(
            policy=policy,
            pilot=2,
            refit_every=4,
            per_worker=limit,
            per_item=limit,
            explore=share,
            gold=share,
            online=online,
            seed=seed,
        )
        costs = Costs.binary(fp=1, fn=3, crowd=0.02, expert=0.07, classifier=0.001, budget=budget)
        self.classified, self.criteria, self.made = classified, criteria or ("",), 0
        self.live = Campaign([], ["no", "yes"], costs, plan=plan, criteria=criteria)
        for worker, kind in KINDS.items():
            self.live.register_worker(worker, kind)
        self.twin = again(self.live)
        self.closed, self.asked, self.leases = {}, set(), []
        self.add(5)

    def both(self, action):
        first, second = action(self.live), action(self.twin)
        assert first == second
        return first

    @property
    def items(self):
        return list(self.live.view.item_names)

    def votes(self, cells):
        return [(item, worker, str(self.rng.choice(["no", "yes"])), c) for item, worker, c in cells]

    @rule(n=st.integers(0, 4))
    def add(self, n):
        names = [f"item {self.made + i}" for i in range(n)]
        self.made += n
        probs = {c: self.rng.dirichlet([0.5, 0.5], n) for c in self.criteria} if self.classified else None
        gold = {c: {names[0]: "yes"} for c in self.criteria} if n > 2 else None
        if self.criteria == ("",):
            probs, gold = probs and probs[""], gold and gold[""]
        price = 0.001 * n * self.classified
        if price > self.live.view.budget_left:
            with pytest.raises(ValueError, match="the budget does not pay for the classifier"):
                self.live.add(names, classifier_probs=probs, gold=gold)
        else:
            self.both(lambda c: c.add(names, classifier_probs=probs, gold=gold))

    @rule(worker=st.sampled_from([*NAMES, None]), n=st.integers(0, 4))
    def ask(self, worker, n):
        kind = None if worker is None else KINDS[worker]
        left = self.live.view.budget_left
        asks = self.both(lambda c: c.ask(worker, n, kind=kind))
        assert len(asks) <= n
        assert len(asks) * self.live.costs.price(kind or "crowd") <= left + 1e-9
        for item, criterion in asks:
            if worker is not None:
                assert (item, worker, criterion) not in self.asked, "somebody is asked the same twice"
                self.asked.add((item, worker, criterion))
            self.leases.append((item, worker, criterion))

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def answer(self, data):
        some = data.draw(st.lists(st.sampled_from(self.leases), unique=True, max_size=4))
        votes = self.votes(some)
        self.both(lambda c: c.tell(votes))
        for lease in some:
            self.leases.remove(lease)

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def volunteer(self, data):
        cell = st.tuples(
            st.sampled_from(self.items), st.sampled_from([*NAMES, "eve"]), st.sampled_from(self.criteria)
        )
        some = data.draw(st.lists(cell, unique=True, max_size=3))
        votes = self.votes([p for p in some if p not in self.asked])
        self.asked |= {(item, worker, c) for item, worker, _, c in votes}
        self.both(lambda c: c.tell(votes))
        for item, worker, _, c in votes:  # the first vote of the crowd settles a lease to anyone
            if worker != "dan" and (item, None, c) in self.leases:
                self.leases.remove((item, None, c))

    @precondition(lambda self: self.items)
    @rule(wrong=st.integers(0, 6))
    def tell_invalid_votes(self, wrong):
        fine = (self.items[0], "new", "yes", self.criteria[0])
        bad = [
            [fine, ("nowhere", "ann", "yes", self.criteria[0])],
            [fine, (self.items[0], "ann", "maybe", self.criteria[0])],
            [fine, (self.items[0], "ann", "yes", "no such criterion")],
            [fine, (self.items[0], "ann")],
            [fine, fine],
            [fine, ([1], "ann", "yes", self.criteria[0])],
            [fine, (self.items[0], ["ann"], "yes", self.criteria[0])],
        ][wrong]
        before = fingerprint(self.live)
        with pytest.raises(ValueError, match=r"\w+ \w+"):
            self.live.tell(bad)
        assert fingerprint(self.live) == before

    @rule(worker=st.sampled_from([*NAMES, None]))
    def release(self, worker):
        self.both(lambda c: c.release(worker))
        gone = [lease for lease in self.leases if lease[1] == worker]
        self.asked -= set(gone)
        self.leases = [lease for lease in self.leases if lease[1] != worker]

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def withdraw(self, data):
        some = data.draw(st.lists(st.sampled_from(self.items), max_size=2))
        self.both(lambda c: c.withdraw(some))
        for item in some:
            self.closed.pop(item, None)

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def close(self, data):
        some = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(self.items), max_size=2)))
        before = self.live.decide()
        self.both(lambda c: c.close(some))
        closed = before.items[before.done].tolist() if some is None else some
        now = final(before)
        self.closed |= {item: now[item] for item in closed if item in now}

    @rule()
    def drop_closed(self):
        gone = self.both(lambda c: final(c.drop_closed()))
        for item, code in gone.items():
            assert self.closed.pop(item) == code
        kept = set(self.items)
        self.asked = {cell for cell in self.asked if cell[0] in kept}

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def stop(self, data):
        asks = st.builds(Ask, st.sampled_from(self.items), st.sampled_from(self.criteria))
        some = data.draw(st.lists(asks, max_size=2))
        self.both(lambda c: c.stop(some))

    @rule()
    def refit(self):
        self.both(lambda c: c.refit())

    @rule()
    def save_and_restore(self):
        self.twin = again(self.live)

    @invariant()
    def money_is_never_more_than_the_budget(self):
        ledger = self.live._parts.ledger
        assert min(ledger.spent, ledger.reserved) >= 0
        assert ledger.spent + ledger.reserved <= ledger.budget + 1e-9
        np.testing.assert_allclose(
            ledger.reserved, sum(sum(prices) for prices in ledger.leases.values()), atol=1e-12
        )
        assert len(self.leases) == sum(map(len, ledger.leases.values())) == ledger.pending.sum()

    @invariant()
    def nobody_gives_more_than_allowed_when_asked(self):
        limit = self.live.plan.per_worker
        for worker, row in self.live._parts.workers.number_of.items():
            assert self.live._parts.workers.asked_count[row] >= len(self.live._parts.workers.asked[row])
            assert limit is None or worker == "eve" or self.live.ask(worker, 0) == []

    @invariant()
    def decisions_change_nothing_and_the_final_ones_stay(self):
        before = fingerprint(self.live)
        now = self.live.decide()
        assert fingerprint(self.live) == before
        assert self.closed.items() <= final(now).items()

    @invariant()
    def the_twin_is_the_same_bit_for_bit(self):
        assert fingerprint(self.live) == fingerprint(self.twin)
        assert self.live.status() == self.twin.status()


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 999), st.sampled_from(["none", "given", "learned"]))
def test_any_interleaving_of_the_same_votes_gives_the_same_posterior(seed, classifier):
    rng = np.random.default_rng(seed)
    votes = vote_tuples(range(12), range(3), seed)
    x = rng.normal(size=(12, 2))
    extra = {
        "none": {},
        "given": {"classifier_probs": rng.dirichlet(np.ones(3), 12)},
        "learned": {"features": x, "classifier": LogisticRegression()},
    }[classifier]
    half = len(votes) // 2
    found = []
    for _ in range(2):
        campaign = Campaign(range(12), range(3), Costs.equal(3), plan=Plan(refit_every=0), **extra)
        for part in (votes[:half], votes[half:]):
            order = rng.permutation(len(part))
            for few in np.array_split(order, int(rng.integers(1, 5))):
                campaign.tell([part[i] for i in few])
            found.append(campaign._parts.questions[0].posterior.copy())
            campaign.refit()
            found.append(campaign._parts.questions[0].posterior.copy())
    exact = 1e-9 if classifier != "learned" else 1e-5  # where its optimiser stops
    for one, other in zip(found[:4], found[4:], strict=True):
        np.testing.assert_allclose(one, other, atol=exact)
