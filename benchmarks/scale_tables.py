"""The page of `benchmarks.scale`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.tables import NONE, markdown

Record = dict[str, Any]

HEAD = """# Scale

Written by `python -m benchmarks.scale`. Measured on {machine}, unless said otherwise.

Dawid-Skene, 10 classes. Made-up votes are 5 for each task and 1,000 of each worker, whose skills are
between .5 and .95, in random order; columns of numbers in memory are where the clock starts. Every figure is
one run in a process of its own.

![Seconds against votes, on log axes](scale.png)
"""

SPARK = """Published figures of spark-crowd (its documentation, "Comparison with other packages", 2018) for
Dawid-Skene with 2 classes and 10 votes for each task: 31, 60, 111 and 703 s for 0.1, 1, 10 and 100 million
votes on one machine; 32, 51, 69 and 426 s on a cluster of 3 × 10 cores. The machines are others, so that the
picture shows growth and not ratios.
"""

TOUCHED = """The share of the bandwidth counts the sectors of 32 bytes that the rows of votes touch; some of
them come from the cache. What must move at least is a thirtieth of that."""
MIN_VOTES_OF_MEMORY_CLAIM = 990_000
SAME = "labels are the same in all."


def render(record: Record) -> str:
    """All that is known, as Markdown."""
    parts = {
        "growth": _growth, "peer": _peer, "objective": _objective, "gpu": _gpu,
        "cluster": _cluster, "online": _online, "large_k": _large_k,
    }  # fmt: skip
    texts = [make(record[name]) for name, make in parts.items() if record.get(name)]
    return "\n".join([HEAD.format(machine=record["machine"]), *texts])


def slope(rows: Iterable[Record], what: str, least: float = 1e5, most: float = 10**7.5) -> float:
    """The power of the number of votes with which something grows."""
    kept = [(row["votes"], row[what]) for row in rows if 0.99 * least <= row["votes"] <= most]
    x, y = np.log10(np.array(kept)).T
    return float(np.polyfit(x, y, 1)[0])


def _growth(rows: list[Record]) -> str:
    lines = []
    for row in rows:
        each = row["round_seconds"] / row["votes"] * 1e9, row["peak_mb"] * 2**20 / row["votes"]
        counts = f"{row['votes']:,}", f"{row['workers']:,}", str(row["cores"])
        times = f"{row['round_seconds'] * 1e3:.1f}", f"{each[0]:.1f}", f"{row['fit_seconds']:.2f}"
        lines.append([*counts, *times, f"{row['peak_mb']:.0f}", f"{each[1]:.0f}"])
    header = ["votes", "workers", "cores", "round ms", "ns a vote", "20 rounds s", "MB", "bytes a vote"]
    text = f"## Growth on one machine\n\n{markdown(header, lines)}"
    for cores in sorted({row["cores"] for row in rows}):
        own = [row for row in rows if row["cores"] == cores]
        rounds, fits = slope(own, "round_seconds"), slope(own, "fit_seconds")
        text += f"\nCores: {cores}. From 100,000 to 32 million votes time grows with the power "
        text += f"{rounds:.2f} (a round) or {fits:.2f} (all) of their number."
    return f"{text}\n{_memory(rows)}\n\n{SPARK}"


def _memory(rows: list[Record]) -> str:
    most = max(
        row["peak_mb"] * 2**20 / row["votes"] for row in rows if row["votes"] >= MIN_VOTES_OF_MEMORY_CLAIM
    )
    return f"From a million votes on, votes and parameters together take {most:.0f} bytes for each, at most."


def _peer(rows: list[Record]) -> str:
    lines = []
    for row in rows:
        peer, ours = row["peer"], row["ours"]
        one = peer["round_seconds"], ours["round_seconds"]
        all_ = peer["fit_seconds"], ours["fit_seconds"]
        first = f"{row['votes']:,}", f"{one[0]:.3f}", f"{one[1] * 1e3:.1f}", f"{one[0] / one[1]:.0f}"
        lines.append([*first, f"{all_[0]:.2f}", f"{all_[1]:.2f}", f"{all_[0] / all_[1]:.0f}"])
    header = ["votes", "crowd-kit: a round s", "ours ms", "times", "12 rounds s", "ours s", "times"]
    return f"## Beside crowd-kit\n\n{markdown(header, lines)}"


def _objective(measured: Record) -> str:
    peer = measured["peer"]
    lines = []
    for name, title in (("leaping", "with leaps"), ("plain", "plain rounds")):
        own = measured[name]
        if own["seconds"] is None:
            lines.append([title, NONE, NONE, NONE, f"{own['height']:,.1f}"])
            continue
        times = f"{own['seconds']:.2f}", f"{peer['seconds'] / own['seconds']:.0f}"
        lines.append([title, str(own["rounds_seen"]), *times, f"{own['height']:,.1f}"])
    text = f"{measured['votes']:,} votes of workers with skills between .2 and .7. crowd-kit reaches a "
    text += f"log-likelihood of {peer['height']:,.1f} in {peer['rounds']} rounds and {peer['seconds']:.1f} s."
    table = markdown(["ours", "rounds until then", "seconds", "times", "after 80 tries"], lines)
    return f"## Time to the same likelihood\n\n{text}\n\n{table}"


def _gpu(measured: Record) -> str:
    lines = []
    for size in measured["sizes"]:
        rounds = size["rounds"]
        files = [f"{size[name]['seconds']:.2f}" if name in size else NONE for name in ("parquet", "npy")]
        streamed = f"{size['streamed']['seconds']:.2f}" if "streamed" in size else NONE
        share = f"{rounds['touched_share']:.0%}"
        row = f"{size['votes']:,}", f"{size['workers']:,}", f"{rounds['seconds']:.2f}"
        lines.append([*row, f"{rounds['peak_bytes'] / 1e9:.1f}", share, *files, streamed])
    header = ["votes", "workers", "20 rounds s", "GB", "of the bandwidth", "Parquet to labels s"]
    header += ["npy to labels s", "votes on the host s"]
    single = [row for row in measured["agreement"] if row["precision"] == "single"]
    double = [row for row in measured["agreement"] if row["precision"] == "double"]
    worst = max(single, key=lambda row: row["farthest"])
    far, others = worst["beyond_1e-4"], sorted(row["farthest"] for row in single)[-2]
    device = f"{measured['device']}, PyTorch {measured['torch']}"
    text = f"{device}; written by `python -m benchmarks.scale_gpu`. {TOUCHED}"
    agree = (
        f"A million votes, {len(single)} models and settings against the cores in double precision: {SAME} "
    )
    agree += (
        f"Probabilities differ by {max(row['farthest'] for row in double):.0e} at most in double precision, "
    )
    agree += f"in single precision by {others:.0e}, but by {worst['farthest']:.0e} for {worst['model']}, "
    agree += f"where {far:.4%} of the tasks differ by more than 1e-4."
    return f"## A GPU\n\n{text}\n\n{markdown(header, lines)}\n{agree}\n"


def _cluster(rows: list[Record]) -> str:
    lines = []
    for row in rows:
        simulated, done = row["simulate"], row["aggregate"]
        sizes = f"{row['votes']:,}", f"{row['bytes'] / 2**20:.0f}", f"{simulated['seconds']:.0f}"
        lines.append([*sizes, f"{done['seconds']:.0f}", f"{done['peak_gb']:.1f}"])
    header = ["votes", "MB of 64 files", "simulate s", "aggregate s", "GB of all processes together"]
    text = "`simulate` and `aggregate`, 10 rounds, from files to files, the start of processes included."
    return f"## A cluster of two processes\n\n{text}\n\n{markdown(header, lines)}"


def _online(rows: list[Record]) -> str:
    lines = []
    for row in rows:
        rates = f"{row['singly_per_second']:,.0f}", f"{row['batched_per_second']:,.0f}"
        right = f"{row['accuracy_before_refit']:.4f}", f"{row['accuracy']:.4f}"
        lines.append([row["model"], *rates, f"{row['refit_gap']:.0e}", *right])
    header = ["model", "singly votes/s", "by 1,000 votes/s", "refit − fit", "right before refit", "after"]
    crowd = "A million votes with 4 classes on 200,000 tasks by 1,000 workers."
    return f"## Votes one by one\n\n{crowd}\n\n{markdown(header, lines)}"


def _large_k(rows: list[Record]) -> str:
    lines = []
    for row in rows:
        numbers = f"{row['seconds']:.1f}", f"{row['peak_mb']:.0f}", f"{row['accuracy']:.3f}"
        lines.append([row["model"], *numbers, row["used"]])
    crowd = "A million votes on 200,000 tasks by 2,000 workers, each class confused with three others."
    header = ["asked for", "seconds", "MB at peak", "right", "used"]
    return f"## Ten thousand classes\n\n{crowd}\n\n{markdown(header, lines)}"
