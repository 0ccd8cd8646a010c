"""The commands and their options. What a command does lives in a module of its own, imported when it runs."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from skewboost import __version__


class OneLineErrors(TyperGroup):
    """Says what is wrong with the arguments in one line, where Typer prints a usage text and a box around it."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and leave with its exit code: 2 for bad arguments, 130 for Ctrl-C."""
        if not kwargs.get("standalone_mode", True):
            return super().main(*args, **kwargs)
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
        except typer.Abort:
            sys.exit(130)
        except Exception as error:
            # The base class of Typer's errors is not public under one name in all of its versions.
            if not hasattr(error, "format_message"):
                raise
            typer.echo("error: " + " ".join(error.format_message().split()), err=True)
            sys.exit(getattr(error, "exit_code", 1))
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(cls=OneLineErrors, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"skewboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def skewboost(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Boosting for lopsided data."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _check_jobs(n_jobs: int) -> int:
    if n_jobs != -1 and n_jobs < 1:
        raise typer.BadParameter(f"{n_jobs} is neither -1 (all cores) nor a number of threads")
    return n_jobs


def _make_folder(out: Path) -> Path:
    """Before any training, so that nobody waits for pictures that cannot be written."""
    problem = ""
    if out.exists() and not out.is_dir():
        problem = f"{out} is a file, not a folder"
    else:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot make the folder {out}: {error.strerror}"
        else:
            problem = "" if os.access(out, os.W_OK) else f"no permission to write to {out}"
    if problem:
        raise typer.BadParameter(problem, param_hint="--out")
    return out


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures; made if need be.")] = Path("skewboost-demo"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of boosting.")] = 200,
    n_jobs: Annotated[int, typer.Option("--n-jobs", callback=_check_jobs, help="Threads; -1 is all cores.")] = -1,
) -> None:
    """Compare the boosters on two lopsided data sets: tables here, pictures in a folder."""
    folder = _make_folder(out)
    from skewboost.cli.demo import run

    try:
        run(folder, rounds, n_jobs)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of the tables went away, which Typer handles
            raise
        typer.echo(f"error: cannot write to {out}: {error.strerror}", err=True)
        raise typer.Exit(1) from error


@app.command("list")
def list_variants(
    wanted: Annotated[str | None, typer.Argument(help="Part of a name or paper, or how costs enter: once, …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All fields of all variants, as JSON.")] = False,
) -> None:
    """List the variants with their papers and a verdict on each."""
    from skewboost.cli import listing

    if as_json and wanted is not None:
        raise typer.BadParameter("--json lists all variants; leave the argument out, or filter the JSON")
    if as_json:
        typer.echo(listing.as_json())
    else:
        listing.show(wanted)


@app.command()
def info(
    data: Annotated[str, typer.Argument(help="A table: CSV, Parquet, Feather, ARFF or LIBSVM; - is standard input.")],
    target: Annotated[str | None, typer.Option(help="The column that holds the classes.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Say what is in a table: what is rare, missing, categorical or suspicious."""
    from skewboost.cli.data import DataError
    from skewboost.cli.info import run

    try:
        run(data, target, as_json)
    except DataError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
