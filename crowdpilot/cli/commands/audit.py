"""`crowdpilot audit`: which labels an expert should check, and what the checked ones prove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from crowdpilot.arrays import Codes, Floats, natural_order, to_names
from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.costs import Prices, parse_costs
from crowdpilot.cli.shared.help_examples import examples
from crowdpilot.cli.shared.output import note, show, working
from crowdpilot.hybrid.audit.audit import Audit

DEFAULTS: dict[str, Any] = {"costs": "error=1", "alpha": 0.05, "seed": 0, "experts_err": False}
UNSURE = 0.1  # chance that a label is wrong, where the file says nothing
ROWS = {
    "cost per item": ("cost", "cost_low"),
    "cost in all": ("total", None),
    "error rate": ("error_rate", "error_rate_low"),
    "cost per item, checked ones put right": ("remaining_cost", None),
    "error rate, checked ones put right": ("remaining_error_rate", None),
}

EXAMPLES = examples(
    "audit labels.csv --sample 50 -o check.csv",
    "audit labels.csv --checked check.csv --target-loss 0.1",
)


class Pool(NamedTuple):
    """Labelled tasks."""

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
    again: Annotated[int | None, typer.Option(help="Name this many of them for a second expert.")] = None,
    second: Annotated[Path | None, typer.Option(help="That file with the labels of the second.")] = None,
    experts_err: Annotated[
        bool, typer.Option("--experts-err", help="From the beginning: checked labels may be wrong.")
    ] = False,
    costs: Prices = None,
    level: Annotated[float | None, typer.Option(help="How often the bound should hold; 0.95.")] = None,
    target_loss: Annotated[
        float | None, typer.Option(help="Cost of wrong decisions per item that would be low enough.")
    ] = None,
    target: Annotated[float | None, typer.Option(hidden=True)] = None,  # its name at first
    classes: options.Classes = None,
    state: Annotated[
        Path | None, typer.Option(help="File that keeps the audit; LABELS with .audit.json.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Where random numbers begin.", show_default="0")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw tasks of LABELS for an expert to check; from the answers, bound what all labels cost.

    First `--sample 50 -o check.csv`; then, with the column `label` filled in, `--checked check.csv`.
    Both may be repeated until the bound is low enough: it holds at any time, however wrong the
    probabilities p_CLASS or `confidence` of LABELS are, as long as the checked labels are right. If
    these may be wrong, begin with `--experts-err` and ask a second expert: `--again 30 -o second.csv`,
    then `--second second.csv`.
    """
    from crowdpilot import io

    _check(sample, again, output)
    options.ready(output, io.TABLES)
    state = labels.with_name(f"{labels.stem}.audit.json") if state is None else state
    options.ready(state, (".json",))
    with working(f"reading {labels}"):
        pool = _read_pool(labels, options.reading(None, None, None, classes, None)["classes"])
    asked = {"costs": costs, "alpha": _alpha(level), "seed": seed, "experts_err": experts_err or None}
    if not state.exists() and (sample is None or checked or second):
        raise ValueError("no audit has begun: draw tasks first with --sample 50 -o check.csv")
    begun, settings = _resume(state, pool, asked) if state.exists() else _begin(pool, asked, sample)
    if (again or second) and not begun.experts_err:
        raise ValueError("second opinions count in audits that have begun with --experts-err only")
    if checked is not None:
        _tell(begun, pool, checked)
    if second is not None:
        _tell_again(begun, pool, second)
    drawn = begun.next(sample) if sample else begun.next_again(again) if again else []
    _save(state, pool, settings, begun, output, drawn)
    _print(begun, target if target_loss is None else target_loss, as_json)


def _check(sample: int | None, again: int | None, output: Path | None) -> None:
    given = options.given(sample=sample, again=again)
    if len(given) > 1:
        raise ValueError("--sample and --again are two files: give one of them at a time")
    if bool(given) != (output is not None):
        raise ValueError("--sample and --output belong together: how many tasks, and where to write them")
    for name, number in given.items():
        if number < 1:
            raise ValueError(f"--{name} is {number}, expected one or more")


def _alpha(level: float | None) -> float | None:
    """How often a bound of this level may fail."""
    if level is not None and not 0 < level < 1:
        raise ValueError(f"--level is {level:g}, expected a number between 0 and 1 such as 0.95")
    return None if level is None else round(1 - level, 12)


def _begin(pool: Pool, asked: dict[str, Any], sample: int | None) -> tuple[Audit, dict[str, Any]]:
    settings = {**DEFAULTS, **options.given(**asked)}
    costs = parse_costs(settings["costs"], len(pool.classes))
    rest = {name: settings[name] for name in ("alpha", "seed", "experts_err")}
    return Audit(costs, pool.decided, pool.probs, planned=sample, **rest), settings


def _resume(state: Path, pool: Pool, asked: dict[str, Any]) -> tuple[Audit, dict[str, Any]]:
    kept = _kept(state)
    decided = [pool.classes[k] for k in pool.decided]
    if (kept["tasks"], kept["labels"], kept["classes"]) != (pool.tasks, decided, pool.classes):
        raise ValueError(f"the labels are not those of the audit in {state}; remove it to begin another")
    for name, value in asked.items():
        if value is not None and value != kept["settings"][name]:
            option = "level" if name == "alpha" else name.replace("_", "-")
            raise ValueError(f"--{option} is not that of the audit in {state}; remove it to begin another")
    return Audit.from_dict(kept["audit"]), kept["settings"]


def _kept(state: Path) -> dict[str, Any]:
    try:
        kept = json.loads(state.read_text(encoding="utf-8"))
        return {name: kept[name] for name in ("tasks", "labels", "classes", "settings", "audit")}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{state} holds no audit") from None


def _tell(audit: Audit, pool: Pool, file: Path) -> None:
    fresh = _fresh(pool, file, audit.answers, set(audit.waiting))
    audit.tell(list(fresh), list(fresh.values()))


def _tell_again(audit: Audit, pool: Pool, file: Path) -> None:
    fresh = _fresh(pool, file, audit.second_answers, set(audit.waiting_again))
    audit.tell_again(list(fresh), list(fresh.values()))


def _fresh(pool: Pool, file: Path, known: dict[int, int], waiting: set[int]) -> dict[int, int]:
    """New answers of a file, by item; those that are known already must be the same."""
    from crowdpilot.io import read_labels

    task = {name: i for i, name in enumerate(pool.tasks)}
    code = {name: k for k, name in enumerate(pool.classes)}
    found = {str(name): str(label) for name, label in read_labels(file).items()}
    if lost := [name for name in found if name not in task]:
        raise ValueError(f"{file} has the task {lost[0]!r}, which has no label to be checked")
    if lost := [label for label in found.values() if label not in code]:
        raise ValueError(f"{file} has the label {lost[0]!r}, which is none of {', '.join(pool.classes)}")
    answers = {task[name]: code[label] for name, label in found.items()}
    if changed := [i for i, truth in answers.items() if known.get(i, truth) != truth]:
        raise ValueError(f"{file} has another label for {pool.tasks[changed[0]]!r} than was told before")
    fresh = {i: truth for i, truth in answers.items() if i not in known}
    if other := [i for i in fresh if i not in waiting]:
        raise ValueError(
            f"{file} has the task {pool.tasks[other[0]]!r}, which was not drawn by this audit and would "
            "break the bound's promise"
        )
    return fresh


def _save(
    state: Path, pool: Pool, settings: dict[str, Any], audit: Audit, output: Path | None, drawn: list[int]
) -> None:
    """Both files, or none."""
    from crowdpilot import io
    from crowdpilot.io.atomic_write import whole

    kept = {
        "tasks": pool.tasks, "labels": [pool.classes[k] for k in pool.decided], "classes": pool.classes,
        "settings": settings, "audit": audit.to_dict(),
    }  # fmt: skip
    with whole(state) as draft:
        draft.write_text(json.dumps(kept), encoding="utf-8")
        if output is not None:
            tasks = [pool.tasks[i] for i in drawn]
            io.write_table({"task": tasks, "label": [""] * len(tasks)}, output)
            note(f"{len(tasks)} tasks to be checked are in {output}; {state} keeps the audit")


def _print(audit: Audit, target: float | None, as_json: bool) -> None:
    bound = audit.bound()
    numbers: dict[str, Any] = {**bound.to_dict(), "estimate": audit.estimate(), "waiting": len(audit.waiting)}
    if target is not None:
        numbers |= {"target": target, "done": bound.cost <= target}
    if as_json:
        typer.echo(json.dumps(numbers, indent=2))
        return
    if bound.checked:
        rows = [(name, numbers.get(low or ""), numbers[up]) for name, (up, low) in ROWS.items()]
        show(("measure", "at least", "at most"), [row for row in rows if row[2] is not None])
        if audit.waiting:
            note(f"{len(audit.waiting)} tasks wait for a label; answers count up to the first of them")
    if target is not None:
        reached = "is at most" if numbers["done"] else "is not yet surely at most"
        note(f"after {bound.checked} of {bound.items} tasks the cost per item {reached} {target:g}")


def _read_pool(path: Path, classes: list[str] | None) -> Pool:
    """Tasks, labels and probabilities of a file that `aggregate` or anything else has written."""
    from crowdpilot.io import FORMATS, LABEL_FORMATS, read_labels
    from crowdpilot.io.detect import find

    found = {str(task): str(label) for task, label in read_labels(path).items()}
    tasks = list(found)
    columns = (
        () if path.suffix == ".npy" else find(path, {n: FORMATS[n] for n in LABEL_FORMATS}, None, {}).names
    )
    given = [name[2:] for name in columns if name.startswith("p_")]
    labels = to_names(sorted(set(found.values())))
    names = classes or given or [str(name) for name in labels[natural_order(labels)]]
    code = {name: k for k, name in enumerate(names)}
    if lost := [label for label in found.values() if label not in code]:
        raise ValueError(f"{path} has the label {lost[0]!r}, which is none of the classes {', '.join(names)}")
    if len(names) < 2:
        raise ValueError(f"{path} has one class only, {names[0]!r}; name the others with --classes")
    decided = np.asarray([code[label] for label in found.values()], np.int32)
    if given:
        probs = np.zeros((len(tasks), len(names)))
        for name in given:
            if name in code:
                probs[:, code[name]] = _numbers(path, f"p_{name}", tasks)
        return Pool(tasks, names, decided, probs)
    sure = _numbers(path, "confidence", tasks) if "confidence" in columns else np.full(len(tasks), 1 - UNSURE)
    probs = np.repeat((1 - sure[:, None]) / (len(names) - 1), len(names), axis=1)
    probs[np.arange(len(tasks)), decided] = sure
    return Pool(tasks, names, decided, probs)


def _numbers(path: Path, column: str, tasks: list[str]) -> Floats:
    from crowdpilot.io import read_labels

    values = {str(task): value for task, value in read_labels(path, columns={"label": column}).items()}
    try:
        numbers = np.asarray([float(values[task]) for task in tasks])
    except KeyError as error:
        raise ValueError(f"{path} has no {column} for task {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} has something else than numbers in column {column} ({error})") from None
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{path} has a {column} that is not between 0 and 1")
    return numbers
