"""How honest probabilities are: `python -m benchmarks.calibration --data DIR`."""

from __future__ import annotations

import json
import multiprocessing
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from benchmarks import calibration_crowd, calibration_fusion
from benchmarks.calibration_runs import GRIDS, TARGETS, Row, features, fused_posterior, perform
from benchmarks.calibration_sets import FUSIONS, SETS, read_set
from benchmarks.calibration_tables import render_model
from benchmarks.learning_runs import versions
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, write


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    parts: Annotated[str, typer.Option(help="text, crowd or fusion, with commas.")] = "text,crowd,fusion",
    models: Annotated[str, typer.Option(help="NN1 or MiniLM, with commas.")] = "NN1,MiniLM",
    sets: Annotated[str, typer.Option(help="Sets of texts, with commas; all if not given.")] = "",
    fusions: Annotated[str, typer.Option(help="MV, DS, GLAD or auto, with commas.")] = ",".join(FUSIONS),
    cache: Annotated[Path | None, typer.Option(help="Folder that keeps what the encoder says.")] = None,
    again: Annotated[bool, typer.Option(help="Do anew what was done before.")] = False,
    jobs: Annotated[int, typer.Option(help="How many processes, a thread each.")] = 2,
    output: Annotated[Path, typer.Option(help="Folder for the report and its figures.")] = RESULTS,
) -> None:
    """Measure what is wanted and was not measured before, and write the tables."""
    warnings.simplefilter("ignore")
    path = output / "calibration.json"
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for part in ("text", "crowd", "fusion"):
        record.setdefault(part, {})
    record |= {"machine": machine(), "versions": versions()}
    wanted = [name for name in sets.split(",") if name] or list(SETS)
    start = perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        run = partial(_run, pool, write=lambda: _write(output, record))
        if "text" in parts:
            _texts(run, record["text"], data, cache, models.split(","), wanted, fusions.split(","), again)
        if "crowd" in parts:
            todo = {f"{n}, {b}": (data, cache, n, b) for n, b in calibration_crowd.cases()}
            run(calibration_crowd.measure, _left(todo, record["crowd"], again), record["crowd"])
        if "fusion" in parts:
            run(
                calibration_fusion.measure,
                _left({"cifar10h": (data,)}, record["fusion"], again),
                record["fusion"],
            )
    _write(output, record)
    typer.echo(f"done in {perf_counter() - start:.0f} s", err=True)


def _texts(
    run: Callable[..., None],
    found: dict[str, Any],
    data: Path,
    cache: Path | None,
    models: list[str],
    sets: list[str],
    fusions: list[str],
    again: bool,
) -> None:
    fused: dict[str, Any] = {}
    rows = {}
    for name in sets:
        crowd = read_set(data, name)
        known = ["MV"] if crowd.shares_only else fusions
        if "MiniLM" in models and cache is not None:
            for texts in (crowd.texts, crowd.validation[0], *(t for t, _ in crowd.tests.values())):
                features(texts, "minilm", cache)
        for model in models:
            for fusion in known:
                for target in TARGETS:
                    rows[f"{model} | {name} | {fusion} | {target}"] = Row(model, name, fusion, target)
    rows = _left(rows, found, again)
    pairs = {f"{row.name} | {row.fusion}": (row.name, row.fusion, data) for row in rows.values()}
    run(fused_posterior, pairs, fused)
    todo = {key: (row, data, cache, fused[f"{row.name} | {row.fusion}"]) for key, row in rows.items()}
    run(perform, todo, found)


def _left(todo: dict[str, Any], found: dict[str, Any], again: bool) -> dict[str, Any]:
    return {key: value for key, value in todo.items() if again or key not in found}


def _run(
    pool: ProcessPoolExecutor,
    work: Callable[..., Any],
    todo: dict[str, tuple[Any, ...]],
    found: dict[str, Any],
    *,
    write: Callable[[], None],
) -> None:
    """Do all that is to be done, keep what is found as soon as it is there, and tell."""
    futures = {pool.submit(work, *arguments): key for key, arguments in todo.items()}
    for n, future in enumerate(as_completed(futures), 1):
        found[futures[future]] = future.result()
        print(f"[{n}/{len(futures)}] {futures[future]}", file=sys.stderr, flush=True)
        if work is not fused_posterior:
            write()


def _write(output: Path, record: dict[str, Any]) -> None:
    text = TEXT.format(
        machine=record["machine"], note=record.get("note", ""),
        grids="\n".join(f"- {name}: {grid}" for name, grid in GRIDS.items()),
        versions=", ".join(f"{name} {number}" for name, number in record["versions"].items()),
    )  # fmt: skip
    if record["fusion"]:
        text += f"\n## CIFAR-10H: networks and votes\n\n{FUSION}\n"
        text += calibration_fusion.render(record["fusion"]["cifar10h"])
    if record["crowd"]:
        text += f"\n## Maps fitted on votes alone\n\n{CROWD}\n{calibration_crowd.render(record['crowd'])}"
    for model in GRIDS:
        if any(key.startswith(f"{model} |") for key in record["text"]):
            text += render_model(record["text"], model)
    write(output, "calibration", text, record)


TEXT = """# How honest probabilities are

Written by `python -m benchmarks.calibration --data DIR`. Measured on {machine}, with {versions}.
{note}
Texts: one linear layer on TF-IDF ("NN1") or on sentence embeddings ("MiniLM"), trained by Adam towards
targets that a fusion of the votes gives; settings and epoch are the best on the validation set (macro F1,
accuracy), never on the test. Maps are fitted on held-out predictions for the training tasks and the labels
of the fusion, without any true label. Where a set has only the shares of a crowd, they take the place of
majority voting. "hard" without a map is what others do. The test that counts is the one of the paper, with
equally many texts of each class where a set has it; the same settings on natural shares stand beside it.
Macro F1 and ECE (15 bins of equal width). Small tests show an ECE where there is none: "ECE if honest" is
what the same probabilities would show on average if they were right, and debiased ECE has that taken off.

Grids:
{grids}
"""
FUSION = """3,000 images to fit, 7,000 to test, mean of 10 splits. Votes are drawn without replacement. One
confusion matrix for all people, with half a vote in each cell. "truth": a and b of the fusion by the true
classes of the images for fitting; "votes": matrix, a and b without any truth, from two or more votes on the
same images. With 0 votes, "truth" is temperature scaling.
"""
CROWD = """ECE % on the test, mean ± standard deviation of 5 seeds. The classifier is trained towards the
posterior of Dawid and Skene's model; all maps are fitted on the same held-out predictions for the training
tasks, by their true classes, by the posterior, or by the likelihood of all votes or of one vote of each task.
"""

if __name__ == "__main__":
    launch(main)
