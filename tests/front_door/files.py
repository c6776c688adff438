"""The files that newcomers have."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

VOTES = """\
task,worker,label
owl,ann,bird
owl,bob,bird
owl,cem,fish
eel,ann,fish
eel,bob,fish
eel,cem,bird
emu,ann,bird
emu,bob,bird
emu,cem,bird
"""  # those of the README
TRUTH = "task,label\nowl,bird\neel,fish\nemu,bird\n"
ANSWERS = {"0": {"0": 0, "1": 0, "2": 1}, "1": {"0": 1, "1": 1, "2": 0}, "2": {"0": 0, "1": 0, "2": 0}}


def write_votes() -> None:
    """`votes.csv` and `truth.csv` of the README."""
    Path("votes.csv").write_text(VOTES)
    Path("truth.csv").write_text(TRUTH)


def write_peerannot_folder() -> None:
    """The same votes, also in the layout of peerannot."""
    write_votes()
    Path("answers.json").write_text(json.dumps(ANSWERS))
    Path("metadata.json").write_text(json.dumps({"name": "animals", "n_classes": 2, "n_task": 3}))


def write_reviews() -> None:
    """Sixty reviews of which forty have two votes, with a classifier's probabilities and features of all."""
    rng = np.random.default_rng(0)
    truth = rng.random(60) < 0.4
    yes = 1 / (1 + np.exp(-rng.normal(np.where(truth, 1.5, -1.5), 1.5)))
    items = [f"review{i:02}" for i in range(60)]
    write_rows("items.csv", "item,text", ((i, f"text of {i}") for i in items))
    write_rows("truth.csv", "item,label", zip(items, np.where(truth, "yes", "no"), strict=True))
    write_rows("probs.csv", "item,no,yes", zip(items, (1 - yes).round(4), yes.round(4), strict=True))
    said = np.where((rng.random((60, 4)) < 0.8) == truth[:, None], "yes", "no")
    pairs = [(i, j) for i in range(40) for j in sorted(rng.choice(4, 2, replace=False))]
    write_rows("votes.csv", "item,worker,label", ((items[i], f"w{j}", said[i, j]) for i, j in pairs))
    np.save("X.npy", np.c_[yes, rng.normal(size=(60, 2))])


def write_rows(path: str, header: str, rows: Iterable[Iterable[object]]) -> None:
    """A CSV file."""
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    Path(path).write_text("\n".join(lines) + "\n")
