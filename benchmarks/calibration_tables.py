"""The tables of texts, in the layout of the paper, with its figures beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calibration_runs import MAPS, TARGETS
from benchmarks.calibration_sets import SETS
from benchmarks.tables import markdown

# Macro F1 and ECE of NN1 in Tables 2 and 4, and for Amazon (fusion by MV) in Tables 3 and 5, of
# Sayin et al. 2021, https://doi.org/10.1109/ICWS53863.2021.00019
PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "fig8_01_gop_sentiment": {
        "hard": (78.5, 11.0), "soft": (79.7, 18.3), "α = .05": (73.4, 14.3), "α = .1": (73.7, 13.2),
        "sHard": (79.8, 6.8),
    },
    "fig8_02_disaster_relevance": {
        "hard": (82.4, 9.8), "soft": (82.9, 20.2), "α = .05": (82.5, 17.6), "α = .1": (82.3, 19.0),
        "sHard": (82.9, 9.2),
    },
    "fig8_05_corporate_messaging": {
        "hard": (89.8, 3.2), "soft": (86.4, 5.4), "α = .05": (90.6, 5.2), "α = .1": (90.6, 9.8),
        "sHard": (90.6, 2.0),
    },
    "fig8_06_gop_rel_only": {
        "hard": (65.3, 6.4), "soft": (66.6, 4.9), "α = .05": (64.9, 7.5), "α = .1": (65.5, 8.6),
        "sHard": (66.0, 5.8),
    },
    "fig8_08_drug_relation": {
        "hard": (66.0, 7.3), "soft": (71.1, 3.6), "α = .05": (73.7, 3.0), "α = .1": (69.8, 8.5),
        "sHard": (66.0, 5.6),
    },
    "amazon_isbook": {
        "hard": (95.8, 11.0), "soft": (95.8, 12.6), "α = .05": (95.7, 17.3), "α = .1": (95.8, 20.8),
        "sHard": (95.5, 10.3),
    },
}  # fmt: skip

Runs = dict[str, dict[str, Any]]  # by "model | set | fusion | target"


def render_model(runs: Runs, model: str) -> str:
    """All tables of one model."""
    text = f"\n## {model}\n"
    for name in SETS:
        text += _of_set(runs, model, name)
    return text + _averages(runs, model)


def _key(model: str, name: str, fusion: str, target: str) -> str:
    return f"{model} | {name} | {fusion} | {target}"


def _of_set(runs: Runs, model: str, name: str) -> str:
    rows = []
    for fusion in ("MV", "DS", "GLAD", "auto"):
        for target in TARGETS:
            run = runs.get(_key(model, name, fusion, target))
            if run is None:
                continue
            main = next(iter(run["maps"]["none"]))
            cells = [_cell(run["maps"][map][main]) for map in MAPS]
            other = [test for test in run["maps"]["none"] if test != main]
            cells.append(_plain(run["maps"]["none"][other[0]]) if other else "–")
            paper = PAPER.get(name, {}).get(target) if model == "NN1" and fusion == "MV" else None
            cells.append("–" if paper is None else f"{paper[0]:.1f} / {paper[1]:.1f}")
            rows.append([f"{fusion}, {target}", *cells, run["best_map"]])
    if not rows:
        return ""
    header = ["", "no map", "temperature", "best map", "natural shares, no map", "paper, no map", "best is"]
    return f"\n### {model}: {name}\n\nMacro F1 / ECE in %, with 95 % intervals.\n\n{markdown(header, rows)}"


def _cell(s: dict[str, Any]) -> str:
    f1, ece = s["macro_f1_interval"], s["ece_interval"]
    return (
        f"{100 * s['macro_f1']:.1f} ({100 * f1[0]:.0f}–{100 * f1[1]:.0f}) / "
        f"{100 * s['ece']:.1f} ({100 * ece[0]:.0f}–{100 * ece[1]:.0f})"
    )


def _plain(s: dict[str, Any]) -> str:
    return f"{100 * s['macro_f1']:.1f} / {100 * s['ece']:.1f}"


def _averages(runs: Runs, model: str) -> str:
    """Means over sets, fusion by MV (shares as they are), and gains against hard targets."""
    text = ""
    groups = {"sets of the paper": [n for n in SETS if n in PAPER], "all sets": list(SETS)}
    for title, names in groups.items():
        names = [n for n in names if all(_key(model, n, "MV", t) in runs for t in TARGETS)]
        if not names:
            continue
        base = _mean(runs, model, names, "hard", "none")
        rows = []
        for target in TARGETS:
            for map in MAPS:
                found = _mean(runs, model, names, target, map)
                gains = (found[m] - base[m] for m in ("macro_f1", "ece", "ece_debiased"))
                rows.append(
                    [
                        f"{target}, {map}",
                        *("–" if np.isnan(v) else f"{v:.1f}" for v in found.values()),
                        *(f"{g:+.1f}" for g in gains),
                    ]
                )
        header = [
            f"{len(names)} sets", "macro F1 %", "ECE %", "debiased ECE %", "log-loss × 100",
            "ECE if honest %", "F1 to hard", "ECE to hard", "debiased to hard",
        ]  # fmt: skip
        text += f"\n### {model}: mean over {title}\n\n{markdown(header, rows)}"
        text += f"\n{_paired(runs, model, names)}"
    return text


def _mean(runs: Runs, model: str, names: list[str], target: str, map: str) -> dict[str, float]:
    found = [next(iter(runs[_key(model, n, "MV", target)]["maps"][map].values())) for n in names]
    measures = ("macro_f1", "ece", "ece_debiased", "log_loss", "ece_if_honest")
    return {m: 100 * float(np.mean([s.get(m, np.nan) for s in found])) for m in measures}


def _paired(runs: Runs, model: str, names: list[str]) -> str:
    """Set sHard against hard with the same settings, over the whole grid: how much the choice matters."""
    gains = []
    for name in names:
        hard, shard = (runs[_key(model, name, "MV", target)]["tried"] for target in ("hard", "sHard"))
        for x, y in zip(hard, shard, strict=True):
            gains.append([y["macro_f1"] - x["macro_f1"], y["ece"] - x["ece"]])
    f1, ece = 100 * np.mean(gains, axis=0)
    return (
        f"With the same settings for both, sHard changes macro F1 by {f1:+.2f} and ECE by {ece:+.2f} points "
        f"on average over {len(gains)} pairs of set and settings; the rest of the differences above is which "
        "settings the validation set chose.\n"
    )
