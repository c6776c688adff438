"""Files of an audit: the labels to be checked, tasks for experts with their answers, and its saved state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crowdpilot import io
from crowdpilot.arrays import Codes, Floats
from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.costs import parse_costs
from crowdpilot.cli.shared.label_files.label_probs import classes_with_probs, label_probs, spread_confidence
from crowdpilot.cli.shared.output import print_message
from crowdpilot.hybrid.audit.expert_audit import Audit
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.io.table_columns import read_columns
from crowdpilot.io.tables.label_tables import read_label_table
from crowdpilot.names import natural_order

DEFAULTS: dict[str, Any] = {"costs": "error=1", "level": 0.95, "seed": 0, "experts_err": False}
DEFAULT_ERROR_PROBABILITY = 0.1  # of a label, where the file has neither probabilities nor confidences
STATE_VERSION = 1  # of the file that keeps an audit


class Pool(NamedTuple):
    """Labelled tasks, with the posterior of their classes."""

    tasks: list[str]
    classes: list[str]
    decided: Codes
    probs: Floats


def read_pool(path: Path, classes: list[str]) -> Pool:
    """Tasks, labels and probabilities of a file that `aggregate` or anything else has written."""
    table = read_label_table(path)
    label_names = [str(label) for label in table.labels[table.codes].tolist()]
    seen = table.labels[np.unique(table.codes)]
    names = classes or classes_with_probs(table) or [str(name) for name in seen[natural_order(seen)].tolist()]
    code = {name: k for k, name in enumerate(names)}
    if unknown := [label for label in label_names if label not in code]:
        known = ", ".join(names)
        raise ValueError(f"{table.name} has the label {unknown[0]!r}, which is none of the classes {known}")
    if len(names) < 2:
        raise ValueError(f"{table.name} has one class only, {names[0]!r}; name the others with --classes")
    decided = np.asarray([code[label] for label in label_names], np.int32)
    if table.left_out:
        print_message(f"{table.left_out} of {table.rows_read} rows of {table.name} left out: without a label")
    probs = label_probs(table, np.arange(len(decided), dtype=np.int32), decided, names)
    if probs is None:
        unknown_confidence = np.full(len(decided), 1 - DEFAULT_ERROR_PROBABILITY)
        probs = spread_confidence(unknown_confidence, decided, len(names))
    return Pool(table.tasks.tolist(), names, decided, probs)


def start_audit(pool: Pool, chosen: dict[str, Any], sample: int | None) -> tuple[Audit, dict[str, Any]]:
    """A new audit and its settings: those that were chosen, and defaults."""
    settings = {**DEFAULTS, **options.without_none(**chosen)}
    costs = parse_costs(settings["costs"], len(pool.classes))
    rest = {name: settings[name] for name in ("level", "seed", "experts_err")}
    return Audit(costs, pool.decided, pool.probs, planned=sample, **rest), settings


def resume_audit(state: Path, pool: Pool, chosen: dict[str, Any]) -> tuple[Audit, dict[str, Any]]:
    """The audit of a saved state and its settings; an error if it is about other labels or settings."""
    saved = _load(state)
    decided = [pool.classes[k] for k in pool.decided]
    if (saved["tasks"], saved["labels"], saved["classes"]) != (pool.tasks, decided, pool.classes):
        raise ValueError(f"the labels are not those of the audit in {state}; remove it to start another")
    for name, value in chosen.items():
        if value is not None and value != saved["settings"][name]:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is not that of the audit in {state}; remove it to start another")
    return Audit.from_dict(saved["audit"]), saved["settings"]


def _load(state: Path) -> dict[str, Any]:
    """What `_save` wrote; ValueError for any other file."""
    try:
        saved = json.loads(state.read_text(encoding="utf-8"))
        parts = {name: saved[name] for name in ("tasks", "labels", "classes", "settings", "audit")}
        version = saved["version"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{state} holds no audit") from None
    if version != STATE_VERSION:
        raise ValueError(f"{state} holds an audit of version {version}, expected {STATE_VERSION}")
    return parts


def new_answers(pool: Pool, file: Path, known: dict[int, int], pending: list[int]) -> dict[int, int]:
    """New answers of a file, by item; those that are known already must be the same."""
    task = {name: i for i, name in enumerate(pool.tasks)}
    code = {name: k for k, name in enumerate(pool.classes)}
    table = read_label_table(file)
    labels = dict(zip(table.tasks.tolist(), map(str, table.labels[table.codes].tolist()), strict=True))
    if unknown := [name for name in labels if name not in task]:
        raise ValueError(f"{file} has the task {unknown[0]!r}, which has no label to be checked")
    if unknown := [label for label in labels.values() if label not in code]:
        raise ValueError(f"{file} has the label {unknown[0]!r}, which is none of {', '.join(pool.classes)}")
    answers = {task[name]: code[label] for name, label in labels.items()}
    if changed := [i for i, truth in answers.items() if known.get(i, truth) != truth]:
        raise ValueError(f"{file} has another label for {pool.tasks[changed[0]]!r} than before")
    new = {i: truth for i, truth in answers.items() if i not in known}
    if other := [i for i in new if i not in set(pending)]:
        raise ValueError(
            f"{file} has the task {pool.tasks[other[0]]!r}, which was not drawn by this audit and would "
            "make the bound invalid"
        )
    return new


def check_overwritten(output: Path, read: list[Path], pool: Pool, answers: list[dict[int, int]]) -> None:
    """Raise if a file that is to be written has an answer that this audit has not read, now or before."""
    if not output.is_file() or any(output.samefile(file) for file in read):
        return
    known = {(pool.tasks[i], pool.classes[k]) for one in answers for i, k in one.items()}
    if unread := [task for task, answer in _filled(output) if (task, answer) not in known]:
        raise ValueError(
            f"{output} has {len(unread)} answers that were not read, such as that on {unread[0]!r}; so "
            "that they are not lost, give it by --checked (or --second), or choose another name for -o"
        )


def _filled(file: Path) -> list[tuple[str, str]]:
    """The task and each filled cell of a table, whatever its columns are called."""
    try:
        columns = list(read_columns(file).values())
    except ValueError:
        return [(file.name, "")]  # no table of this audit
    rows = zip(*columns, strict=True) if len(columns) > 1 else ()
    return [(str(task), str(cell)) for task, *cells in rows for cell in cells if str(cell or "").strip()]


def save_audit(
    state: Path, pool: Pool, settings: dict[str, Any], audit: Audit, output: Path | None, drawn: list[int]
) -> None:
    """Write both files, or none."""
    saved = {
        "version": STATE_VERSION,
        "tasks": pool.tasks,
        "labels": [pool.classes[k] for k in pool.decided],
        "classes": pool.classes,
        "settings": settings,
        "audit": audit.to_dict(),
    }
    with atomic_path(state) as draft:
        draft.write_text(json.dumps(saved), encoding="utf-8")
        if output is not None:
            tasks = [pool.tasks[i] for i in drawn]
            io.write_table({"task": tasks, "label": [""] * len(tasks)}, output)
            print_message(f"{len(tasks)} tasks to be checked are in {output}; the audit is saved in {state}")
