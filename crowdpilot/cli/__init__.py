"""The command line: the list of all commands, each in a module of `commands/`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from crowdpilot.cli.common_options import Quiet, Verbose, Version
from crowdpilot.cli.group import Commands

COMMANDS = {  # by panel: the name of each command, which is that of its module, and its short help
    "Labels": {
        "aggregate": "Labels and their confidence from votes.",
        "compare": "All strategies on votes whose truth is known, beside majority voting.",
        "score": "Metrics of labels against the truth.",
        "strategies": "The aggregation models, with their papers.",
    },
    "Workers and tasks": {
        "report": "An HTML report about workers, tasks and labels.",
        "identify": "Scores of workers or tasks, those to review first.",
        "agreement": "Measures of agreement between workers.",
    },
    "Training": {
        "train": "Train a classifier on the labels of an aggregator.",
        "aggregate-deep": "Labels from votes and the content of tasks.",
        "predict": "Labels of new tasks by a trained classifier.",
    },
    "Campaigns": {
        "next": "Which items people should label next, and a terminal to label them in.",
        "forecast": "Predicted cost and error rate of a campaign.",
        "replay": "Cost of policies on recorded votes.",
        "audit": "An upper bound on the cost of wrong labels, by checking a few.",
    },
    "Service": {
        "demo": "The service on real images, with a simulated crowd.",
        "serve": "Start the service: pages for workers, a dashboard and an API.",
        "project": "Projects of the service, from files of settings and back.",
        "connect": "Connect a project of Label Studio, and let Crowdpilot drive it.",
        "keys": "Keys of the dashboard and the API.",
        "members": "Members of the service and their roles in projects.",
        "backup": "All data of the service in one file.",
        "restore": "The data of the service from a backup.",
        "secrets": "Secrets that sign sessions and links.",
    },
    "Data": {
        "datasets": "Public data sets of votes: list or download them.",
        "convert": "Convert votes from one format to another.",
        "simulate": "Simulate votes whose truth is known.",
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


@app.callback()
def _welcome(
    context: typer.Context,
    quiet: Quiet = False,
    verbose: Verbose = False,
    version: Version = False,
) -> None:
    """Crowdpilot: labels with honest probabilities from a crowd that makes mistakes."""
    if context.invoked_subcommand is None:
        from crowdpilot.cli.welcome import welcome

        welcome()


def main() -> None:
    """Run the command that the arguments of the process name.

    Results in a file or a pipe are UTF-8, whatever the system; a terminal shows what it can.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            in_file = stream is sys.stdout and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if in_file else stream.encoding, errors="backslashreplace")
    app(prog_name="crowdpilot")
