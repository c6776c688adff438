"""Answers of the labelling page: the key, colour and description of each class; what an item may show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import ascii_lowercase, digits
from typing import Any, NamedTuple

from crowdpilot.service.schemas.project import RESERVED_KEYS

KEYS = "".join(key for key in digits + ascii_lowercase if key not in RESERVED_KEYS)
MAX_CLASSES_WITHOUT_SEARCH = 9


class AnswerButton(NamedTuple):
    """A class as workers see it."""

    name: str
    key: str  # that answers with it; empty where there are too many classes
    color: str  # `#rrggbb`, or empty
    description: str


def answer_buttons(spec: Mapping[str, Any]) -> list[AnswerButton]:
    """The classes of a project with their keys: those of the project, then 1 to 9, then letters.

    Examples
    --------
    >>> spec = {"classes": ["cat", "dog"], "class_details": {"cat": {"key": "2"}}}
    >>> [button.key for button in answer_buttons(spec)]
    ['2', '1']
    """
    details = [spec["class_details"].get(name, {}) for name in spec["classes"]]
    chosen = [detail.get("key", "").casefold() for detail in details]
    free = _free_keys({*chosen})
    return [
        AnswerButton(
            name, key or next(free, ""), detail.get("color", ""), detail.get("description", "").strip()
        )
        for name, key, detail in zip(spec["classes"], chosen, details, strict=True)
    ]


def _free_keys(taken: set[str]) -> Iterator[str]:
    return (key for key in KEYS if key not in taken)


def item_data(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What templates of items, answers and instructions need of a project."""
    buttons = answer_buttons(spec)
    return {
        "answers": buttons,
        "described": [button for button in buttons if button.description],
        "searched": len(buttons) > MAX_CLASSES_WITHOUT_SEARCH,
        **{name: spec[name] for name in ("pictures", "markdown", "comments", "flags")},
    }
