"""The table of the corpus, in its README: `python -m scripts.corpus.overview` writes it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from scripts.corpus.folder import CORPUS, RUN

README = CORPUS / "README.md"
TEXT = """# Files with votes, as programs write them

Each folder has a file as a program wrote it, `votes.json` with the votes that are in it, and `about.json`:
which program, which version, and whether the file was made by running it or after its documentation, with
options that are needed to read it (`options`) or a part of the sentence that refuses it (`refused`). Votes
are known because the scripts in `scripts/corpus` have given them. Names and texts are invented.
`make corpus` writes the files anew.

"""


def table() -> str:
    """The text of the README: programs, how their files were made, and what is in them."""
    groups: dict[tuple[str, str, str], list[Path]] = defaultdict(list)
    for path in sorted(CORPUS.glob("*/about.json")):
        said = _json(path)
        made = "by running it" if said["made"] == RUN else "documented"
        groups[said["program"], said.get("version", ""), made].append(path.parent)
    rows = [
        _row(*key, folders) for key, folders in sorted(groups.items(), key=lambda item: item[0][0].lower())
    ]
    folders = [folder for group in groups.values() for folder in group]
    header = (
        "| program | version | made | files | refused | votes |\n| --- | --- | --- | ---: | ---: | ---: |\n"
    )
    return TEXT + header + "".join(rows) + _row("all", "", "", folders)


def _row(program: str, version: str, made: str, folders: list[Path]) -> str:
    refused = sum("refused" in _json(folder / "about.json") for folder in folders)
    votes = sum(len(_json(folder / "votes.json")) for folder in folders)
    return f"| {program} | {version} | {made} | {len(folders)} | {refused} | {votes} |\n"


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


if __name__ == "__main__":
    README.write_text(table(), "utf-8")
