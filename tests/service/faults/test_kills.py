"""Processes are killed at random moments under load: nothing that was acknowledged is lost or doubled."""

from __future__ import annotations

import pytest

from tests.service.harness.fault_crowd import Outcome, assert_same_decisions, library_decisions, run

pytestmark = pytest.mark.thorough  # starts and kills processes

ITEMS, WORKERS = 60, 8


def assert_sound(outcome: Outcome, n_items: int, n_workers: int) -> None:
    """All that was acknowledged is there once, as it was said; and nothing else is."""
    crowd, table = outcome.crowd, outcome.table
    assert crowd.errors == []
    assert outcome.done
    assert set(table.values()) == {1}
    found = {(item, worker): label for item, worker, label in table}
    assert len(found) == len(table), "two labels of one worker on one item"
    lost = {vote_id for vote_id, label in crowd.acknowledged.items() if found.get(vote_id) != label}
    assert lost == set()
    assert found.items() <= crowd.sent.items(), "a vote that nobody sent"
    assert len(found) == n_items * n_workers == outcome.votes
    assert_same_decisions(outcome.decisions, library_decisions(n_items, n_workers))


def web_for(url: str) -> int:
    return 1 if url.startswith("sqlite") else 2


@pytest.mark.slow
def test_an_undisturbed_run_decides_as_the_library_does(database_url: str) -> None:
    outcome = run(database_url, web=web_for(database_url), n_items=30, n_workers=5)
    assert_sound(outcome, 30, 5)


def test_votes_and_decisions_survive_kills_of_web_and_job_processes(database_url: str) -> None:
    outcome = run(
        database_url, web=web_for(database_url), n_items=ITEMS, n_workers=WORKERS, kills=3, vanish=0.02
    )
    assert outcome.kills == {"web": 3, "jobs": 3}
    assert_sound(outcome, ITEMS, WORKERS)
