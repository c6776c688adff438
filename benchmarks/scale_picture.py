"""Time against votes, both on log axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

Points = list[tuple[float, float]]

SPARK = [(1e5, 31.0), (1e6, 60.0), (1e7, 111.0), (1e8, 703.0)]  # as published: see `scale_tables`


def draw(record: dict[str, Any], path: Path) -> None:
    """Write the picture of all that was measured: whole fits of 20 rounds."""
    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    lines = {
        "spark-crowd, one machine (2 classes, as published)": (SPARK, "#999999", "s--"),
        "crowd-kit (12 rounds)": (_peer(record), "#d55e00", "o-"),
        "1 core": (_growth(record, 1), "#56b4e9", "o-"),
        "2 cores": (_growth(record, 2), "#0072b2", "o-"),
        "2 processes of a cluster, files to files (10 rounds)": (_cluster(record), "#009e73", "D-"),
        "GPU, rounds alone": (_gpu(record), "#000000", "^-"),
    }
    for name, (points, color, style) in lines.items():
        if points:
            ax.loglog(*zip(*points, strict=True), style, color=color, label=name, markersize=5)
    ax.set_xlabel("votes")
    ax.set_ylabel("seconds")
    ax.set_title("Dawid-Skene, 10 classes, 20 rounds", fontsize=11)
    ax.grid(alpha=0.25, which="major")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _growth(record: dict[str, Any], cores: int) -> Points:
    return [(row["votes"], row["fit_seconds"]) for row in record.get("growth", []) if row["cores"] == cores]


def _peer(record: dict[str, Any]) -> Points:
    return [(row["votes"], row["peer"]["fit_seconds"]) for row in record.get("peer", [])]


def _cluster(record: dict[str, Any]) -> Points:
    return [(row["votes"], row["aggregate"]["seconds"]) for row in record.get("cluster", [])]


def _gpu(record: dict[str, Any]) -> Points:
    sizes = (record.get("gpu") or {}).get("sizes", [])
    fastest = {
        size["votes"]: size["rounds"]["seconds"] for size in sizes if size["workers"] * 1000 == size["votes"]
    }
    return sorted(fastest.items())
