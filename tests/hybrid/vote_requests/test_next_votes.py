"""What to ask next: stateless, in the unit of the costs, and as good as a campaign that never stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import crowdpilot as cp
from crowdpilot.hybrid import Campaign, Costs, Plan, VoteRequests
from crowdpilot.votes import Votes

ITEMS = ["owl", "eel", "emu", "cod"]
VOTES = [("owl", "ann", "bird"), ("owl", "bob", "bird"), ("eel", "ann", "bird"), ("eel", "bob", "fish")]


class World(NamedTuple):
    """Items of known class, a classifier, and a crowd in which everybody can answer everything once."""

    items: list[str]
    truth: np.ndarray
    probs: np.ndarray
    said: np.ndarray  # (items, workers)

    def answers(self, asked: VoteRequests) -> Iterator[tuple[str, str, str]]:
        for row, worker in zip(asked.rows.tolist(), asked.workers.tolist(), strict=True):
            yield self.items[row], worker, ["no", "yes"][self.said[row, int(worker[1:])]]


WORKERS = [f"w{n}" for n in range(10)]


def make_world(seed: int, items: int = 300) -> World:
    """A classifier that is right three times in four, and ten workers right eight times in ten."""
    rng = np.random.default_rng(seed)
    truth, skill, distance = rng.integers(0, 2, items), rng.beta(8, 2, 10), norm.ppf(0.75)
    score = (2 * truth - 1) * distance + rng.normal(0, 1, items)
    positive = 1 / (1 + np.exp(-2 * distance * score))
    said = np.where(rng.random((items, 10)) < skill, truth[:, None], 1 - truth[:, None])
    return World([f"i{n}" for n in range(items)], truth, np.stack([1 - positive, positive], 1), said)


def follow(world: World, batch: int, **settings: Any) -> tuple[VoteRequests, list[tuple[str, str, str]]]:
    """Ask and answer until nothing is asked for; all is in the list of votes."""
    votes: list[tuple[str, str, str]] = []
    while True:
        asked = cp.next_votes(
            world.items,
            votes or None,
            world.probs,
            classes=["no", "yes"],
            workers=WORKERS,
            n=batch,
            **settings,
        )
        if asked.done:
            return asked, votes
        votes += world.answers(asked)


def test_following_it_in_batches_is_as_good_as_a_campaign_and_better_than_three_votes_each() -> None:
    world = make_world(seed=1)
    costs = Costs.equal(2, crowd=0.02, budget=14)
    end, votes = follow(world, 25, costs=costs)
    campaign = Campaign(world.items, ["no", "yes"], costs, classifier_probs=world.probs)
    while asks := [(w, ask.item) for w in WORKERS for ask in campaign.ask(w, 3)]:
        row = {item: n for n, item in enumerate(world.items)}
        campaign.tell(
            [(item, w, ["no", "yes"][world.said[row[item], int(w[1:])]]) for w, item in asks], refit=True
        )
    wrong = (end.decisions.codes != world.truth).sum()
    campaign_wrong = (campaign.decide().codes != world.truth).sum()
    majority_wrong = ((world.said[:, :3].sum(axis=1) > 1) != world.truth).sum()
    assert end.done
    assert len(votes) <= 700 < 3 * len(world.items)
    assert wrong <= campaign_wrong + 6
    assert wrong < majority_wrong


def test_it_ends_by_itself_without_a_budget() -> None:
    end, votes = follow(make_world(seed=0, items=40), 10, costs="error=1,crowd=.05")
    assert end.done
    assert end.reason == "no further vote is worth its price of 0.05"
    assert 40 <= len(votes) < 400


def test_nothing_is_kept_between_two_calls() -> None:
    first, second = (cp.next_votes(ITEMS, VOTES, n=3) for _ in range(2))
    assert first.columns().keys() == second.columns().keys()
    for name, values in first.columns().items():
        np.testing.assert_array_equal(values, second.columns()[name])
    other = cp.next_votes(ITEMS, VOTES, n=3, plan=Plan(seed=1))
    assert sorted(other.tasks.tolist()) <= sorted(ITEMS)


def test_without_costs_money_is_counted_in_votes() -> None:
    asked = cp.next_votes(ITEMS, VOTES, budget=6)
    assert (asked.spent, asked.left, len(asked)) == (4, 2, 2)
    assert asked.summary.startswith("spent 4 of 6 (4 votes), 2 left; about ")


def test_a_budget_is_in_the_unit_of_the_costs() -> None:
    asked = cp.next_votes(ITEMS, VOTES, costs="error=1,crowd=.05", budget=0.3)
    assert (round(asked.spent, 9), round(asked.left, 9), len(asked)) == (0.2, 0.1, 2)
    assert asked.summary.startswith("spent 0.20 of 0.30 (4 votes), 0.10 left")
    same = cp.next_votes(ITEMS, VOTES, costs={"error": 1, "crowd": 0.05, "budget": 0.3})
    assert same.tasks.tolist() == asked.tasks.tolist()


@pytest.mark.parametrize("budget", [4, 3])
def test_a_budget_that_is_spent_ends_it(budget: float) -> None:
    asked = cp.next_votes(ITEMS, VOTES, budget=budget)
    assert asked.done
    assert (asked.spent, asked.left) == (4, 0)
    assert asked.reason == (
        f"the budget of {budget}, which covers the 4 votes that there are, is spent; 24 pays for 20 more"
    )
    assert asked.to_pandas().empty
    assert asked.label_columns()["task"].tolist() == ITEMS


def test_nobody_is_asked_what_they_have_answered() -> None:
    asked = cp.next_votes(ITEMS, VOTES, workers="ann")
    assert set(asked.tasks.tolist()) <= {"emu", "cod"}
    assert set(asked.workers.tolist()) == {"ann"}
    every = [(item, "ann", "bird") for item in ITEMS]
    nothing = cp.next_votes(ITEMS, [*every, ("owl", "bob", "fish")], workers="ann")
    assert nothing.reason == "ann cannot add a vote that is worth its price; others may"


def test_several_people_are_never_asked_the_same_at_once() -> None:
    asked = cp.next_votes([f"i{n}" for n in range(20)], classes=["no", "yes"], workers=["ann", "bob"], n=9)
    assert len(set(asked.tasks.tolist())) == 9
    assert [asked.workers.tolist().count(name) for name in ("ann", "bob")] == [5, 4]


def test_items_carry_their_content_and_hide_the_label() -> None:
    frame = pd.DataFrame({"id": ITEMS, "text": [f"an {item}" for item in ITEMS]})
    asked = cp.next_votes(frame, VOTES, n=2)
    sheet = pd.DataFrame(asked.to_fill_in())
    assert list(sheet) == ["id", "text", "worker", "label"]
    assert sheet["text"].tolist() == [f"an {item}" for item in sheet["id"]]
    assert sheet[["worker", "label"]].isna().all(axis=None)
    assert {"value", "why", "votes", "label", "confidence"} <= set(asked.to_pandas())


def test_items_are_those_of_votes_and_probabilities_if_not_given() -> None:
    probs = {"owl": {"bird": 0.9, "fish": 0.1}, "emu": {"bird": 0.7, "fish": 0.3}, "eel": [0.5, 0.5]}
    with pytest.raises(ValueError, match="differ in length or kind"):
        cp.next_votes(None, VOTES, probs)
    asked = cp.next_votes(None, VOTES, probs | {"eel": {"bird": 0.5, "fish": 0.5}})
    assert asked.items.names.tolist() == ["owl", "eel", "emu"]
    assert cp.next_votes(votes=VOTES).items.names.tolist() == ["owl", "eel"]


def test_votes_on_other_items_count_as_paid_and_teach_only() -> None:
    asked = cp.next_votes(["owl", "emu"], VOTES, budget=10)
    assert asked.spent == 4
    assert set(asked.tasks.tolist()) <= {"owl", "emu"}
    assert asked.label_columns()["task"].tolist() == ["owl", "emu"]


def test_known_labels_are_not_asked_about() -> None:
    asked = cp.next_votes(ITEMS, VOTES, gold={"emu": "bird", "cod": "fish"})
    assert set(asked.tasks.tolist()) <= {"owl", "eel"}
    assert asked.label_columns()["label"].tolist()[2:] == ["bird", "fish"]
    assert asked.label_columns()["decided_by"].tolist()[2:] == ["gold", "gold"]


def test_numbers_and_texts_are_the_same_names() -> None:
    votes = Votes.of([1, 1, 2], ["x", "y", "x"], [0, 1, 1])
    asked = cp.next_votes(["1", "2", "3"], votes, {"1": [0.5, 0.5], "2": [0.5, 0.5], "3": [0.9, 0.1]})
    assert asked.votes == 3
    assert asked.label_columns()["votes"].tolist() == [2, 1, 0]


@pytest.mark.parametrize("content", ["", "task,worker,label\n"])
def test_a_file_without_votes_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "votes.csv").write_text(content)
    assert len(cp.next_votes(ITEMS, tmp_path / "votes.csv", classes=["no", "yes"])) == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"items": ITEMS}, "nothing says what the classes are; name all with classes="),
        ({"items": ITEMS, "votes": VOTES[:1]}, "one class only, 'bird'"),
        ({}, "nothing to ask about"),
        ({"items": ["a"], "votes": VOTES}, "the votes are on none of the 1 items"),
        ({"items": ITEMS, "votes": VOTES, "classes": ["bird", "newt"]}, "label 'fish', which is none of"),
        ({"votes": VOTES, "costs": "fp"}, "costs has 'fp', expected NAME=NUMBER"),
        ({"votes": VOTES, "costs": "corwd=.05,fn=5"}, "the costs name 'corwd', expected fp and fn"),
        ({"votes": VOTES, "costs": "crowd=1,expert=2"}, "prices for crowd and expert"),
        ({"votes": VOTES, "costs": "budget=5", "budget": 6}, "the budget is 6 and, in the costs, 5"),
        ({"votes": VOTES, "budget": "lots"}, "the budget is lots, expected a number"),
        ({"votes": VOTES, "costs": 5}, "costs is 5, expected Costs, or a text"),
        ({"votes": VOTES, "costs": "fp=1,fn=5,crowd=0"}, "a vote costs 0"),
        ({"votes": VOTES, "budget": -1}, "the budget is -1, expected a number above 0"),
        ({"votes": VOTES, "n": 0}, "n is 0"),
        ({"votes": VOTES, "plan": Plan(policy="fixed[votes=3]")}, "by their value here, not by fixed"),
        ({"votes": VOTES, "gold": {"owl": "newt"}}, "a known label is 'newt'"),
        ({"items": ITEMS, "votes": VOTES, "probs": [[0.5, 0.6]] * 4}, "sum to 1.1"),
        ({"items": ITEMS, "votes": VOTES, "probs": {"owl": [0.5, 0.5]}}, "no row for 3 of 4 tasks"),
    ],
)
def test_anything_else_is_one_clear_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cp.next_votes(**settings)


def test_names_may_come_from_a_generator_and_the_requests_are_those_of_items() -> None:
    asked = cp.next_votes((name for name in ITEMS), VOTES, budget=10, costs=[[0, 1], [5, 0]])
    assert list(asked) == asked.tasks.tolist()
    assert len(asked)
