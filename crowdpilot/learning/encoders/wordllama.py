"""Means of word vectors whose weights come with their package, without torch."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from crowdpilot.learning.networks.quiet_import import same_logging


def wordllama(device: torch.device) -> Callable[[list[str]], Any]:
    """The function from texts to 256 features each: the mean of vectors distilled from large language models.

    It takes no account of the order of words, and is about fifty times as fast as minilm.

    References
    ----------
    Miller, WordLlama: recycled token embeddings from large language models, 2024.
    https://github.com/dleemiller/wordllama
    """
    try:
        with same_logging():
            package = import_module("wordllama")
    except ImportError as error:
        raise ValueError("wordllama needs its package: pip install 'crowdpilot[text]'") from error
    home = Path(str(package.__file__)).parent  # its own loader looks for the tokenizer beside the folder
    encoder = package.WordLlama.load(cache_dir=home, disable_download=True)
    return lambda texts: encoder.embed(texts, norm=False)
