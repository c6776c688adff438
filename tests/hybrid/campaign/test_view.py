"""What may be read of a campaign about one worker: what is left for them, and what others hold."""

from __future__ import annotations

import numpy as np

from crowdpilot.hybrid import Ask, Campaign, Costs


def make_campaign(**more: object) -> Campaign:
    return Campaign(["a", "b"], ["no", "yes"], Costs.binary(fp=1, fn=1, crowd=0.01), **more)  # type: ignore[arg-type]


def test_what_somebody_else_holds_may_come_free() -> None:
    campaign = make_campaign()
    assert not campaign.view.waits_for_others("bob")
    campaign.lease([Ask("a", ""), Ask("b", "")], "ann")
    assert campaign.view.waits_for_others("bob")
    assert campaign.view.waits_for_others(None)
    assert not campaign.view.waits_for_others("ann")
    campaign.tell([("a", "bob", "yes")], refit=False)
    campaign.release("ann", [Ask("b", "")])
    assert not campaign.view.waits_for_others("bob"), "bob has answered what ann still holds"


def test_a_gold_item_that_somebody_holds_is_not_waited_for() -> None:
    campaign = make_campaign(gold={"a": "yes"})
    campaign.lease([Ask("a", "")], "ann")
    assert not campaign.view.waits_for_others("bob")


def test_a_worker_has_unasked_questions_until_all_are_answered_or_full() -> None:
    campaign = make_campaign()
    assert campaign.view.has_unasked("ann")
    campaign.tell([("a", "ann", "yes"), ("b", "ann", "no")], refit=False)
    assert not campaign.view.has_unasked("ann")
    assert campaign.view.has_unasked("bob")
    assert not campaign.view.has_unasked("bob", per_item=1)
    assert (campaign.view.asked_count("ann"), campaign.view.asked_count("bob")) == (2, 0)
    campaign.stop([Ask("a", ""), Ask("b", "")])
    assert not campaign.view.has_unasked("bob")


def test_all_were_asked_once_every_worker_with_a_name_was() -> None:
    campaign = make_campaign()
    view, rows = campaign.view, np.arange(2)
    assert (view.worker_names, view.all_were_asked(rows)) == ([], False)
    campaign.tell([("a", "ann", "yes"), ("b", "ann", "no"), ("a", None, "yes")], refit=False)
    assert view.worker_names == ["ann", None]
    assert (view.all_were_asked(rows), view.all_were_asked(rows[:0])) == (True, False)
    campaign.lease([Ask("b")], "ben")
    assert (view.all_were_asked(rows), view.all_were_asked(rows[1:])) == (False, True)
    campaign.lease([Ask("a")], "ben")
    assert view.all_were_asked(rows)
