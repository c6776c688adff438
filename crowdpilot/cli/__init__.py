"""The command line: one file per command, one line here."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdpilot import __version__
from crowdpilot.cli.aggregate import aggregate
from crowdpilot.cli.aggregate_deep import aggregate_deep
from crowdpilot.cli.agreement import agreement
from crowdpilot.cli.audit import audit
from crowdpilot.cli.convert import convert
from crowdpilot.cli.demo import demo
from crowdpilot.cli.forecast import forecast
from crowdpilot.cli.group import Commands
from crowdpilot.cli.identify import identify
from crowdpilot.cli.keys import keys
from crowdpilot.cli.predict import predict
from crowdpilot.cli.replay import replay
from crowdpilot.cli.report import report
from crowdpilot.cli.score import score
from crowdpilot.cli.serve import serve
from crowdpilot.cli.simulate import simulate
from crowdpilot.cli.strategies import strategies
from crowdpilot.cli.train import train

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    aggregate, train, aggregate_deep, predict, identify, agreement,
    report, strategies, simulate, convert, score, audit, forecast, replay, serve, demo,
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
app.add_typer(keys, name="keys")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"crowdpilot {__version__}")
        raise typer.Exit


@app.callback()
def _begin(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Crowdpilot: labels with honest probabilities from a crowd that makes mistakes."""


def main() -> None:
    """Run the command that the arguments of the process name."""
    app(prog_name="crowdpilot")
