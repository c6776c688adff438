"""Names that differ only in how they are written: `yes` and `Yes`, `1` and `1.0`, blanks around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from crowdpilot.arrays import Names
from crowdpilot.io.numbers_and_times import number_text
from crowdpilot.names import Encoded, to_names

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
MAX_NAMED_GROUPS = 3


def label_key(name: Any) -> Any:
    """What the spellings of one label share: its number, or its letters without case and extra blanks.

    Examples
    --------
    >>> label_key(" Yes"), label_key("1.0"), label_key("no  idea")
    ('yes', '1', 'no idea')
    """
    if not isinstance(name, str):
        return name
    text = " ".join(name.split()) or name
    return number_text(float(text)) if NUMBER.fullmatch(text) else text.casefold()


def blank_key(name: Any) -> Any:
    """The same for names of tasks and workers, of which only blanks around them are ignored."""
    return name.strip() or name if isinstance(name, str) else name


def spellings(
    encoded: Encoded, key: Callable[[Any], Any], known: Collection[str] = ()
) -> dict[str, list[str]]:
    """Groups of names that share a key: the name that is kept, and the others.

    Parameters
    ----------
    encoded
        Codes and names; of a group, the most frequent one is kept.
    key
        What similar names share.
    known
        Names that are right as they are: they stay apart from each other, and others join them.
    """
    if encoded.names.dtype != object:
        return {}
    groups: dict[Any, list[int]] = {}
    for n, name in enumerate(encoded.names.tolist()):
        groups.setdefault(key(name), []).append(n)
    if len(groups) == len(encoded.names):
        return {}
    counts = np.bincount(encoded.codes[encoded.codes >= 0], minlength=len(encoded.names))
    found = {}
    for members in groups.values():
        right = [n for n in members if str(encoded.names[n]) in known]
        kept = right[0] if right else max(members, key=lambda n: (counts[n], -n))
        if others := [encoded.names[n] for n in members if n != kept and n not in right]:
            found[encoded.names[kept]] = others
    return found


def merge(encoded: Encoded, groups: Mapping[str, Sequence[str]]) -> Encoded:
    """The same with each group under one name."""
    if not groups:
        return encoded
    kept = renaming(groups)
    names = [kept.get(name, name) for name in encoded.names.tolist()]
    position = {name: n for n, name in enumerate(dict.fromkeys(names))}
    code = np.asarray([*(position[name] for name in names), -1], np.int32)
    return Encoded(code[encoded.codes], to_names(list(position)))


def renaming(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The name that is kept, by each of the others."""
    return {other: kept for kept, others in groups.items() for other in others}


def quoted(groups: Mapping[str, Sequence[str]]) -> str:
    """The groups, for a sentence."""
    shown = [
        f"{', '.join(map(repr, others))} as {kept!r}"
        for kept, others in list(groups.items())[:MAX_NAMED_GROUPS]
    ]
    more = len(groups) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def without(encoded: Encoded, keys: Collection[str]) -> tuple[Encoded, int]:
    """The same without names of some keys, and in how many rows they stood."""
    listed: Names = encoded.names
    gone = np.asarray([label_key(str(name)) in keys for name in listed.tolist()], bool)
    if not gone.any():
        return encoded, 0
    code = np.full(len(listed) + 1, -1, np.int32)
    code[:-1][~gone] = np.arange((~gone).sum())
    kept = Encoded(code[encoded.codes], listed[~gone])
    return kept, int((encoded.codes >= 0).sum() - (kept.codes >= 0).sum())
