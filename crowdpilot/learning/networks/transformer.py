"""Any sequence classifier of transformers, trained with all its weights."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from crowdpilot.learning.networks.quiet_import import quiet

LENGTH = 256  # tokens
PART = 64  # texts at a time when nothing is learned


class Transformer(nn.Module):
    """From rows of tokens, filled up with `pad`, to one logit for each class.

    Parameters
    ----------
    model
        A sequence classifier of transformers.
    pad
        The token that says nothing.
    """

    reads_tokens = True  # which are names, not numbers to be scaled

    def __init__(self, model: nn.Module, pad: int) -> None:
        super().__init__()
        self.model, self.pad = model, pad

    def forward(self, x: Tensor) -> Tensor:
        parts = [x] if torch.is_grad_enabled() else x.split(PART)
        return torch.cat([self._logits(part.long()) for part in parts])

    def _logits(self, tokens: Tensor) -> Tensor:
        mask = tokens != self.pad
        longest = max(1, int(mask.sum(dim=1).max()))
        told = self.model(input_ids=tokens[:, :longest], attention_mask=mask[:, :longest].long())
        logits: Tensor = told.logits.float()
        return logits


def transformer(
    features: int,
    classes: int,
    *,
    path: str | None = None,
    length: int = LENGTH,
    download: bool = False,
    pretrained: bool = True,
) -> nn.Module:
    """A sequence classifier of transformers with a new last layer if its own is for other classes.

    Parameters
    ----------
    features, classes
        Tokens of a text, and numbers that come out.
    path
        The folder of the model and its tokenizer, or a name that transformers has in its cache.
    length
        Tokens of a text that are read.
    download
        Whether a name may be fetched from the Hugging Face hub.
    pretrained
        Begin with the weights in the folder, not with random ones.

    References
    ----------
    Devlin et al., BERT, NAACL 2019. https://arxiv.org/abs/1810.04805
    Sanh et al., DistilBERT, 2019. https://arxiv.org/abs/1910.01108
    """
    kinds = _transformers()
    pad = _tokenizer(path, download).pad_token_id
    options = {"num_labels": classes, "pad_token_id": pad}
    if pretrained:
        make = kinds.AutoModelForSequenceClassification
        net = _load(make, path, download, ignore_mismatched_sizes=True, **options)
    else:
        config = _load(kinds.AutoConfig, path, download, **options)
        net = kinds.AutoModelForSequenceClassification.from_config(config)
    return Transformer(net.float(), pad)


def tokens(
    device: torch.device, *, path: str | None = None, length: int = LENGTH, download: bool = False
) -> Callable[[list[str]], Any]:
    """The function from texts to their first tokens, (texts, length), filled up; see `transformer`."""
    tokenizer = _tokenizer(path, download)

    def encode(texts: list[str]) -> Tensor:
        found: Tensor = tokenizer(
            texts, truncation=True, max_length=length, padding="max_length", return_tensors="pt"
        )["input_ids"]
        return found

    return encode


def _tokenizer(path: str | None, download: bool) -> Any:
    made = _load(_transformers().AutoTokenizer, path, download)
    made.padding_side = "right"
    if made.pad_token_id is None:
        made.pad_token = made.eos_token or made.unk_token
    return made


def _load(kind: Any, path: str | None, download: bool, **options: Any) -> Any:
    if path is None:
        raise ValueError("transformer needs the folder of a model: transformer[path='folder']")
    try:
        with quiet():
            return kind.from_pretrained(_place(path, download), **options)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        hint = "" if download else "; download=True fetches a name from the Hugging Face hub"
        raise ValueError(f"{path!r} holds no model of transformers ({reason}){hint}") from error


def _place(path: str, download: bool) -> str:
    """The folder of a model; to be told not to download, transformers still asks the hub about a name."""
    if download or Path(path).is_dir():
        return path
    return str(import_module("huggingface_hub").snapshot_download(path, local_files_only=True))


def _transformers() -> Any:
    try:
        return import_module("transformers")
    except ImportError as error:
        raise ValueError("transformer needs its package: pip install 'crowdpilot[text]'") from error
