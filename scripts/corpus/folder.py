"""A folder of the corpus: files as a program wrote them, the votes that are in them, and what they are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[2] / "tests" / "io" / "corpus"
RUN = "by running it"
DOCUMENTED = "after its documentation"
Vote = tuple[Any, Any, Any]


def write_folder(
    name: str, files: Mapping[str, bytes], votes: Iterable[Vote], about: Mapping[str, Any]
) -> None:
    """Replace a folder.

    `about` has the program, its version, how the file was made (`RUN` or `DOCUMENTED`) and, where they are
    needed, `options` of `crowdpilot.read`, `refused` (part of the sentence, whatever the options) or
    `refused_without_options`.
    """
    folder = CORPUS / name
    shutil.rmtree(folder, ignore_errors=True)
    for file, content in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    rows = ",\n".join(json.dumps(list(vote), ensure_ascii=False) for vote in votes)
    (folder / "votes.json").write_text(f"[\n{rows}\n]\n" if rows else "[]\n", "utf-8")
    read = next(iter(files)).partition("/")[0]
    text = json.dumps({"file": read, **about}, indent=2, ensure_ascii=False)
    (folder / "about.json").write_text(text + "\n", "utf-8")
