"""Sight: what a machine that learns sees of items, and what learns from it.

Whatever has to be known to see (words and how rare they are, how bright images are) is taken from the
first upload, so that a mirror that is made anew sees the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.arrays import Floats
from crowdpilot.hybrid import LogisticRegression
from crowdpilot.service.jobs import thumbnails
from crowdpilot.service.store import items
from crowdpilot.service.store.engine import Row

Encode = Callable[[list[str]], Any]
Contents = Sequence[dict[str, Any]]

MOST = 20_000  # texts from which words are learned
FEW = 200  # texts of a first upload that are too few to learn words from
SLOW = 2_000  # texts of a first upload up to which the better and slower encoder is used
PORTION = 256  # texts that are encoded at once
MISSING = "training needs more packages; run pip install 'crowdpilot[learn]'"
NO_FILES = "a machine cannot see images that are only addresses; upload the files instead"


class Blind(Exception):
    """Why a machine cannot learn from the items of a project, in one sentence."""


class Sight(NamedTuple):
    """What learns, and what it sees of new items."""

    classifier: list[LogisticRegression]
    eye: Callable[[Connection, Sequence[Row]], Any]


def open_sight(c: Connection, project: Row) -> Sight:
    """The sight that a project wants; `Blind` if there is none."""
    first = [row.content for row in items.first_upload(c, project.id)]
    if not first:
        raise Blind("there are no items to learn from yet")
    try:
        return _of_texts(project, first) if _are_texts(first) else _of_images(c, project, first)
    except ImportError as error:
        raise Blind(MISSING) from error
    except ValueError as error:  # the encoder says which package it needs
        raise Blind(str(error)) from error


def _are_texts(contents: Contents) -> bool:
    return 2 * sum(bool(content.get("text", "").strip()) for content in contents) >= len(contents)


def _of_texts(project: Row, first: Contents) -> Sight:
    make = _words if project.spec["machine"] == "tfidf" else _sentences
    encode = make(_texts(first))

    def eye(c: Connection, group: Sequence[Row]) -> Any:
        return encode(_texts(_contents(c, group)))

    return Sight([LogisticRegression(0.1), LogisticRegression(0.3), LogisticRegression(1.0)], eye)


def _texts(contents: Contents) -> list[str]:
    return [content.get("text", "") for content in contents]


def _contents(c: Connection, group: Sequence[Row]) -> Contents:
    found = items.contents(c, [item.id for item in group])
    return [found[item.id] for item in group]


def _words(first: list[str]) -> Encode:
    """TF-IDF; for a small first upload, words by their hashes, of which nothing must be learned."""
    from crowdpilot.learning.encoders.text_hashing import hash_texts
    from crowdpilot.learning.encoders.tfidf import Tfidf

    if len(first) < FEW:
        return hash_texts
    try:
        return Tfidf().fit(first[:MOST])
    except ValueError:  # hardly a word occurs twice
        return hash_texts


def _sentences(first: list[str]) -> Encode:
    """A small network for sentences; for many texts one that is less good and much faster."""
    import torch

    from crowdpilot.learning.encoders.minilm import minilm
    from crowdpilot.learning.encoders.wordllama import wordllama

    encode = (minilm if len(first) <= SLOW else wordllama)(torch.device("cpu"))

    def encoded(texts: list[str]) -> Floats:
        parts = [texts[n : n + PORTION] for n in range(0, len(texts), PORTION)]
        return np.concatenate([np.asarray(encode(part), np.float32) for part in parts]).astype(np.float64)

    return encoded


def _of_images(c: Connection, project: Row, first: Contents) -> Sight:
    seen = thumbnails.read(c, project.id, first[:MOST])
    if 2 * np.isfinite(seen).all(axis=1).sum() < len(seen):
        raise Blind(NO_FILES)
    middle, spread = np.nanmean(seen, axis=0), float(np.nanstd(seen)) or 1.0

    def eye(c: Connection, group: Sequence[Row]) -> Floats:
        rows = thumbnails.read(c, project.id, _contents(c, group))
        seen: Floats = np.nan_to_num((rows - middle) / spread)  # what cannot be seen is like the average
        return seen

    return Sight([LogisticRegression(10.0), LogisticRegression(100.0)], eye)
