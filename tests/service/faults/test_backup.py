"""A backup taken while a crowd votes and processes are killed has all that was acknowledged before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.faults.test_kills import ITEMS, WORKERS, assert_sound, web_for
from tests.service.harness.backup_under_load import BackupUnderLoad
from tests.service.harness.fault_crowd import go_on, run
from tests.service.harness.service import sqlite_url

pytestmark = pytest.mark.thorough  # starts and kills processes


@pytest.fixture
def other_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of another new database of the same kind."""
    if database_url.startswith("sqlite"):
        yield sqlite_url(tmp_path)
    else:
        with request.getfixturevalue("postgres").database() as address:
            yield address


def test_a_backup_under_load_has_every_vote_of_before_and_the_crowd_goes_on_with_it(
    database_url: str, other_url: str, tmp_path: Path
) -> None:
    web = web_for(database_url)
    backup = BackupUnderLoad(database_url, tmp_path / "backup")
    outcome = run(
        database_url, web=web, n_items=ITEMS, n_workers=WORKERS, kills=3, vanish=0.02,
        in_the_middle=backup.start,
    )  # fmt: skip
    assert_sound(outcome, ITEMS, WORKERS)
    backup.restore(other_url)
    n_votes = backup.assert_sound(other_url, outcome, ITEMS, WORKERS)
    assert 0 < len(backup.acknowledged) <= n_votes <= ITEMS * WORKERS
    assert_sound(go_on(other_url, outcome, web=web), ITEMS, WORKERS)


@pytest.mark.slow
def test_50_kills_of_each_lose_nothing_and_a_backup_in_the_middle_has_all_of_before(
    database_url: str, other_url: str, tmp_path: Path
) -> None:
    n_items, n_workers, web = 400, 20, web_for(database_url)
    backup = BackupUnderLoad(database_url, tmp_path / "backup")
    outcome = run(
        database_url, web=web, n_items=n_items, n_workers=n_workers, kills=50, pause=(0.3, 1.5),
        vanish=0.02, seed=1, seconds=3600, in_the_middle=backup.start,
    )  # fmt: skip
    crowd = outcome.crowd
    print(
        f"\n{database_url.split(':')[0]}: {len(crowd.acknowledged)} votes acknowledged, "
        f"kills {outcome.kills}, "
        f"{crowd.again} requests sent again, {crowd.vanished} vanished, {outcome.seconds:.0f} s"
    )
    assert outcome.kills == {"web": 50, "jobs": 50}
    assert_sound(outcome, n_items, n_workers)
    backup.restore(other_url)
    n_votes = backup.assert_sound(other_url, outcome, n_items, n_workers)
    print(f"{len(backup.acknowledged)} votes acknowledged before the backup, {n_votes} votes in it")
    assert 0 < len(backup.acknowledged) <= n_votes
    assert_sound(go_on(other_url, outcome, web=web, seconds=3600), n_items, n_workers)
