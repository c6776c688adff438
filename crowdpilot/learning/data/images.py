"""Images as network input: decoding, resizing, and random augmentation while training."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from crowdpilot.arrays import Names

MAX_DECODED_BYTES = 4 << 30  # of pixels that are kept in memory: 28,532 images of 224 x 224
MAX_DEVICE_BYTES = 1 << 30  # of pixels that are kept on the device of the network
CHANNELS = (1, 3, 4)  # gray, colours, colours with transparency
MAX_SHIFT_DIVISOR = 8  # an image is shifted by up to an eighth of its size


class ImageFiles:
    """Images in files, decoded on demand.

    Parameters
    ----------
    paths
        One for each image.
    size
        Its height and width in pixels: the middle of the image, scaled.
    """

    device = torch.device("cpu")

    def __init__(self, paths: Sequence[Path], size: int) -> None:
        self.paths, self.size = paths, size

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, rows: Tensor) -> Tensor:
        paths = [self.paths[row] for row in rows.tolist()]
        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            images = list(pool.map(partial(decode, size=self.size), paths))
        return torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)


def decode(path: Path, size: int) -> np.ndarray:
    """The middle of an image in a file, scaled to a square: (size, size, 3) bytes."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            image.draft("RGB", (size, size))  # a JPEG of many pixels need not be decoded in full
            upright = ImageOps.exif_transpose(image).convert("RGB")
        return np.asarray(ImageOps.fit(upright, (size, size), Image.Resampling.BILINEAR))
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or "it is broken, or of a kind that Pillow does not know"
        raise ValueError(f"{path}: cannot be read as an image ({reason})") from error


class Images:
    """Images of one size, as numbers from 0 to 1: (rows, channels, height, width).

    Parameters
    ----------
    pixels
        Bytes (rows, channels, height, width), in memory or in files; files that need no more than
        4 GiB are decoded once and kept.
    device
        Where the images are augmented and passed to the network.
    augment
        While training, flip half of the images and shift each by up to an eighth of its size.
    names
        The task of each image, if X names them.
    """

    def __init__(
        self,
        pixels: Tensor | ImageFiles,
        device: torch.device,
        *,
        augment: bool = False,
        names: Names | None = None,
    ) -> None:
        if isinstance(pixels, ImageFiles) and len(pixels) * 3 * pixels.size**2 <= MAX_DECODED_BYTES:
            pixels = pixels[torch.arange(len(pixels))]
        if isinstance(pixels, Tensor) and pixels.nbytes <= MAX_DEVICE_BYTES:
            pixels = pixels.to(device)
        self.pixels, self.device = pixels, device
        self.augment, self.names = augment, names

    def __len__(self) -> int:
        return len(self.pixels)

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        x = self.pixels[rows.to(self.pixels.device)].to(self.device, non_blocking=True)
        x = augmented(x) if train and self.augment else x
        # the fastest memory format for convolutions; on CPUs, channels last can crash torch 2.13
        layout = torch.channels_last if x.device.type == "cuda" else torch.contiguous_format
        return x.contiguous(memory_format=layout).float() / 255


def augmented(x: Tensor) -> Tensor:
    """Each image shifted at random, with reflected borders, and half of them flipped horizontally."""
    n, _, height, width = x.shape
    row = _shifted(height, n, x.device)
    column = _shifted(width, n, x.device)
    flipped = torch.rand(n, 1, device=x.device) < 0.5
    column = torch.where(flipped, column.flip(1), column)
    image = torch.arange(n, device=x.device)[:, None, None]
    return x.permute(0, 2, 3, 1)[image, row[:, :, None], column[:, None, :]].permute(0, 3, 1, 2)


def _shifted(size: int, images: int, device: torch.device) -> Tensor:
    """The pixel indices along one side of each randomly shifted image, (images, size)."""
    most = size // MAX_SHIFT_DIVISOR
    offset = torch.randint(-most, most + 1, (images, 1), device=device)
    index = (torch.arange(size, device=device) + offset).abs()
    return torch.where(index < size, index, 2 * (size - 1) - index)


def is_pixels(x: Tensor) -> bool:
    """Whether a tensor holds images: bytes, with channels first, last, or none (gray)."""
    if x.dtype != torch.uint8 or x.ndim not in (3, 4):
        return False
    return x.ndim == 3 or x.shape[1] in CHANNELS or x.shape[3] in CHANNELS


def channels_first(x: Tensor) -> Tensor:
    """The same images as (rows, channels, height, width)."""
    if x.ndim == 3:
        return x[:, None]
    _, a, b, c = x.shape
    is_last = c in CHANNELS and (a not in CHANNELS or a == b)
    return x.permute(0, 3, 1, 2) if is_last else x
