"""Lines above the header of a text that are no part of its table: comments, and Excel's `sep=;`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from crowdpilot.io.inference.column_names import WEAK_ALIASES, candidates, is_known
from crowdpilot.io.source import DELIMITERS, Source

COMMENT = "#"
SEPARATOR = re.compile(rf"sep=([{re.escape(DELIMITERS)}])", re.IGNORECASE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def without_comments(source: Source) -> Source:
    """The source with empty lines in place of comments above the header; what was left out is noted."""
    if source.members or source.path.is_dir() or not source.start.startswith((COMMENT, "sep=", "SEP=")):
        return source
    lines = source.start.splitlines()
    if separator := SEPARATOR.fullmatch(lines[0].strip()):
        return replace(_blanked(source, 1), known_delimiter=separator[1])
    count = _count_comments(lines)
    if not count:
        return source
    which = "line begins" if count == 1 else f"{count} lines begin"
    source.notes.append(f"the first {which} with {COMMENT} and {'is' if count == 1 else 'are'} not read")
    return _blanked(source, count)


def _count_comments(lines: Sequence[str]) -> int:
    """How many lines are comments; the last one with `#` is none if it is the header of what follows."""
    count = next((n for n, line in enumerate(lines) if line.strip() and line[0] != COMMENT), len(lines))
    if count == len(lines):
        return 0
    last, first = lines[count - 1], lines[count]
    is_header = any(last.count(mark) == first.count(mark) > 0 for mark in DELIMITERS)
    return count - 1 if is_header and not _has_names(first) else count


def _has_names(line: str) -> bool:
    """Whether a field is called as columns are."""
    names = [name.strip(' "') for name in re.split(rf"[{re.escape(DELIMITERS)}]", line)]
    return any(map(is_known, names)) or any(candidates(names, role, WEAK_ALIASES) for role in WEAK_ALIASES)


def _blanked(source: Source, count: int) -> Source:
    """The first lines emptied, so that all others keep their number."""
    with source.open() as stream:
        content = bytes(stream.read()).removeprefix(BYTE_ORDER_MARK)
    blank = len(content) - len(content.lstrip(b"\r\n"))
    lines = content[blank:].splitlines(keepends=True)
    ends = [line[len(line.rstrip(b"\r\n")) :] for line in lines[:count]]
    return replace(source, content=content[:blank] + b"".join([*ends, *lines[count:]]), encoding="utf-8")
