"""The package as it is installed, beside the library of the same version."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import skewboost
import skewboost_reproductions
from skewboost_reproductions import experiments
from skewboost_reproductions.command import Reproduce
from skewboost_reproductions.papers import EXPERIMENTS

PACKAGE = Path(__file__).resolve().parents[1]
LIBRARY = PACKAGE.parents[1]


def test_it_needs_the_library_of_its_own_version():
    assert skewboost_reproductions.__version__ == skewboost.__version__
    needs = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["dependencies"]
    assert needs == [f"skewboost[cli]=={skewboost.__version__}"]


def test_an_extra_of_the_library_installs_it():
    extras = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["reproduce"] == ["skewboost-reproductions"]


def test_the_command_is_found_by_its_entry_point():
    (point,) = entry_points(group="skewboost.commands", name="reproduce")
    assert point.load() is Reproduce
    assert Reproduce.command_name() == point.name


def test_experiments_have_the_names_by_which_they_are_found():
    assert list(EXPERIMENTS) == sorted(EXPERIMENTS)
    assert [experiment.name for experiment in experiments().values()] == list(EXPERIMENTS)
    papers = Path(skewboost_reproductions.__file__).parent / "papers"
    defined = {path for path in papers.rglob("*.py") if "\nEXPERIMENT = " in path.read_text()}
    assert defined == {papers / f"{module.replace('.', '/')}.py" for module in EXPERIMENTS.values()}


def test_the_licence_is_that_of_the_library():
    assert (PACKAGE / "LICENSE").read_text() == (LIBRARY / "LICENSE").read_text()


def said(*command, code=0, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_wheels_are_installed_from_a_folder_and_add_the_command(tmp_path, monkeypatch):
    """As users install them, but for the packages that both need: these are taken from where the tests run."""
    wheels, others, environment = tmp_path / "wheels", tmp_path / "others", tmp_path / "environment"
    monkeypatch.setenv("SKEWBOOST_NO_CORE", "1")  # it takes time, and has tests of its own
    monkeypatch.delenv("PYTHONPATH", raising=False)
    said(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", wheels, LIBRARY, PACKAGE)
    assert {path.name.partition("-")[0] for path in wheels.iterdir()} == {"skewboost", "skewboost_reproductions"}

    others.mkdir()
    for path in (path for place in sys.path if place.endswith("-packages") for path in Path(place).iterdir()):
        if "skewboost" not in path.name and path.suffix != ".pth" and not (others / path.name).exists():
            (others / path.name).symlink_to(path)
    said(sys.executable, "-m", "venv", environment)
    python, program = environment / "bin" / "python", environment / "bin" / "skewboost"
    (site,) = environment.glob("lib/python3*/site-packages")
    (site / "others.pth").write_text(f"{others}\n")
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--find-links", wheels]

    said(*install, "skewboost", cwd=tmp_path)
    assert 'Install it: pip install "skewboost[reproduce]", or' in said(
        program, "reproduce", "list", code=2, cwd=tmp_path
    )
    said(*install, "skewboost-reproductions", cwd=tmp_path)
    listed = said(program, "reproduce", "list", cwd=tmp_path)
    assert all(name in listed for name in EXPERIMENTS)
    code = "import skewboost_reproductions; from skewboost_reproductions.printed import printed; "
    code += "print(skewboost_reproductions.__file__, len(printed('slides', 'rows')))"
    assert said(python, "-c", code, cwd=tmp_path).startswith(str(site))
