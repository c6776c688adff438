"""Frozen encoders that turn texts into features: one file each, one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crowdpilot.learning.encoders.sentence_encoder import minilm
from crowdpilot.learning.encoders.text_hashing import hash_texts
from crowdpilot.learning.encoders.tfidf import Tfidf
from crowdpilot.learning.encoders.word_vectors import wordllama

ENCODERS: dict[str, Callable[..., Callable[[list[str]], Any]]] = {"wordllama": wordllama, "minilm": minilm}
FITTED_ENCODERS = {"tfidf": Tfidf}  # which are fitted to the training texts

__all__ = ["ENCODERS", "FITTED_ENCODERS", "Tfidf", "hash_texts", "minilm", "wordllama"]
