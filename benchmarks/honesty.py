"""How close the confidence of labels is to their accuracy: `python -m benchmarks.honesty --data DIR`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from benchmarks import sets
from benchmarks.experience import experience_without
from benchmarks.honesty_crowds import GOLD_LABELS, VOTES_A_TASK, Crowd, read_crowd
from benchmarks.honesty_measures import Archive, Case, mean_measures, measure
from benchmarks.honesty_methods import BEFORE, OWN, PEERS, USE_GOLD, Method, fit_peers, make_methods
from benchmarks.honesty_tables import WEIGHINGS, Found, gold_name, means, render, size_name
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, write

ALL_SIZES = ",".join("all" if n is None else str(n) for n in VOTES_A_TASK)
ALL_GOLD = ",".join(map(str, GOLD_LABELS))
PREFIX = "crowd-kit "
OWN_FILE, PEERS_FILE = "honesty_measures.csv", "honesty_peers.csv"


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    names: Annotated[str, typer.Option("--sets", help="Sets to measure, with commas; all if empty.")] = "",
    models: Annotated[
        str,
        typer.Option(help="Our models to measure, with commas; of others the earlier measures are shown."),
    ] = ",".join((*OWN, "gold_majority")),
    thin: Annotated[str, typer.Option(help="Votes a task, with commas: all or numbers.")] = ALL_SIZES,
    gold: Annotated[str, typer.Option(help="Numbers of gold labels, with commas, or no.")] = ALL_GOLD,
    peers: Annotated[
        Literal["cached", "run", "no"],
        typer.Option(help="cached: what was measured before; run: and what was not; no: leave them out."),
    ] = "cached",
    limit: Annotated[float, typer.Option(help="Seconds that all peers may take for one set.")] = 1800,
    output: Annotated[Path, typer.Option(help="Folder for the report and its measures.")] = RESULTS,
) -> None:
    """Measure methods on every set, thinned and with gold, and write the tables."""
    warnings.simplefilter("ignore", RuntimeWarning)
    crowds = {folder.name: read_crowd(folder) for folder in sets.find(data)}
    wanted = [folder.name for folder in sets.find(data, names)]
    sizes = [None if size == "all" else int(size) for size in thin.split(",") if size]
    golds = [int(n) for n in gold.split(",") if n] if gold != "no" else []
    without_group = partial(experience_without, data=data)
    own = make_methods([model for model in models.split(",") if model], without_group)
    archive, of_peers = Archive(output / OWN_FILE), Archive(output / PEERS_FILE)
    missing: dict[str, str] = {}
    for name in wanted:
        thinned = [crowds[name].thinned(n) for n in sizes]
        measure_own(archive, thinned, {m: method for m, method in own.items() if m != "gold_majority"})
        measure_gold(archive, crowds[name], golds, {m: own[m] for m in USE_GOLD if m in own})
        if own:
            archive.save()
        if peers == "run":
            missing |= measure_peers(of_peers, thinned, limit)
            of_peers.save()
        typer.echo(f"{name}: {summary(archive, name)}", err=True)
    save(crowds, missing, show_peers=peers != "no", output=output)


def measure_own(archive: Archive, thinned: Iterable[Crowd], methods: Mapping[str, Method]) -> None:
    """Each model on a crowd of each size, votes alone."""
    for crowd in thinned:
        for name, method in methods.items():
            case = Case(crowd.name, crowd.votes_a_task, 0, name)
            archive.add(case, crowd, measure(crowd, method(crowd.votes, crowd.group)))


def measure_gold(archive: Archive, crowd: Crowd, golds: Iterable[int], methods: Mapping[str, Method]) -> None:
    """Each model with gold of some tasks, the mean of several draws."""
    for labels in golds:
        draws = list(crowd.golden(labels))
        for name, method in methods.items() if draws else ():
            found = [measure(draw, method(draw.votes, draw.group)) for draw in draws]
            archive.add(Case(crowd.name, None, labels, name), crowd, mean_measures(found))


def measure_peers(archive: Archive, thinned: Iterable[Crowd], limit: float) -> dict[str, str]:
    """Crowd-kit's models that have not been measured on these votes, and why some give nothing."""
    todo, missing = [], {}
    for crowd in thinned:
        cases = [Case(crowd.name, crowd.votes_a_task, 0, peer) for peer in PEERS]
        if left := [c.method.removeprefix(PREFIX) for c in cases if archive.find(c, crowd) is None]:
            todo.append((crowd, left))
    for crowd, model, prediction in fit_peers(todo, limit) if todo else ():
        case = Case(crowd.name, crowd.votes_a_task, 0, f"{PREFIX}{model}")
        if isinstance(prediction, str):
            missing[f"{case.method} on {case.name}, {size_name(case.votes_a_task)}"] = prediction
        else:
            archive.add(case, crowd, measure(crowd, prediction))
    return missing


def summary(archive: Archive, name: str) -> str:
    """The measures of `auto` and of shares of votes on one set, in words."""
    rows = {m: archive.rows.get(Case(name, None, 0, m)) for m in ("auto", "naive_soft")}
    parts = [
        f"{m} is right {row[1].accuracy:.3f}, says {row[1].confidence:.3f}, ECE {row[1].ece:.3f}"
        for m, row in rows.items()
        if row
    ]
    return "; ".join(parts) or "measured"


def found_in(archive: Archive, crowds: dict[str, Crowd], votes_a_task: int | None, gold: int) -> Found:
    """The measures of every method on every set that are still true of the votes."""
    found: Found = {}
    thinned = {name: crowd.thinned(votes_a_task) for name, crowd in crowds.items()}
    for method in (BEFORE, *OWN, "gold_majority", *PEERS):
        cases = {name: Case(name, votes_a_task, gold, method) for name in thinned}
        rows = {name: archive.find(case, thinned[name]) for name, case in cases.items()}
        if there := {name: row for name, row in rows.items() if row is not None}:
            found[method] = there
    return found


def save(crowds: dict[str, Crowd], missing: dict[str, str], *, show_peers: bool, output: Path) -> None:
    """Write the report and its figures from all measures that there are by now."""
    archive = Archive(output / OWN_FILE, *([output / PEERS_FILE] if show_peers else []))
    parts = {size_name(n): found_in(archive, crowds, n, 0) for n in VOTES_A_TASK}
    parts |= {gold_name(n): found_in(archive, crowds, None, n) for n in GOLD_LABELS}
    record: dict[str, Any] = {
        "machine": machine(),
        "groups": {name: crowd.group for name, crowd in crowds.items()},
        "weak": sorted(sets.WEAK),
        "missing": missing,
        "means": {part: {w: means(found, w) for w in WEIGHINGS} for part, found in parts.items() if found},
    }
    write(output, "honesty", render(record, crowds, parts[size_name(None)]), record)


if __name__ == "__main__":
    launch(main)
