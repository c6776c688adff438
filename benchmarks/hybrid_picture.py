"""Loss against votes of every policy, a panel for each set."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from benchmarks.hybrid_tables import OURS, Curves

SHOWN = {"fixed": "#d55e00", "posterior": "#e69f00", "switch": "#009e73", "first_agree[votes=2": "#cc79a7"}
BLUE = "#0072b2"


def draw(curves: Curves, ratio: str, path: Path) -> None:
    """Write the picture for one ratio of costs."""
    names = curves.sets()
    figure, axes = plt.subplots(2, -(-len(names) // 2), figsize=(15, 6), layout="constrained")
    for ax, name in zip(axes.flat, names, strict=False):
        ours = curves.ours(name, ratio, cheap=True)
        for (where, policy, r, _), curve in curves.by.items():
            color = next((c for start, c in SHOWN.items() if policy.startswith(start)), None)
            if where == name and r == ratio and color is not None:
                ax.plot(curve["grid"], curve["loss"], color=color, lw=1.4, label=policy.partition("[")[0])
        if ours is not None:
            ax.plot(ours["grid"], ours["loss"], color=BLUE, lw=2.2, label=OURS)
            ax.set_ylim(0, 1.2 * max(ours["loss"]))  # policies without a classifier start far above
        ax.set_title(name, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("votes for each item")
    figure.supylabel("loss for each item")
    lines, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    plt.close(figure)
