"""Images as rows: decoded once if they fit into memory, varied at random while training."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from crowdpilot.arrays import Names

MEMORY = 4 << 30  # bytes of pixels that are kept in memory: 28,532 images of 224 x 224
NEAR = 1 << 30  # bytes of them that are kept where the network is
CHANNELS = (1, 3, 4)  # gray, colours, colours with transparency
SHIFT = 8  # an image is moved by up to an eighth of its size


class Files:
    """Images in files, decoded when they are asked for.

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
        wanted = [self.paths[row] for row in rows.tolist()]
        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            found = list(pool.map(partial(decode, size=self.size), wanted))
        return torch.from_numpy(np.stack(found)).permute(0, 3, 1, 2)


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
        Where the images are varied and shown.
    augment
        While training, mirror every second image and move each by up to an eighth of its size.
    names
        The task of each image, if X says so.
    """

    def __init__(
        self,
        pixels: Tensor | Files,
        device: torch.device,
        *,
        augment: bool = False,
        names: Names | None = None,
    ) -> None:
        if isinstance(pixels, Files) and len(pixels) * 3 * pixels.size**2 <= MEMORY:
            pixels = pixels[torch.arange(len(pixels))]
        if isinstance(pixels, Tensor) and pixels.nbytes <= NEAR:
            pixels = pixels.to(device)
        self.pixels, self.device = pixels, device
        self.augment, self.names = augment, names

    def __len__(self) -> int:
        return len(self.pixels)

    def take(self, rows: Tensor, *, train: bool) -> Tensor:
        x = self.pixels[rows.to(self.pixels.device)].to(self.device, non_blocking=True)
        x = vary(x) if train and self.augment else x
        # the order that convolutions like best; on processors, channels last can crash torch 2.13
        layout = torch.channels_last if x.device.type == "cuda" else torch.contiguous_format
        return x.contiguous(memory_format=layout).float() / 255


def vary(x: Tensor) -> Tensor:
    """Each image moved at random, its edge mirrored where it left a gap, and half of them turned around."""
    n, _, height, width = x.shape
    down = _moved(height, n, x.device)
    along = _moved(width, n, x.device)
    turned = torch.rand(n, 1, device=x.device) < 0.5
    along = torch.where(turned, along.flip(1), along)
    image = torch.arange(n, device=x.device)[:, None, None]
    return x.permute(0, 2, 3, 1)[image, down[:, :, None], along[:, None, :]].permute(0, 3, 1, 2)


def _moved(size: int, images: int, device: torch.device) -> Tensor:
    """For each image the places that are shown along one side, (images, size)."""
    most = size // SHIFT
    offset = torch.randint(-most, most + 1, (images, 1), device=device)
    place = (torch.arange(size, device=device) + offset).abs()
    return torch.where(place < size, place, 2 * (size - 1) - place)


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
