"""The application: each command of `commands.py` runs in a module of its own, which is imported when it runs."""

from __future__ import annotations

import inspect
import os
import sys
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer

from skewboost import __version__
from skewboost.cli.commands import COMMANDS
from skewboost.cli.exit_codes import CommandError, OneLineErrors
from skewboost.cli.options import Command
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
    cls=OneLineErrors,
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


def _add(command: type[Command]) -> None:
    """Add a command, whose options Typer reads from the signature of the dataclass."""

    def run(**values: Any) -> None:
        from skewboost.cli.output_files import check_files_differ

        request = command(**values)
        check_files_differ(request.inputs, request.outputs)
        if sys.stdout is None and getattr(request, "output", None) is None:  # as `>&-` and some schedulers leave it
            raise CommandError(
                "standard output is closed, so the result cannot be printed.", "Redirect it to a file or to /dev/null."
            )
        import_module(f"skewboost.cli.{request.module}").run(request)

    hints, signature = get_type_hints(command, include_extras=True), inspect.signature(command)
    described = [parameter.replace(annotation=hints[name]) for name, parameter in signature.parameters.items()]
    run.__signature__ = signature.replace(parameters=described)  # type: ignore[attr-defined]
    run.__annotations__ = hints
    epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in command.examples)
    app.command(command.command_name(), help=command.__doc__, epilog=epilog if command.examples else None)(run)


for command in COMMANDS:
    _add(command)
