"""Files of the corpus as layouts: text that programs have written, with the votes that are in it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.io.mutated.crowd import FIRST_TIME, Vote
from tests.io.mutated.draft import Draft

CORPUS = Path(__file__).parents[1] / "corpus"


@cache
def readable() -> tuple[Path, ...]:
    """The folders with one text file in UTF-8 that is read."""
    return tuple(
        sorted(path.parent for path in CORPUS.glob("*/about.json") if _text(path.parent) is not None)
    )


def real(random: Random) -> Draft:
    """A file of the corpus."""
    folder = random.choice(readable())
    about = _about(folder)
    rows = json.loads((folder / "votes.json").read_text("utf-8"))
    votes = [Vote(str(t), str(w), str(c), FIRST_TIME + n) for n, (t, w, c) in enumerate(rows)]
    return Draft(
        f"corpus, {about['program']}", votes=[votes], text=_text(folder), kind="text",
        suffix=Path(about["file"]).suffix, options=about.get("options", {}), is_real=True,
    )  # fmt: skip


def _about(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "about.json").read_text("utf-8")))


def _text(folder: Path) -> str | None:
    about = _about(folder)
    path = folder / about["file"]
    if "refused" in about or not path.is_file() or path.suffix not in (".csv", ".tsv", ".json", ".jsonl"):
        return None
    try:
        return str(path.read_bytes(), "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
