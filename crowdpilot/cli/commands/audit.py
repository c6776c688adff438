"""`crowdpilot audit`: draws labels for an expert to check, and bounds the cost of all labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.costs import Prices, parse_costs
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, print_table, show_status

if TYPE_CHECKING:
    from crowdpilot.arrays import Codes, Floats
    from crowdpilot.hybrid.audit.expert_audit import Audit

DEFAULTS: dict[str, Any] = {"costs": "error=1", "level": 0.95, "seed": 0, "experts_err": False}
DEFAULT_ERROR_PROBABILITY = 0.1  # of a label, where the file has neither probabilities nor confidences
STATE_VERSION = 1  # of the file that keeps an audit
ROWS = {
    "cost per item": ("cost", "cost_low"),
    "cost in all": ("total", None),
    "error rate": ("error_rate", "error_rate_low"),
    "cost per item, checked ones corrected": ("remaining_cost", None),
    "error rate, checked ones corrected": ("remaining_error_rate", None),
}

EXAMPLES = examples(
    "audit labels.csv --sample 50 -o check.csv",
    "audit labels.csv --checked check.csv --target-loss 0.1",
)


class Pool(NamedTuple):
    """Labelled tasks, with the posterior of their classes."""

    tasks: list[str]
    classes: list[str]
    decided: Codes
    probs: Floats


def audit(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="File with the label of each task.")],
    sample: Annotated[int | None, typer.Option(help="Draw this many tasks to be checked.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for these tasks, with a label to fill in.")
    ] = None,
    checked: Annotated[
        Path | None, typer.Option(help="That file with the true labels of some or all of its tasks.")
    ] = None,
    again: Annotated[
        int | None, typer.Option(help="Draw this many checked tasks for a second expert.")
    ] = None,
    second: Annotated[
        Path | None, typer.Option(help="That file with the labels of the second expert.")
    ] = None,
    experts_err: Annotated[
        bool, typer.Option("--experts-err", help="Checked labels may be wrong; to be given from the start.")
    ] = False,
    costs: Prices = None,
    level: Annotated[float | None, typer.Option(help="Confidence level of the bound; 0.95.")] = None,
    target_loss: Annotated[
        float | None, typer.Option(help="Cost of wrong decisions per item that would be low enough.")
    ] = None,
    classes: options.Classes = None,
    state: Annotated[
        Path | None, typer.Option(help="File with the state of the audit; LABELS with .audit.json.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help=options.SEED_HELP, show_default="0")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw tasks of LABELS for an expert to check; the answers bound the cost of all labels.

    First `--sample 50 -o check.csv`; then, with the column `label` filled in, `--checked check.csv`.
    Both may be repeated until the bound is low enough: it holds at any time, however wrong the
    probabilities p_CLASS or `confidence` of LABELS are, as long as the checked labels are right. If
    these may be wrong, start with `--experts-err` and ask a second expert: `--again 30 -o second.csv`,
    then `--second second.csv`.
    """
    from crowdpilot import io

    _check(sample, again, output, level)
    options.check_writable(output, io.TABLES)
    state = labels.with_name(f"{labels.stem}.audit.json") if state is None else state
    options.check_writable(state, (".json",))
    with show_status(f"reading {labels}"):
        pool = _read_pool(labels, options.split_commas(classes))
    chosen = {"costs": costs, "level": level, "seed": seed, "experts_err": experts_err or None}
    if not state.exists() and (sample is None or checked or second):
        raise ValueError("no audit has started: draw tasks first with --sample 50 -o check.csv")
    current, settings = _resume(state, pool, chosen) if state.exists() else _start(pool, chosen, sample)
    if (again or second) and not current.experts_err:
        raise ValueError("second opinions count in audits that started with --experts-err only")
    if checked is not None:
        new = _new_answers(pool, checked, current.answers, current.pending)
        current.add_answers(list(new), list(new.values()))
    if second is not None:
        new = _new_answers(pool, second, current.second_answers, current.pending_second)
        current.add_second_answers(list(new), list(new.values()))
    drawn = current.draw(sample) if sample else current.draw_second(again) if again else []
    _save(state, pool, settings, current, output, drawn)
    _print(current, target_loss, as_json)


def _check(sample: int | None, again: int | None, output: Path | None, level: float | None) -> None:
    chosen = options.without_none(sample=sample, again=again)
    if len(chosen) > 1:
        raise ValueError("--sample and --again are two files: give one of them at a time")
    if bool(chosen) != (output is not None):
        raise ValueError("--sample and --output belong together: how many tasks, and where to write them")
    for name, number in chosen.items():
        if number < 1:
            raise ValueError(f"--{name} is {number}, expected one or more")
    if level is not None and not 0 < level < 1:
        raise ValueError(f"--level is {level:g}, expected a number between 0 and 1 such as 0.95")


def _start(pool: Pool, chosen: dict[str, Any], sample: int | None) -> tuple[Audit, dict[str, Any]]:
    from crowdpilot.hybrid.audit.expert_audit import Audit

    settings = {**DEFAULTS, **options.without_none(**chosen)}
    costs = parse_costs(settings["costs"], len(pool.classes))
    rest = {name: settings[name] for name in ("level", "seed", "experts_err")}
    return Audit(costs, pool.decided, pool.probs, planned=sample, **rest), settings


def _resume(state: Path, pool: Pool, chosen: dict[str, Any]) -> tuple[Audit, dict[str, Any]]:
    from crowdpilot.hybrid.audit.expert_audit import Audit

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


def _new_answers(pool: Pool, file: Path, known: dict[int, int], pending: list[int]) -> dict[int, int]:
    """New answers of a file, by item; those that are known already must be the same."""
    from crowdpilot.cli.shared.labels import read_column

    task = {name: i for i, name in enumerate(pool.tasks)}
    code = {name: k for k, name in enumerate(pool.classes)}
    labels = {name: str(label) for name, label in read_column(file).items()}
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


def _save(
    state: Path, pool: Pool, settings: dict[str, Any], audit: Audit, output: Path | None, drawn: list[int]
) -> None:
    """Write both files, or none."""
    from crowdpilot import io
    from crowdpilot.io.atomic_write import atomic_path

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


def _print(audit: Audit, target: float | None, as_json: bool) -> None:
    bound = audit.bound()
    numbers: dict[str, Any] = {**bound.to_dict(), "estimate": audit.estimate(), "waiting": len(audit.pending)}
    if target is not None:
        numbers |= {"target": target, "done": bound.cost <= target}
    if as_json:
        typer.echo(json.dumps(numbers, indent=2))
        return
    if bound.checked:
        rows = [(name, numbers.get(low or ""), numbers[up]) for name, (up, low) in ROWS.items()]
        print_table(("measure", "at least", "at most"), [row for row in rows if row[2] is not None])
        if audit.pending:
            print_message(
                f"{len(audit.pending)} tasks have no label yet; answers count up to the first of them"
            )
    if target is not None:
        reached = "is at most" if numbers["done"] else "is not yet surely at most"
        print_message(f"after {bound.checked} of {bound.items} tasks the cost per item {reached} {target:g}")


def _read_pool(path: Path, classes: list[str]) -> Pool:
    """Tasks, labels and probabilities of a file that `aggregate` or anything else has written."""
    import numpy as np

    from crowdpilot.cli.shared.labels import column_names, read_column
    from crowdpilot.names import natural_order, to_names

    label_of = {task: str(label) for task, label in read_column(path).items()}
    tasks, columns = list(label_of), column_names(path)
    with_probs = [name[2:] for name in columns if name.startswith("p_")]
    labels = to_names(sorted(set(label_of.values())))
    names = classes or with_probs or [str(name) for name in labels[natural_order(labels)]]
    code = {name: k for k, name in enumerate(names)}
    if unknown := [label for label in label_of.values() if label not in code]:
        known = ", ".join(names)
        raise ValueError(f"{path} has the label {unknown[0]!r}, which is none of the classes {known}")
    if len(names) < 2:
        raise ValueError(f"{path} has one class only, {names[0]!r}; name the others with --classes")
    decided = np.asarray([code[label] for label in label_of.values()], np.int32)
    if with_probs:
        probs = np.zeros((len(tasks), len(names)))
        for name in with_probs:
            if name in code:
                probs[:, code[name]] = _probabilities(path, f"p_{name}", tasks)
        return Pool(tasks, names, decided, probs)
    confidence = (
        _probabilities(path, "confidence", tasks)
        if "confidence" in columns
        else np.full(len(tasks), 1 - DEFAULT_ERROR_PROBABILITY)
    )
    probs = np.repeat((1 - confidence[:, None]) / (len(names) - 1), len(names), axis=1)
    probs[np.arange(len(tasks)), decided] = confidence
    return Pool(tasks, names, decided, probs)


def _probabilities(path: Path, column: str, tasks: list[str]) -> Floats:
    from crowdpilot.cli.shared.labels import read_numbers

    numbers = read_numbers(path, column, tasks)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{path} has a {column} that is not between 0 and 1")
    return numbers
