"""Whether the bound of an audit holds, and how tight it is: `python -m benchmarks.audit [--data DIR]`.

Simulated pools, most of them with a model that is wrong: how often the bound on the cost, or that on
the error rate, is below the truth at any time of a path. Then the ratio of bound to truth after
5, 10 and 20 % of the items, beside bounds from a uniform sample of that size, which hold only if its size
was decided beforehand. With `--data`, the same ratios on labels of real crowds and networks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from scipy.stats import beta

from benchmarks.audit_campaigns import campaigns
from benchmarks.audit_pools import KINDS, VOTES, Pool, real, simulate
from benchmarks.process import launch
from benchmarks.tables import NONE, RESULTS, markdown, write
from crowdpilot.hybrid.audit.expert_audit import Audit

MARKS = (0.05, 0.1, 0.2)
LEVELS = (0.95, 0.9)
BOUNDS = ("audit", "uniform, empirical Bernstein", "uniform, Hoeffding")
RATES = ("audit", "uniform, Clopper–Pearson")


class AuditBounds(NamedTuple):
    """The bounds of one audit at several times."""

    cost: list[float]  # bounds at the marks
    error: list[float]
    failed: bool  # at any time, that on the cost
    failed_error: bool


def run_audit(pool: Pool, level: float, seed: int) -> AuditBounds:
    """Audit a fifth of a pool in small steps, with the bound after each."""
    size = len(pool.truth)
    own = 10_000 + seed  # other random numbers than those of the pool
    audit = Audit(pool.costs, pool.decided, pool.probs, level=level, seed=own)
    marks = [int(np.ceil(mark * size)) for mark in MARKS]
    stops = sorted({*range(0, marks[-1], max(5, size // 50)), *marks} - {0})
    cost, error, done = {}, {}, 0
    for stop in stops:
        items = audit.draw(stop - done)
        audit.add_answers(items, pool.truth[items])
        bound, done = audit.bound(), stop
        cost[stop], error[stop] = bound.cost, bound.error_rate
    loss, rate = pool.losses.mean() * (1 - 1e-9), pool.wrong.mean() * (1 - 1e-9)
    return AuditBounds(
        [cost[m] for m in marks], [error[m] for m in marks],
        min(cost.values()) < loss, min(error.values()) < rate,
    )  # fmt: skip


def uniform(pool: Pool, level: float, seed: int) -> dict[str, list[float]]:
    """Bounds from a uniform sample, at the marks."""
    alpha = round(1 - level, 12)
    size = len(pool.truth)
    order = np.random.default_rng(seed).permutation(size)
    most = pool.costs.errors[:, pool.decided].max()
    found: dict[str, list[float]] = {name: [] for name in (*BOUNDS[1:], RATES[1])}
    for mark in MARKS:
        n = int(np.ceil(mark * size))
        f, wrong = pool.losses[order[:n]], pool.wrong[order[:n]].sum()
        twice = np.log(2 / alpha)
        bernstein = f.mean() + np.sqrt(2 * f.var(ddof=1) * twice / n) + 7 * most * twice / (3 * (n - 1))
        hoeffding = f.mean() + most * np.sqrt(np.log(1 / alpha) / (2 * n))
        for name, bound in zip(BOUNDS[1:], (bernstein, hoeffding), strict=True):
            found[name].append(min(float(bound), float(most)))
        found[RATES[1]].append(float(beta.ppf(1 - alpha, wrong + 1, n - wrong)) if wrong < n else 1.0)
    return found


def measure(pools: Iterable[tuple[Pool, int]], level: float) -> dict[str, Any]:
    """Failures, and medians of ratios, over pools that lose something."""
    failed, failed_error, losses, rates = [], [], [], []
    cost: dict[str, list[list[float]]] = {name: [] for name in BOUNDS}
    error: dict[str, list[list[float]]] = {name: [] for name in RATES}
    size = 0
    for pool, seed in pools:
        size = max(size, len(pool.truth))
        path, plain = run_audit(pool, level, seed), uniform(pool, level, seed)
        failed.append(path.failed)
        failed_error.append(path.failed_error)
        loss, rate = float(pool.losses.mean()), float(pool.wrong.mean())
        losses.append(loss)
        rates.append(rate)
        if rate > 0:
            for name, values in {BOUNDS[0]: path.cost, **{b: plain[b] for b in BOUNDS[1:]}}.items():
                cost[name].append([value / loss for value in values])
            for name, values in {RATES[0]: path.error, RATES[1]: plain[RATES[1]]}.items():
                error[name].append([value / rate for value in values])
    return {
        "pools": len(failed), "items": size,
        "loss": float(np.mean(losses)), "error_rate": float(np.mean(rates)),
        "failed": float(np.mean(failed)), "failed_error": float(np.mean(failed_error)),
        "cost": {name: _medians(rows) for name, rows in cost.items()},
        "error": {name: _medians(rows) for name, rows in error.items()},
    }  # fmt: skip


def _medians(rows: list[list[float]]) -> list[float] | None:
    return np.median(rows, axis=0).tolist() if rows else None


def _ratios(values: list[float] | None) -> str:
    return NONE if values is None else " / ".join(f"{value:.2f}" for value in values)


def table(rows: list[dict[str, Any]], first: tuple[str, ...]) -> str:
    """Ratios of bound to truth as Markdown."""
    header = (
        *first,
        "items",
        "loss",
        *(f"cost: {name}" for name in BOUNDS),
        *(f"errors: {name}" for name in RATES),
    )
    cells = [
        (
            *(str(row[name]) for name in first), str(row["items"]), f"{row['loss']:.4f}",
            *(_ratios(row["cost"][name]) for name in BOUNDS),
            *(_ratios(row["error"][name]) for name in RATES),
        )
        for row in rows
    ]  # fmt: skip
    return markdown(header, cells)


def report(
    rows: list[dict[str, Any]], real_rows: list[dict[str, Any]], campaign_rows: list[dict[str, Any]]
) -> str:
    """All tables as Markdown."""
    fails = [
        (
            f"level {level}", str(sum(r["pools"] for r in of)),
            f"{np.mean([r['failed'] for r in of]):.3f}", f"{max(r['failed'] for r in of):.3f}",
            f"{np.mean([r['failed_error'] for r in of]):.3f}", f"{max(r['failed_error'] for r in of):.3f}",
        )
        for level in LEVELS
        if (of := [row for row in rows if row["level"] == level])
    ]  # fmt: skip
    header = ("bound", "pools", "cost fails", "worst kind", "error rate fails", "worst kind")
    text = (
        "# Audit\n\n## Does the bound hold?\n\nShare of simulated pools in which the bound is below the "
        "truth at any time until a fifth is checked.\n\n" + markdown(header, fails) + "\n## How tight is it?"
        "\n\nBound over truth after 5 / 10 / 20 % of the items at the level .95, medians over pools. Uniform "
        "samples have bounds for one size decided beforehand; the audit may stop at any time.\n\n"
    )
    text += table([row for row in rows if row["level"] == LEVELS[0]], ("kind",))
    if real_rows:
        at = [row["cost"][BOUNDS[0]][1] for row in real_rows]
        text += (
            f"\n## Real pools\n\nDawid-Skene on {VOTES} votes a task, and networks. At 10 % the median "
            f"ratio is {np.median(at):.2f}, the highest {max(at):.2f}.\n\n"
            + table(real_rows, ("set", "prices"))
        )
    if campaign_rows:
        at = [row["cost"][BOUNDS[0]][1] for row in campaign_rows]
        text += (
            "\n## Campaigns\n\nDecisions of campaigns with the policy `value` on real crowds. At 10 % the "
            f"median ratio is {np.median(at):.2f}, the highest {max(at):.2f}.\n\n"
            + table(campaign_rows, ("set", "prices"))
        )
    return text


def main(
    pools: Annotated[int, typer.Option(help="How many simulated pools in all.")] = 1000,
    seeds: Annotated[int, typer.Option(help="How many times votes of real crowds are drawn.")] = 20,
    data: Annotated[Path | None, typer.Option(help="Folder of real data sets.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for audit.md and audit.json.")] = RESULTS,
) -> None:
    """Measure failures and ratios on simulated pools, and ratios on real ones."""
    each = -(-pools // len(KINDS))
    rows = [
        {"kind": kind.__name__.replace("_", " "), "level": level, **measure(simulate(kind, each), level)}
        for level in LEVELS
        for kind in KINDS
    ]
    real_rows = [] if data is None else [
        {"set": name, "prices": prices, **measure(of, LEVELS[0])} for name, prices, of in real(data, seeds)
    ]  # fmt: skip
    campaign_rows = [] if data is None else [
        {"set": name, "prices": prices, **measure(of, LEVELS[0])} for name, prices, of in campaigns(data)
    ]  # fmt: skip
    text = report(rows, real_rows, campaign_rows)
    write(output, "audit", text, {"simulated": rows, "real": real_rows, "campaigns": campaign_rows})
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
