"""Transformer network: a sequence classifier of the transformers package with its tokenizer, fine-tuned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from crowdpilot.optional_packages import load

DEFAULT_LENGTH = 256  # tokens of a text
EVALUATION_BATCH_TEXTS = 64


class Transformer(nn.Module):
    """From rows of padded tokens, (rows, length), to logits, (rows, classes).

    Parameters
    ----------
    model
        A sequence classifier of transformers. The name of the attribute is that of tensors in saved files.
    pad
        The padding token.
    """

    reads_tokens = True  # so that the input is not standardized

    def __init__(self, model: nn.Module, pad: int) -> None:
        super().__init__()
        self.model, self.pad = model, pad

    def forward(self, x: Tensor) -> Tensor:
        parts = [x] if torch.is_grad_enabled() else x.split(EVALUATION_BATCH_TEXTS)
        return torch.cat([self._logits(part.long()) for part in parts])

    def _logits(self, tokens: Tensor) -> Tensor:
        mask = tokens != self.pad
        longest = max(1, int(mask.sum(dim=1).max()))
        output = self.model(input_ids=tokens[:, :longest], attention_mask=mask[:, :longest].long())
        logits: Tensor = output.logits.float()
        return logits


def transformer(
    features: int,
    classes: int,
    *,
    path: str | None = None,
    length: int = DEFAULT_LENGTH,
    download: bool = False,
    pretrained: bool = True,
) -> nn.Module:
    """A sequence classifier of transformers, with a new last layer if its own has other classes.

    Parameters
    ----------
    features, classes
        Tokens of a text, and number of logits.
    path
        The folder of the model and its tokenizer, or a name that transformers has in its cache.
    length
        Tokens of a text that are read; the rest is cut off.
    download
        Whether a name may be downloaded from the Hugging Face hub.
    pretrained
        Start from the weights in the folder, not from random ones.

    References
    ----------
    Devlin et al., BERT, NAACL 2019. https://arxiv.org/abs/1810.04805
    Sanh et al., DistilBERT, 2019. https://arxiv.org/abs/1910.01108
    """
    package = _transformers()
    pad = _tokenizer(path, download).pad_token_id
    options = {"num_labels": classes, "pad_token_id": pad}
    if pretrained:
        make = package.AutoModelForSequenceClassification
        net = _load(make, path, download, ignore_mismatched_sizes=True, **options)
    else:
        config = _load(package.AutoConfig, path, download, **options)
        net = package.AutoModelForSequenceClassification.from_config(config)
    return Transformer(net.float(), pad)


def tokens(
    device: torch.device, *, path: str | None = None, length: int = DEFAULT_LENGTH, download: bool = False
) -> Callable[[list[str]], Any]:
    """A function from texts to their first tokens, (texts, length), padded; see `transformer`."""
    tokenizer = _tokenizer(path, download)

    def encode(texts: list[str]) -> Tensor:
        ids: Tensor = tokenizer(
            texts, truncation=True, max_length=length, padding="max_length", return_tensors="pt"
        )["input_ids"]
        return ids

    return encode


def _tokenizer(path: str | None, download: bool) -> Any:
    tokenizer = _load(_transformers().AutoTokenizer, path, download)
    tokenizer.padding_side = "right"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def _load(kind: Any, path: str | None, download: bool, **options: Any) -> Any:
    if path is None:
        raise ValueError("transformer needs the folder of a model: transformer[path='folder']")
    try:
        with transformers_silenced():
            return kind.from_pretrained(_local_folder(path, download), **options)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        hint = "" if download else "; download=True fetches a name from the Hugging Face hub"
        raise ValueError(f"{path!r} holds no model of transformers ({reason}){hint}") from error


def _local_folder(path: str, download: bool) -> str:
    """The folder of a model; even with local files only, transformers asks the hub about a name."""
    if download or Path(path).is_dir():
        return path
    return str(import_module("huggingface_hub").snapshot_download(path, local_files_only=True))


@contextmanager
def transformers_silenced() -> Iterator[None]:
    """A context in which transformers shows no progress bar, and only errors of its messages."""
    log = import_module("transformers.utils.logging")
    shown, level = log.is_progress_bar_enabled(), log.get_verbosity()
    log.disable_progress_bar()
    log.set_verbosity_error()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if shown:
            log.enable_progress_bar()


def _transformers() -> Any:
    return load("transformers", "transformer")
