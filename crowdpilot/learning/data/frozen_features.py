"""Features of X by a frozen backbone, computed once and cached; the network is trained on them."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array, issparse, vstack
from torch import Tensor, nn

from crowdpilot.arrays import Names
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.rows import Dense, Sparse
from crowdpilot.learning.encoders import ENCODERS, FITTED_ENCODERS
from crowdpilot.learning.encoders.tfidf import FittedTfidf
from crowdpilot.learning.layers import Standardize
from crowdpilot.learning.networks.huggingface import tokens
from crowdpilot.learning.networks.vision import is_vision, vision_networks, without_head
from crowdpilot.option_strings import choose

Backbone = str | nn.Module | Callable[[Any], Any]

ENCODING_BATCH_ROWS = 128
TOKENIZERS = {"tokens": tokens}  # for a transformer, which is the network
IMAGENET_MEAN = (0.485, 0.456, 0.406)  # of red, green and blue
IMAGENET_DEVIATION = (0.229, 0.224, 0.225)


class Encoder(NamedTuple):
    """A function from a batch to features, and the key that identifies it in a cache, if any."""

    apply: Callable[[Any], Any]
    key: bytes | None


def embed(
    backbone: Backbone, rows: Rows, device: torch.device, *, cache: Path | None = None
) -> Dense | Sparse:
    """The features of rows of numbers or images.

    Parameters
    ----------
    backbone
        A network of torchvision, such as "resnet18[pretrained=True]" or
        "resnet50[weights='file.pth']", without its last layer; or any module or function from a
        batch of rows to features.
    rows
        Its input; images are numbers from 0 to 1.
    device
        Where it runs, and where the features are kept.
    cache
        A folder with the features of each X and backbone, by a digest of both.
    """
    if isinstance(backbone, FittedTfidf):
        raise ValueError("tfidf is for texts, and X is not a list of texts")
    if isinstance(backbone, str):
        backbone = _by_name(backbone)
    if isinstance(backbone, nn.Module):
        net = copy.deepcopy(backbone).to(device).eval()
        encoder = Encoder(net, _fingerprint(net))
    else:
        encoder = Encoder(backbone, None)

    def batches() -> Iterator[Tensor]:
        for part in torch.arange(len(rows)).split(ENCODING_BATCH_ROWS):
            yield rows.take(part, train=False).to(device)

    return _rows(_features(encoder, batches, cache), device, getattr(rows, "names", None))


def embed_texts(
    backbone: Backbone,
    texts: Sequence[str],
    device: torch.device,
    *,
    cache: Path | None = None,
    names: Names | None = None,
) -> Dense | Sparse:
    """The features of texts.

    Parameters
    ----------
    backbone
        "minilm", "wordllama", or any function from a list of texts to features, which may be a sparse matrix.
        "tfidf" is fitted to these texts, and the rows have the fitted encoder as `backbone`.
    texts, device, cache
        As for `embed`.
    names
        The task of each text.
    """
    if isinstance(backbone, str):
        if is_vision(backbone):
            raise ValueError(f"{backbone} is for images, and X is texts; for texts there are {_for_texts()}")
        known: dict[str, Callable[..., Any]] = {**ENCODERS, **FITTED_ENCODERS, **TOKENIZERS}
        make, options = choose(backbone, known, "backbone for texts")
        if make in FITTED_ENCODERS.values():
            return embed_texts(make(**options).fit(texts), texts, device, names=names)
        encoder = Encoder(make(device, **options), backbone.encode())
    else:
        encoder = Encoder(backbone, None)

    def batches() -> Iterator[list[str]]:
        for start in range(0, len(texts), ENCODING_BATCH_ROWS):
            yield list(texts[start : start + ENCODING_BATCH_ROWS])

    fitted = backbone if isinstance(backbone, FittedTfidf) else None
    return _rows(_features(encoder, batches, cache), device, names, fitted)


def restore_backbone(name: str, state: Mapping[str, Tensor]) -> FittedTfidf:
    """The fitted backbone from its name and its `state_dict`."""
    make, options = choose(name, FITTED_ENCODERS, "backbone that is fitted")
    return make(**options).restore(state)


def _rows(
    features: Tensor | csr_array,
    device: torch.device,
    names: Names | None,
    backbone: FittedTfidf | None = None,
) -> Dense | Sparse:
    if isinstance(features, Tensor):
        return Dense(features, device, names, one_scale=True)
    return Sparse(features, names, backbone=backbone)


def _for_texts() -> str:
    return ", ".join([*FITTED_ENCODERS, *ENCODERS])


def _by_name(name: str) -> nn.Module:
    """A network of torchvision without its last layer, after the normalization it was trained with."""
    if not is_vision(name):
        if name.startswith("tokens["):
            raise ValueError("a transformer reads texts, and X is not a list of texts")
        if name.partition("[")[0] in ENCODERS | FITTED_ENCODERS:
            raise ValueError(f"{name} is for texts, and X is not a list of texts")
        raise ValueError(
            f"no backbone is called {name!r}; there are {_for_texts()} for texts, and torchvision's networks"
        )
    make, options = choose(name, vision_networks(name), "backbone")
    plain = name.partition("[")[0]
    if not (options.get("pretrained") or options.get("weights")):
        raise ValueError(
            f"a frozen backbone must have been trained: {plain}[weights='file.pth'] reads weights, and "
            f"{plain}[pretrained=True] downloads them"
        )
    mean, scale = (torch.tensor(v).view(1, -1, 1, 1) for v in (IMAGENET_MEAN, IMAGENET_DEVIATION))
    return nn.Sequential(Standardize(mean, scale), without_head(make(3, 1, **options)))


def _features(
    encoder: Encoder, batches: Callable[[], Iterator[Any]], cache: Path | None
) -> Tensor | csr_array:
    """The features of all batches, from the cache if they are there."""
    if cache is None:
        return _apply(encoder, batches())
    if encoder.key is None:
        raise ValueError("the features of a function cannot be cached; leave out the cache")
    digest = hashlib.sha256(encoder.key)
    for batch in batches():
        for part in batch:
            digest.update(part.encode() if isinstance(part, str) else part.cpu().numpy().tobytes())
            digest.update(b"\0")
    file = cache / f"{digest.hexdigest()[:32]}.npy"
    if file.exists():
        return torch.from_numpy(np.load(file, allow_pickle=False))
    features = _apply(encoder, batches())
    if not isinstance(features, Tensor):
        return features
    cache.mkdir(parents=True, exist_ok=True)
    with atomic_path(file) as draft:
        np.save(draft, features.cpu().numpy())
    return features


def _apply(encoder: Encoder, batches: Iterator[Any]) -> Tensor | csr_array:
    parts: list[Any] = []
    for batch in batches:
        try:
            with torch.no_grad():
                out: Any = encoder.apply(batch)
                is_sparse = bool(issparse(out))
                out = out.astype(np.float32) if is_sparse else torch.as_tensor(out).float()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"the backbone cannot be applied to X: {reason}") from error
        if out.ndim < 2 or out.shape[0] != len(batch):
            raise ValueError(
                f"the backbone gives {tuple(out.shape)} for {len(batch)} rows, expected a row each"
            )
        parts.append(out if is_sparse else out.flatten(1))
    features = csr_array(vstack(parts)) if issparse(parts[0]) else torch.cat(parts)
    numbers = features if isinstance(features, Tensor) else torch.from_numpy(features.data)
    if not torch.isfinite(numbers).all():
        raise ValueError("the backbone gives a NaN or an infinite number for some rows of X")
    return features


def _fingerprint(net: nn.Module) -> bytes:
    """A digest of the layers of a module and their weights."""
    digest = hashlib.sha256(f"{type(net).__qualname__} {net}".encode())
    for name, value in net.state_dict().items():
        digest.update(name.encode())
        digest.update(value.cpu().contiguous().view(-1).numpy().tobytes())
    return digest.digest()
