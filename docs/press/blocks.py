"""The blocks of a page: what stands between its fences."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?P<indent>[ ]*)(?P<fence>```+)[ ]*(?P<language>[\w+-]*)(?P<options>[^\n`]*)\n"
    r"(?P<code>.*?)"
    r"^(?P=indent)(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
OPTION = re.compile(r'(\w+)(?:="([^"]*)")?')
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FILES = (
    "csv",
    "json",
    "jsonl",
    "toml",
    "yaml",
    "txt",
    "python",
    "html",
)  # written to the folder if they have a title
RUN = ("python", "sh", "console")
FLAGS = {"title", "server", "quiet", "fails", "peer", "hl_lines", "linenums"}


@dataclass(frozen=True)
class Block:
    """What stands between two fences.

    Parameters
    ----------
    language
        The first word after the fence.
    options
        The others: `title="votes.csv"` is an option with a value, `quiet` one without.
    code
        The lines between, without their indentation.
    start, end
        Where the block stands in the text of the page, fences included.
    indent
        The blanks before the fence.
    hidden
        It stands in a comment: it is run and not shown.
    """

    language: str
    options: dict[str, str]
    code: str
    start: int
    end: int
    indent: str = ""
    hidden: bool = False

    @property
    def is_file(self) -> bool:
        """Whether it is the content of a file that the next blocks find in their folder."""
        return self.language in FILES and "title" in self.options

    @property
    def is_run(self) -> bool:
        """Whether it is executed."""
        return self.language in RUN and not self.is_file


def blocks(text: str) -> list[Block]:
    """All blocks of a page in their order."""
    comments = [match.span() for match in COMMENT.finditer(text)]
    return [
        Block(
            match["language"],
            dict(OPTION.findall(match["options"])),
            textwrap.dedent(match["code"]),
            *match.span(),
            match["indent"],
            any(start <= match.start() < end for start, end in comments),
        )
        for match in FENCE.finditer(text)
    ]


def check(found: Sequence[Block]) -> None:
    """Raise if a block has an option that nobody knows, which is most likely a slip."""
    for block in found:
        if block.is_run and (unknown := block.options.keys() - FLAGS):
            raise ValueError(f"a {block.language} block has the option {min(unknown)!r}, which is not known")


def prose(text: str) -> str:
    """A page without its blocks, its comments and what stands between backticks."""
    return re.sub(r"`[^`\n]+`", " ", COMMENT.sub(" ", FENCE.sub("\n", text)))
