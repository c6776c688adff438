"""WordLlama: means of word vectors whose weights come with their package, without torch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from crowdpilot.optional_packages import load


def wordllama(device: torch.device) -> Callable[[list[str]], Any]:
    """A function from texts to (texts, 256): the mean of word vectors distilled from large language models.

    The order of words is ignored. It is about fifty times as fast as minilm.

    References
    ----------
    Miller, WordLlama: recycled token embeddings from large language models, 2024.
    https://github.com/dleemiller/wordllama
    """
    with root_logger_unchanged():
        package = load("wordllama", "wordllama")
    home = Path(str(package.__file__)).parent  # its own loader looks for the tokenizer beside the folder
    encoder = package.WordLlama.load(cache_dir=home, disable_download=True)
    return lambda texts: encoder.embed(texts, norm=False)


@contextmanager
def root_logger_unchanged() -> Iterator[None]:
    """A context after which the root logger is as before, even if an import changes it."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
