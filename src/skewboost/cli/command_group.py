"""The commands of this package, and those that other packages add.

Another package adds a command by an entry point of the group ``skewboost.commands``. It names a `Command`: a dataclass
of options like those of `commands.py`, in a module beside which a module ``NAME_command`` has the function `run`. The
package is imported when its command is used; the help about all commands shows the summary of the package.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

from skewboost.cli.exit_codes import CommandError, OneLineErrors
from skewboost.cli.options import Command
from skewboost.names import visible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "skewboost.commands"
ELSEWHERE = {"reproduce": "skewboost-reproductions"}  # commands of the packages in our repository, and extras of ours


def add_command(app: typer.Typer, command: type[Command], name: str) -> None:
    """Add a command, whose options Typer reads from the signature of the dataclass."""

    def run(**values: Any) -> None:
        from skewboost.cli.output_files import check_files_differ

        request = command(**values)
        check_files_differ(request.inputs, request.outputs)
        if sys.stdout is None and getattr(request, "output", None) is None:  # as `>&-` and some schedulers leave it
            raise CommandError(
                "standard output is closed, so the result cannot be printed.", "Redirect it to a file or to /dev/null."
            )
        package, _, _ = command.__module__.rpartition(".")
        import_module(f"{package}.{request.module}" if package else request.module).run(request)

    hints, signature = get_type_hints(command, include_extras=True), inspect.signature(command)
    described = [parameter.replace(annotation=hints[name]) for name, parameter in signature.parameters.items()]
    run.__signature__ = signature.replace(parameters=described)  # type: ignore[attr-defined]
    run.__annotations__ = hints
    epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in command.examples)
    app.command(name, help=command.__doc__, epilog=epilog if command.examples else None)(run)


def found() -> Sequence[EntryPoint]:
    """Return the commands of other packages, from their metadata."""
    from importlib.metadata import entry_points  # takes longer than to find out that a command is ours

    return tuple(entry_points(group=GROUP))


class CommandGroup(OneLineErrors):
    """The commands that are declared here, and then those that other packages have."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands. A name of this package stays ours."""
        own = super().list_commands(ctx)
        return [*own, *sorted({point.name for point in found()} - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, or None."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        points = [point for point in found() if point.name == cmd_name]
        if points:
            return ForeignCommand(points)
        if cmd_name in ELSEWHERE and not ctx.resilient_parsing:
            package = ELSEWHERE[cmd_name]
            raise CommandError(
                f"`skewboost {cmd_name}` comes with the package {package}, which is not installed.",
                f'Install it: pip install "skewboost[{cmd_name}]", or in a clone: pip install packages/{package}',
            )
        return None


class ForeignCommand(TyperCommand):
    """A command of another package, which is imported when more than the summary of the package is asked for."""

    def __init__(self, points: Sequence[EntryPoint]) -> None:
        self.points = points
        super().__init__(points[0].name, short_help=_summary(points[0]))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the command itself, which is run or asked for completions next."""
        return self._loaded().make_context(info_name, args, parent=parent, **extra)

    def _loaded(self) -> Any:
        point, *others = self.points
        if others:
            packages = ", ".join(map(_package, self.points))
            raise CommandError(f"several packages have a command {point.name!r}: {packages}.", "Uninstall all but one.")
        try:
            command = point.load()
            if not (isinstance(command, type) and issubclass(command, Command)):
                raise TypeError(f"{point.value} is not a subclass of {Command.__module__}.{Command.__name__}")
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            add_command(alone, command, point.name)
            return get_command(alone)
        except Exception as error:  # the code of others may raise anything
            raise CommandError(
                f"the command {point.name!r} of the package {_package(point)} cannot be imported "
                f"({type(error).__name__}: {error}).",
                "Update that package, or uninstall it.",
            ) from error


def _package(point: EntryPoint) -> str:
    return visible(point.dist.name) if point.dist is not None else point.module


def _summary(point: EntryPoint) -> str:
    if point.dist is not None and "Summary" in point.dist.metadata:
        return visible(point.dist.metadata["Summary"])
    return f"A command of the package {_package(point)}."
