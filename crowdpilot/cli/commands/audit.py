"""`crowdpilot audit`: draws labels for an expert to check, and bounds the cost of all labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.costs import Prices
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, print_table, show_status

if TYPE_CHECKING:
    from crowdpilot.hybrid.audit.expert_audit import Audit

STANDARD_INPUT = Path("-")
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
    probabilities p_CLASS or `confidence` of LABELS are, as long as the checked labels are right. A file
    with answers that were not read is never overwritten. If
    these may be wrong, start with `--experts-err` and ask a second expert: `--again 30 -o second.csv`,
    then `--second second.csv`.
    """
    from crowdpilot import io
    from crowdpilot.cli.shared.label_files import audit_files

    _check(sample, again, output, level)
    options.check_writable(output, io.TABLES)
    if state is None and labels == STANDARD_INPUT:
        raise ValueError("labels of standard input have no name to save the audit by: give --state FILE")
    state = labels.with_name(f"{labels.stem}.audit.json") if state is None else state
    options.check_writable(state, (".json",))
    with show_status(f"reading {labels}"):
        pool = audit_files.read_pool(labels, options.split_commas(classes))
    chosen = {"costs": costs, "level": level, "seed": seed, "experts_err": experts_err or None}
    if not state.exists() and (sample is None or checked or second):
        raise ValueError("no audit has started: draw tasks first with --sample 50 -o check.csv")
    current, settings = (
        audit_files.resume_audit(state, pool, chosen)
        if state.exists()
        else audit_files.start_audit(pool, chosen, sample)
    )
    if (again or second) and not current.experts_err:
        raise ValueError("second opinions count in audits that started with --experts-err only")
    if checked is not None:
        new = audit_files.new_answers(pool, checked, current.answers, current.pending)
        current.add_answers(list(new), list(new.values()))
    if second is not None:
        new = audit_files.new_answers(pool, second, current.second_answers, current.pending_second)
        current.add_second_answers(list(new), list(new.values()))
    is_there = output is not None and output.exists()
    if output is not None:
        read = [file for file in (checked, second) if file is not None]
        audit_files.check_overwritten(output, read, pool, [current.answers, current.second_answers])
    drawn = current.draw(sample) if sample else current.draw_second(again) if again else []
    if is_there:  # tasks in it that wait for an answer are not lost
        drawn = current.pending_second if again else current.pending
    audit_files.save_audit(state, pool, settings, current, output, drawn)
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
