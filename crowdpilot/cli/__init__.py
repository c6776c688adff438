"""The command line: one file per command, one line here."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdpilot import __version__
from crowdpilot.cli.group import Commands

COMMANDS = {  # by panel: the name of each command, which is that of its module, and what it is about
    "Labels": {
        "aggregate": "From votes to labels with their confidence.",
        "score": "How good labels are, where the truth is known.",
        "strategies": "What votes can be aggregated by, with papers.",
    },
    "People and tasks": {
        "report": "A page about the workers, tasks and labels: whom to trust, what to do next.",
        "identify": "Which workers and which tasks to look at.",
        "agreement": "How much the workers agree.",
    },
    "Learn": {
        "train": "A classifier from the labels that an aggregator makes of votes.",
        "aggregate-deep": "Labels from votes and the content of tasks together.",
        "predict": "What a trained classifier says of new tasks.",
    },
    "Campaigns": {
        "forecast": "What a campaign will cost, and how wrong it will be then.",
        "replay": "What policies would have cost on votes that are known already.",
        "audit": "How much the errors in labels cost at most, by checking a few.",
    },
    "Service": {
        "demo": "The whole service at work, on real images with a simulated crowd.",
        "serve": "The service: pages for workers, a dashboard and an API.",
        "keys": "Who may use the dashboard and the API of the service.",
    },
    "Data": {
        "datasets": "Public data sets of votes: list them, or get one.",
        "convert": "Votes from one format to another.",
        "simulate": "Votes of a crowd whose truth is known.",
    },
}

app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, commands in COMMANDS.items():
    for name, about in commands.items():
        app.command(name, help=about, rich_help_panel=panel)(lambda: None)  # the module is loaded when needed


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"crowdpilot {__version__}")
        raise typer.Exit


@app.callback()
def _begin(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Crowdpilot: labels with honest probabilities from a crowd that makes mistakes."""
    if context.invoked_subcommand is None:
        from crowdpilot.cli.welcome import welcome

        welcome()


def main() -> None:
    """Run the command that the arguments of the process name."""
    app(prog_name="crowdpilot")
