"""Features of items for a classifier that the service trains: TF-IDF, sentence embeddings, or thumbnails.

What a featurizer is fitted to (words and their document frequencies, the mean image) is taken from the first
upload, so that a replica that is read again from the tables has the same features.
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

MAX_FITTED_ITEMS = 20_000  # to which TF-IDF or the mean image is fitted
MIN_TFIDF_TEXTS = 200  # of the first upload; with fewer, words are hashed
MAX_MINILM_TEXTS = 2_000  # of the first upload; with more, a faster and less accurate encoder is used
TEXTS_PER_BATCH = 256  # that are encoded at once
MISSING_PACKAGES = "training needs more packages; run pip install 'crowdpilot[learn]'"
NO_FILES = "a machine cannot see images that are only addresses; upload the files instead"


class CannotTrainError(Exception):
    """Why no classifier can be trained on the items of a project, in one sentence."""


class Training(NamedTuple):
    """The classifiers to choose from, and what makes features from rows of new items."""

    classifier: list[LogisticRegression]
    featurizer: Callable[[Connection, Sequence[Row]], Any]


def open_featurizer(c: Connection, project: Row) -> Training:
    """Fit the featurizer of a project to its first upload; `CannotTrainError` if that is not possible."""
    contents = [row.content for row in items.first_upload(c, project.id)]
    if not contents:
        raise CannotTrainError("there are no items to learn from yet")
    try:
        return _for_texts(project, contents) if _are_texts(contents) else _for_images(c, project, contents)
    except ValueError as error:  # the encoder says which package it needs
        raise CannotTrainError(str(error)) from error
    except ImportError as error:
        raise CannotTrainError(MISSING_PACKAGES) from error


def _are_texts(contents: Contents) -> bool:
    return 2 * sum(bool(content.get("text", "").strip()) for content in contents) >= len(contents)


def _for_texts(project: Row, first_upload: Contents) -> Training:
    fit = _tfidf if project.spec["machine"] == "tfidf" else _sentence_encoder
    encode = fit(_texts(first_upload))

    def featurizer(c: Connection, rows: Sequence[Row]) -> Any:
        return encode(_texts(_contents(c, rows)))

    return Training([LogisticRegression(0.1), LogisticRegression(0.3), LogisticRegression(1.0)], featurizer)


def _texts(contents: Contents) -> list[str]:
    return [content.get("text", "") for content in contents]


def _contents(c: Connection, rows: Sequence[Row]) -> Contents:
    by_id = items.contents(c, [row.id for row in rows])
    return [by_id[row.id] for row in rows]


def _tfidf(texts: list[str]) -> Encode:
    """TF-IDF fitted to these texts; hashed words, which need no fit, if they are few."""
    from crowdpilot.learning.encoders.text_hashing import hash_texts
    from crowdpilot.learning.encoders.tfidf import Tfidf

    if len(texts) < MIN_TFIDF_TEXTS:
        return hash_texts
    try:
        return Tfidf().fit(texts[:MAX_FITTED_ITEMS])
    except ValueError:  # hardly a word occurs twice
        return hash_texts


def _sentence_encoder(texts: list[str]) -> Encode:
    """Sentence embeddings of MiniLM; for many texts of WordLlama, which is less accurate and much faster."""
    import torch

    from crowdpilot.learning.encoders.sentence_encoder import minilm
    from crowdpilot.learning.encoders.word_vectors import wordllama

    encode = (minilm if len(texts) <= MAX_MINILM_TEXTS else wordllama)(torch.device("cpu"))

    def encode_in_batches(texts: list[str]) -> Floats:
        batches = [texts[n : n + TEXTS_PER_BATCH] for n in range(0, len(texts), TEXTS_PER_BATCH)]
        return np.concatenate([np.asarray(encode(batch), np.float32) for batch in batches]).astype(np.float64)

    return encode_in_batches


def _for_images(c: Connection, project: Row, first_upload: Contents) -> Training:
    pixels = thumbnails.read(c, project.id, first_upload[:MAX_FITTED_ITEMS])
    if 2 * np.isfinite(pixels).all(axis=1).sum() < len(pixels):
        raise CannotTrainError(NO_FILES)
    mean, scale = np.nanmean(pixels, axis=0), float(np.nanstd(pixels)) or 1.0

    def featurizer(c: Connection, rows: Sequence[Row]) -> Floats:
        pixels = thumbnails.read(c, project.id, _contents(c, rows))
        features: Floats = np.nan_to_num((pixels - mean) / scale)  # a missing image is the mean image
        return features

    return Training([LogisticRegression(10.0), LogisticRegression(100.0)], featurizer)
