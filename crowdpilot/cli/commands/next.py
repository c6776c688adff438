"""`crowdpilot next`: which items people should label next, and a terminal in which one person does."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.costs import Prices
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import check_json, print_columns, print_message, show_status, write_all
from crowdpilot.cli.shared.reading_options import ReadingOptions

if TYPE_CHECKING:
    from crowdpilot.hybrid.vote_requests.requests import VoteRequests
    from crowdpilot.hybrid.vote_requests.resumed_campaign import ResumedCampaign
    from crowdpilot.votes import Votes

STANDARD_INPUT = Path("-")
MAX_SHOWN_CLASSES = 6
EXAMPLES = examples(
    "next items.csv --votes votes.csv --budget 200 -o ask.csv",
    "next items.csv --votes votes.csv --machine probs.csv --budget 20 --costs fp=1,fn=5,crowd=.05",
    "next items.csv --votes votes.csv --classes no,yes --loop --labels labels.csv",
)


@expand_options
def next(
    items: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ITEMS]",
            help="Table with a row for each item: its name, and what people need to see, such as a text. If "
            "not given, the tasks of the votes and the probabilities.",
        ),
    ] = None,
    votes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Votes until now; it may be empty or not there yet.")
    ] = None,
    machine: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Classifier probabilities of the items: columns task and p_CLASS for each class.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="Most to be spent in all, in the unit of --costs; without --costs, in votes."),
    ] = None,
    costs: Prices = None,
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch",
            min=1,
            help="Votes to ask for now; 50, or a fiftieth of the items if that is more.",
        ),
    ] = None,
    worker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            help="Who is there to answer: each is asked what they have not answered yet. With --loop, who is "
            "at the keyboard; the name of the user if not given.",
        ),
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="File with the true label of some items, to judge workers by.")
    ] = None,
    max_votes: Annotated[int | None, typer.Option(min=1, help="Maximum number of votes on an item.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the votes to ask for: .csv, .tsv, .parquet or .jsonl."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", "-l", metavar="FILE", help="File for the labels of all items until now."),
    ] = None,
    loop: Annotated[
        bool,
        typer.Option("--loop", help="Answer at the keyboard; every answer is added to the votes at once."),
    ] = False,
    seed: options.Seed = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with the value of each vote and the label until now.")
    ] = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Which votes to ask for next: those that save more in wrong labels than they cost, the best first.

    The table has a row for each vote, with the columns of ITEMS and an empty label. Add the answers to the
    votes (task, worker, label) and run the same command again: all is in the files, and votes that are there
    count as paid. It ends by itself, when the budget is spent or no vote is worth its price.

    `--costs` gives the price of a vote (crowd=.05) and of wrong labels. Without it a vote costs 1, so that
    `--budget 200` is 200 votes, and a wrong label costs as much as 20 votes.
    """
    from crowdpilot import io
    from crowdpilot.hybrid.plan import Plan
    from crowdpilot.hybrid.vote_requests import request_votes, resume_campaign

    _check_options(items, votes, output, as_json, loop)
    for file in (output, labels):
        options.check_writable(file, io.TABLES)
    _check_labels(labels, (items, votes, machine, gold, output))
    names, plan = options.split_commas(worker), Plan(per_item=max_votes, seed=seed)

    def resume(known: Votes | None) -> ResumedCampaign:
        with show_status("fitting the campaign"):
            return resume_campaign(
                items, known, machine, costs=costs, budget=budget, classes=reading.class_names, gold=gold,
                plan=plan,
            )  # fmt: skip

    if loop:
        resumed = _answer(votes, reading, names, resume)
        write_all({labels: lambda draft: io.write_table(request_votes(resumed).label_columns(), draft)})
        return
    resumed = resume(_read(votes, reading))
    _check_unread(output, resumed)
    asked = request_votes(resumed, batch, names or None)
    write_all({
        output: lambda draft: io.write_table(asked.to_fill_in(), draft),
        labels: lambda draft: io.write_table(asked.label_columns(), draft),
    })  # fmt: skip
    _explain(resumed, asked, votes, output, labels)
    if as_json:
        typer.echo(_to_json(asked))
    elif output is None:
        print_columns(asked.to_fill_in(), as_json=False)


def _check_options(
    items: Path | None, votes: Path | None, output: Path | None, as_json: bool, loop: bool
) -> None:
    check_json(as_json, output)
    if not loop:
        return
    if votes is None:
        raise ValueError(
            "--loop adds the answers to a file of votes: give --votes votes.csv, which may be new"
        )
    if STANDARD_INPUT in (items, votes):
        raise ValueError("--loop reads the keyboard, so items and votes must be files")
    if as_json or output is not None:
        raise ValueError("--loop asks at the keyboard, so leave out -o and --json; --labels has the result")


def _check_labels(labels: Path | None, others: Sequence[Path | None]) -> None:
    """Raise if the file of labels is another one of the command."""
    if labels is not None and any(file and file.absolute() == labels.absolute() for file in others):
        raise ValueError(f"{labels} is named twice, so it is not written over: choose another name")


def _check_unread(output: Path | None, resumed: ResumedCampaign) -> None:
    """Raise if the file of an earlier run has answers that are not among the votes."""
    from crowdpilot import io

    if output is None or not output.is_file():
        return
    try:
        filled = {str(task): label for task, label in io.read_labels(output).items()}
    except ValueError:
        return  # a file of something else, or without any answer
    items = resumed.campaign.view.items()
    known = dict(zip(items.names, items.votes.sum(axis=1).tolist(), strict=True))
    if unread := [task for task in filled if known.get(task) == 0]:
        raise ValueError(
            f"{output} has answers on {len(unread)} items without votes, such as {unread[0]!r}: add them to "
            "the votes first, or choose another name"
        )


def _read(file: Path | None, reading: ReadingOptions) -> Votes | None:
    """The votes of a file; None if there is none yet."""
    if file is None:
        return None
    if file != STANDARD_INPUT and not file.exists():
        print_message(f"{file} is not there yet, so there are no votes until now")
        return None
    if file.is_file() and file.stat().st_size == 0:
        return None
    return reading.load(file)


def _explain(
    resumed: ResumedCampaign,
    asked: VoteRequests,
    votes: Path | None,
    output: Path | None,
    labels: Path | None,
) -> None:
    """Say what was understood, what is spent, what is asked for, and what to do with it."""
    classes = ", ".join(map(str, resumed.classes.tolist()[:MAX_SHOWN_CLASSES]))
    more = ", …" if len(resumed.classes) > MAX_SHOWN_CLASSES else ""
    classifier = "a classifier" if resumed.has_classifier else "no classifier"
    print_message(
        f"{len(resumed.items.names):,} items, {len(resumed.classes)} classes ({classes}{more}), "
        f"{classifier}; a vote costs {resumed.money(resumed.price)}, a wrong label {_error_costs(resumed)}"
    )
    if resumed.votes_elsewhere:
        print_message(
            f"{resumed.votes_elsewhere} votes are on other items and only teach how good workers are"
        )
    print_message(asked.summary)
    if asked.done:
        then = (
            "; --labels labels.csv writes the labels" if labels is None else f"; the labels are in {labels}"
        )
        print_message(f"nothing to ask: {asked.reason}{then}")
        return
    where = "" if output is None else f" in {output}"
    target = "a file of votes" if votes in (None, STANDARD_INPUT) else str(votes)
    print_message(
        f"{len(asked)} votes to ask for{where}: fill in worker and label, add the rows to {target} "
        f"({resumed.items.column}, worker, label) and run the same command again"
    )


def _error_costs(resumed: ResumedCampaign) -> str:
    errors = resumed.campaign.costs.errors
    costs = sorted(set(errors[errors > 0].tolist()))
    return " to ".join(f"{cost:g}" for cost in dict.fromkeys([*costs[:1], *costs[-1:]])) or "0"


def _to_json(asked: VoteRequests) -> str:
    from crowdpilot.json_values import to_json_value

    columns = {name: to_json_value(values) for name, values in asked.columns().items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    about = {
        "votes": asked.votes, "spent": asked.spent, "left": asked.left,
        "expected_errors": asked.expected_errors, "done": asked.done, "reason": asked.reason,
    }  # fmt: skip
    return json.dumps({**to_json_value(about), "ask": rows}, indent=2, ensure_ascii=False)


def _answer(
    votes: Path | None, reading: ReadingOptions, names: list[str],
    resume: Callable[[Votes | None], ResumedCampaign],
) -> ResumedCampaign:  # fmt: skip
    """Let one person answer at the keyboard; the campaign with all their answers."""
    from crowdpilot import io
    from crowdpilot.cli.shared.labelling.session import LabellingSession
    from crowdpilot.cli.shared.labelling.vote_file import open_vote_file

    if len(names) > 1:
        raise ValueError(f"--worker names {len(names)} people, but one is at the keyboard: name one")
    path = Path() if votes is None else votes
    file = open_vote_file(path, reading.for_files())
    _read(path, reading)

    def resume_silently() -> ResumedCampaign:
        has_votes = path.is_file() and path.stat().st_size > 0
        return resume(io.explain(path, **reading.for_files()).votes if has_votes else None)

    session = LabellingSession(resume_silently, file, names[0] if names else _user_name())
    print_message(session.run())
    return session.resumed


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise ValueError("--loop needs to know who answers: give --worker NAME") from None
