"""Commands that other packages add by entry points."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skewboost.cli import command_group

COMMAND = """
from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from skewboost.cli.options import Command, Json, option


@dataclass(frozen=True, kw_only=True)
class Greet(Command):
    '''Greet somebody.'''

    examples: ClassVar[tuple[str, ...]] = ("skewboost greet Ada",)

    name: Annotated[str, typer.Argument(help="Who.", metavar="NAME", autocompletion=lambda incomplete: ["Ada", "Alan"])]
    loud: Annotated[bool, option("--loud", "In capitals.")] = False
    output: Annotated[str | None, option("--output -o", "A file.", "FILE")] = None
"""
WORK = """
from skewboost.errors import InputError


def run(request):
    if request.name == "Nobody":
        raise InputError("There is nobody.", "Name somebody.")
    text = f"Hello, {request.name}!"
    print(text.upper() if request.loud else text)
"""


def install(folder, name="greetings", *, value=None, command="greet", module=COMMAND, summary="Greetings of all kinds"):
    """Put a package with a command into a folder as pip does, and return its place."""
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "options.py").write_text(module)
    (package / "greet_command.py").write_text(WORK)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: {summary}\n")
    (info / "entry_points.txt").write_text(f"[skewboost.commands]\n{command} = {value or f'{name}.options:Greet'}\n")
    return folder


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install packages, which are forgotten after the test."""

    def add(*args, **kwargs):
        folder = tmp_path / f"site{len(list(tmp_path.glob('site*')))}"
        monkeypatch.syspath_prepend(install(folder, *args, **kwargs))

    before = set(sys.modules)
    yield add
    for name in set(sys.modules) - before:
        if name.startswith("greetings"):
            del sys.modules[name]


def test_a_command_of_another_package_runs_as_ours_do(run, installed):
    installed()
    assert run("greet", "Ada").stdout == "Hello, Ada!\n"
    assert run("greet", "Ada", "--loud").stdout == "HELLO, ADA!\n"
    text = run("greet", "--help").stdout
    for part in ("Greet somebody.", "NAME", "In capitals.", "Examples:", "skewboost greet Ada"):
        assert part in text


def test_its_mistakes_are_one_line(installed, refused):
    installed()
    assert refused("greet", "Nobody") == "error: There is nobody. Name somebody.\n"
    assert "Missing argument" in refused("greet")
    assert "No such option" in refused("greet", "Ada", "--quiet")
    assert "No such command 'greets'" in refused("greets")


def test_help_shows_its_summary_and_does_not_import_it(tmp_path):
    install(tmp_path, module="raise RuntimeError('imported')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['skewboost', *sys.argv[1:]]\n"
        "import atexit\n"
        "unwanted = ('greetings', 'skewboost_reproductions', 'joblib', 'pandas', 'matplotlib')\n"
        "atexit.register(lambda: print([name for name in unwanted if name in sys.modules]))\n"
        "from skewboost.cli import main; main()"
    )
    shown = subprocess.run([sys.executable, "-c", code, "--help"], check=True, capture_output=True, text=True).stdout
    assert " greet          Greetings of all kinds\n" in shown
    assert shown.endswith("\n[]\n")


def test_its_arguments_are_completed(installed, run):
    installed()
    for words, found in (("skewboost gr", "greet"), ("skewboost greet A", "Alan")):
        env = {"_SKEWBOOST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        shown = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; from skewboost.cli import main; main()"],
            env=env, capture_output=True, text=True,
        )  # fmt: skip
        assert found in shown.stdout.split(), shown


def test_what_it_writes_is_not_what_it_reads(installed, refused, tmp_path):
    """Checks of all commands hold for it, too."""
    module = COMMAND.replace("    name: Annot", "    data: str = 'a.csv'\n    name: Annot")
    installed(module=module)
    (tmp_path / "a.csv").write_text("a\n")
    assert "a.csv" in refused("greet", "Ada", "--data", "a.csv", "-o", "a.csv")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"module": "import greetings_of_nobody"}, "(ModuleNotFoundError: No module named 'greetings_of_nobody')"),
        ({"module": "1 / 0"}, "(ZeroDivisionError: division by zero)"),
        ({"value": "greetings.options:Bow"}, "has no attribute 'Bow')"),
        (
            {"value": "greetings.options:option"},
            "is not a subclass of skewboost.cli.options.Command",
        ),
    ],
    ids=str,
)
def test_a_command_that_cannot_be_imported_keeps_no_other_from_running(installed, refused, run, given, reason):
    installed(**given)
    message = refused("greet", "Ada")
    assert message.startswith("error: the command 'greet' of the package greetings cannot be imported")
    assert reason in message
    assert "Update that package, or uninstall it." in message
    assert run("list").exit_code == 0
    assert "Greetings of all kinds" in run("--help").stdout


def test_commands_of_ours_are_not_replaced(installed, run):
    installed(command="list")
    assert "CSRA" in run("list").stdout
    assert "Greetings" not in run("--help").stdout


def test_two_packages_cannot_have_one_command(installed, refused, run):
    installed("greetings_a")
    installed("greetings_b")
    message = refused("greet", "Ada")
    assert "several packages have a command 'greet'" in message
    assert "greetings_a" in message
    assert "greetings_b" in message
    assert run("--help").stdout.count(" greet ") == 1


def test_a_missing_package_of_ours_is_named_with_what_installs_it(refused, run, monkeypatch):
    others = [point for point in command_group.found() if point.name != "reproduce"]
    assert " reproduce " in run("--help").stdout
    monkeypatch.setattr(command_group, "found", lambda: others)
    assert " reproduce " not in run("--help").stdout
    assert 'Install it: pip install "skewboost[reproduce]"' in refused("reproduce", "list")
