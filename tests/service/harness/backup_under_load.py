"""A backup by the real command while a crowd labels, its restoration, and what has to be in it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlalchemy import func, select, text

from crowdpilot.service.store import Store
from crowdpilot.service.store.tables import items, votes, workers
from tests.service.harness.fault_crowd import Crowd, Outcome, library_decisions, read_tables
from tests.service.harness.service import SECRET

COMMAND_SECONDS = 120.0  # that a backup or a restore may take


def crowdpilot(*args: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "crowdpilot", *args],
        text=True,
        stderr=subprocess.PIPE,
        env={**os.environ, "CROWDPILOT_SECRET": SECRET},
    )


@dataclass
class BackupUnderLoad:
    """A backup that is taken in the middle of a run.

    Parameters
    ----------
    url
        The database of the run.
    file
        To which the backup is written.
    """

    url: str
    file: Path
    acknowledged: dict[tuple[str, int], int] = field(default_factory=dict)  # before the command started
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, crowd: Crowd) -> None:
        """Start the command."""
        self.acknowledged = dict(crowd.acknowledged)
        self.processes.append(crowdpilot("backup", str(self.file), "--database", self.url))

    def restore(self, url: str) -> None:
        """Restore it into another database, by the real command."""
        (process,) = self.processes
        for each in (process, crowdpilot("restore", str(self.file), "--database", url)):
            _, said = each.communicate(timeout=COMMAND_SECONDS)
            assert each.returncode == 0, said

    def assert_sound(self, url: str, outcome: Outcome, n_items: int, n_workers: int) -> int:
        """The restored database has all votes of before once, and decides as the library; how many votes."""
        store = Store(url)
        row, table, campaign = read_tables(store, outcome.project, outcome.number)
        assert set(table.values()) == {1}
        found = {(item, worker): label for item, worker, label in table}
        assert len(found) == len(table) == row.votes
        lost = {vote for vote, label in self.acknowledged.items() if found.get(vote) != label}
        assert lost == set()
        assert found.items() <= outcome.crowd.sent.items(), "a vote that nobody sent"
        _assert_references(store)
        campaign.refit()
        ours, library = campaign.decide(), library_decisions(n_items, n_workers, table)
        assert ours.items.tolist() == library.items.tolist()
        assert ours.labels.tolist() == library.labels.tolist()
        np.testing.assert_allclose(ours.probs, library.probs, atol=1e-9)
        store.close()
        return len(found)


def _assert_references(store: Store) -> None:
    """Every vote has its item and its worker; SQLite finds nothing wrong with its file."""
    with store.reading() as c:
        whole = votes.join(items, votes.c.item == items.c.id).join(workers, votes.c.worker == workers.c.id)
        counts = [c.execute(select(func.count()).select_from(part)).scalar_one() for part in (votes, whole)]
        assert counts[0] == counts[1] > 0
        if store.sqlite:
            assert c.execute(text("PRAGMA foreign_key_check")).all() == []
            assert c.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
