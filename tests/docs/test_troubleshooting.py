"""The sentences on the page about errors are those of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from docs.hooks.code_map import PACKAGE, ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
QUOTED = re.findall(r"^\*\*`(.+)`\*\*$", PAGE, re.MULTILINE)


@cache
def texts_by_file() -> tuple[str, ...]:
    """All texts of each module, with … where a value is put in."""
    return tuple("\n".join(texts(ast.parse(path.read_text()))) for path in PACKAGE.rglob("*.py"))


def texts(module: ast.Module) -> Iterator[str]:
    """The texts of a module."""
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def is_in_code(quoted: str) -> bool:
    """Whether a module has all the words between what differs."""
    parts = [part.strip(" ,;:()") for part in quoted.split("…")]
    words = [part for part in parts if len(part) > 2]
    return any(all(part in text for part in words) for text in texts_by_file())


@pytest.mark.parametrize("quoted", QUOTED)
def test_a_sentence_of_the_page_is_one_of_the_code(quoted: str) -> None:
    assert is_in_code(quoted)


def test_a_sentence_that_nobody_says_is_found() -> None:
    assert len(QUOTED) > 30
    assert not is_in_code("the moon is … made of cheese")
