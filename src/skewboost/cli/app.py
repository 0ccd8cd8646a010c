"""The application: each command of `commands.py` runs in a module of its own, which is imported when it runs."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from skewboost import __version__
from skewboost.cli.command_group import CommandGroup, add_command
from skewboost.cli.commands import COMMANDS
from skewboost.cli.output import print_line

EPILOG = """\
\b
Begin with:
  skewboost info claims.csv --target fraud
  skewboost fit claims.csv --target fraud --cost 20 -o model.json
  skewboost predict model.json new.csv -o answers.csv

\b
Exit codes:
  0    success
  1    the goal or the rate was not reached, or the command failed
  2    an error in the arguments or the data
  130  interrupted by Ctrl-C

Results go to stdout, all else to stderr. With SKEWBOOST_DEBUG=1 errors come with a traceback.
"""

app = typer.Typer(
    cls=CommandGroup,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    epilog=EPILOG,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"skewboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def skewboost(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Boosting for imbalanced data: one class is rare, or one kind of mistake costs more than the other."""
    os.environ["MPLBACKEND"] = "Agg"  # Matplotlib draws to files only
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in COMMANDS:
    add_command(app, command, command.command_name())
