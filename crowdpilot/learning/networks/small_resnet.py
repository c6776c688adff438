"""Small residual network (ResNet) for small images."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn


class Block(nn.Module):
    """A residual block: two convolutions whose output is added to their input.

    Parameters
    ----------
    before, after
        Channels of the input and of the output.
    downsampling
        2 halves height and width of the image.

    The names of the layers are those of tensors in saved files.
    """

    def __init__(self, before: int, after: int, downsampling: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(before, after, 3, downsampling, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.shortcut: nn.Module = nn.Identity()
        if downsampling > 1 or before != after:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, downsampling, bias=False), nn.BatchNorm2d(after)
            )
        self.active = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.active(self.path(x) + self.shortcut(x))
        return result


def resnet_small(
    features: int, classes: int, *, width: int = 64, blocks: int = 2, stages: int = 3, dropout: float = 0.0
) -> nn.Module:
    """A residual network without a pooling stem, for images of about 32 x 32 pixels.

    Parameters
    ----------
    features, classes
        Channels of the images, and number of logits.
    width
        Channels of the first stage; each next one has twice as many at half the size.
    blocks, stages
        Blocks of two convolutions in each stage, and how many stages.
    dropout
        Dropout rate before the last layer.

    References
    ----------
    He et al., Deep residual learning for image recognition, CVPR 2016. https://arxiv.org/abs/1512.03385
    """
    widths = [width, *(width << stage for stage in range(stages))]
    parts = [
        Block(before if block == 0 else after, after, 2 if block == 0 < stage else 1)
        for stage, (before, after) in enumerate(pairwise(widths))
        for block in range(blocks)
    ]
    return nn.Sequential(
        nn.Conv2d(features, width, 3, 1, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        *parts,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(widths[-1], classes),
    )
