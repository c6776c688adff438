"""Multilayer perceptron (MLP) and linear network for rows of numbers."""

from __future__ import annotations

from torch import nn


def linear(features: int, classes: int) -> nn.Module:
    """A linear layer: logistic regression."""
    return nn.Linear(features, classes)


def mlp(
    features: int,
    classes: int,
    *,
    hidden: int = 128,
    layers: int = 1,
    dropout: float = 0.5,
    norm: bool = False,
) -> nn.Module:
    """Hidden layers of ReLU units with dropout, and batch normalization if wanted."""
    parts: list[nn.Module] = []
    for n in range(layers):
        parts.append(nn.Linear(features if n == 0 else hidden, hidden))
        parts += [nn.BatchNorm1d(hidden)] * norm
        parts += [nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*parts, nn.Linear(hidden if layers else features, classes))
