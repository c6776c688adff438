"""The fenced blocks of a page, with their options; blocks in an HTML comment are run and not shown."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?P<indent>[ ]*)(?P<fence>```+)[ ]*(?P<language>[\w+-]*)(?P<options>[^\n`]*)\n"
    r"(?P<code>.*?)"
    r"^(?P=indent)(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
OPTION = re.compile(r'(\w+)(?:="([^"]*)")?')
OPTIONS = {"title", "server", "quiet", "fails", "peer"}


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Parameters
    ----------
    language
        The first word after the fence.
    options
        `title="votes.csv"` writes the block to this file, or is the file that a diff changes;
        `server="http://…"` leaves the command running and waits until the address answers; `fails` says
        that the block must fail; `quiet` shows no output; `peer` runs it where other libraries live.
    code
        The lines between the fences, without their indentation.
    start, end
        The place of the block in the text of the page; of the comment that holds it, if one does.
    indent
        The blanks before the fence.
    hidden
        Whether it is in a comment.
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
        """Whether it makes or changes a file."""
        return "title" in self.options

    @property
    def is_run(self) -> bool:
        """Whether it is executed or written to a file."""
        return self.is_file or self.language in ("python", "sh")


def blocks(text: str) -> list[Block]:
    """All blocks of a page in their order; an option that is not known is an error."""
    comments = [match.span() for match in COMMENT.finditer(text)]
    found = []
    for match in FENCE.finditer(text):
        around = next((span for span in comments if span[0] <= match.start() < span[1]), None)
        options = dict(OPTION.findall(match["options"]))
        if unknown := options.keys() - OPTIONS:
            raise ValueError(f"a {match['language']} block has the unknown option {min(unknown)!r}")
        code, indent = textwrap.dedent(match["code"]), match["indent"]
        span = around or match.span()
        found.append(Block(match["language"], options, code, *span, indent, around is not None))
    return found


def prose(text: str) -> str:
    """A page without its blocks, its comments and what stands between backticks."""
    return re.sub(r"`[^`\n]+`", " ", COMMENT.sub(" ", FENCE.sub("\n", text)))
