"""The README as the description of the package: elsewhere, its links into the tree must lead back here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HOME = "https://github.com/crowdpilot/crowdpilot"
BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!\[[^\]]*)?\]\((?![a-z]+:|#)")  # up to a target that is a path


class Readme(MetadataHookInterface):
    """Gives the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text)}


def absolute(text: str) -> str:
    """The same text, with addresses in the place of paths."""
    parts = BLOCK.split(text)
    return "".join(part if n % 2 else LINK.sub(_address, part) for n, part in enumerate(parts))


def _address(link: re.Match[str]) -> str:
    return f"{link[0]}{HOME}/{'raw' if link[1] else 'blob'}/main/"
