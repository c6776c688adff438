"""Keys of the classes: which key, or which typed word, gives which label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

SKIP, UNDO, QUIT = "s", "u", "q"
COMMANDS = {SKIP: "skip", UNDO: "undo", QUIT: "quit"}
DIGITS = "123456789"


@dataclass(frozen=True)
class ClassKeys:
    """The key of each class, in their order, and further words that mean one; all in small letters.

    Parameters
    ----------
    keys
        One for each class.
    words
        The number of the class that a key or a word means.
    single
        Whether every key is one character, so that no Enter is needed.
    """

    keys: tuple[str, ...]
    words: dict[str, int]
    single: bool

    def find(self, typed: str) -> int | None:
        """The number of the class that was meant; None if it is none."""
        return self.words.get(typed.strip().casefold())


def class_keys(classes: Sequence[str]) -> ClassKeys:
    """Keys for classes: names of one character themselves, else 1 to 9 and letters; words if that confuses.

    Examples
    --------
    >>> class_keys(["bird", "fish"]).keys, class_keys(["0", "1"]).keys
    (('1', '2'), ('0', '1'))
    >>> class_keys(["bird", "fish"]).find("F")
    1
    """
    names = [name.casefold() for name in classes]
    usual = [*DIGITS, *(letter for letter in ascii_lowercase if letter not in COMMANDS)]
    if _are_keys(names):
        keys = names
    elif any(name.isdigit() for name in names) or len(names) > len(usual):
        return ClassKeys(tuple(names), {name: k for k, name in enumerate(names)}, single=False)
    else:
        keys = usual[: len(names)]
    first = [name[:1] for name in names]
    words = {name: k for k, name in enumerate(names) if name not in COMMANDS}
    if len(names) <= len(DIGITS) and _are_keys(first):
        words |= {letter: k for k, letter in enumerate(first)}
    return ClassKeys(tuple(keys), words | {key: k for k, key in enumerate(keys)}, single=True)


def _are_keys(names: Sequence[str]) -> bool:
    """Whether all are different single characters without another meaning."""
    are_single = all(len(name) == 1 and name.isprintable() and not name.isspace() for name in names)
    return are_single and len(set(names)) == len(names) and not set(names) & COMMANDS.keys()
