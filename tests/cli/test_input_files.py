"""No command writes over a file that it reads, by whatever name."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from skewboost.cli.commands import COMMANDS

TOLD = ["-t", "kind", "-m", "CSRA", "-r", "2"]
# Commands in which {x} is a file that is read, and {y} is written; {m} is a model, {d} is data
CASES = {
    "predict, data": ("{d}", ["predict", "{m}", "{x}", "-o", "{y}"]),
    "predict, model": ("{m}", ["predict", "{x}", "{d}", "-o", "{y}"]),
    "fit": ("{d}", ["fit", "{x}", *TOLD, "-o", "{y}"]),
    "fit --goal": ("{d}", ["fit", "{x}", *TOLD, "--goal", "recall>=0.5", "-o", "{y}"]),
    "goal": ("{d}", ["goal", "{x}", "recall>=0.5", *TOLD, "-o", "{y}"]),
    "goal --plot": ("{d}", ["goal", "{x}", "recall>=0.5", *TOLD, "--plot", "{y}"]),
    "compare --plot": ("{d}", ["compare", "{x}", *TOLD, "--plot", "{y}"]),
    "curve --plot": ("{d}", ["curve", "{x}", *TOLD, "--plot", "{y}"]),
    "bias-variance --plot": ("{d}", ["bias-variance", "{x}", *TOLD, "--plot", "{y}"]),
    "compare --results": ("{d}", ["compare", "{x}", *TOLD, "--results", "{y}"]),
    "explain, model": ("{m}", ["explain", "{x}", "--plot", "{y}"]),
    "explain, data": ("{d}", ["explain", "{m}", "{x}", "--row", "1", "--plot", "{y}"]),
    "report, data": ("{d}", ["report", "{x}", *TOLD, "-o", "{y}"]),
    "report, model": ("{m}", ["report", "{x}", "{d}", "-o", "{y}"]),
    "report, rows": ("{d}", ["report", "{m}", "{x}", "-o", "{y}"]),
    "export": ("{m}", ["export", "{x}", "--to", "c", "-o", "{y}"]),
}
ENDINGS = {
    "predict": ".csv",
    "fit": ".json",
    "goal": ".json",
    "report": ".html",
    "compare": ".jsonl",
    "explain": ".png",
}


def ending_of(case):
    return ".png" if "--plot" in case else ENDINGS.get(case.split()[0].rstrip(","), ".c")


def other_names(path):
    """Names of the same file, made in its folder."""
    folder = path.parent
    (folder / "inner").mkdir()
    link, chain, hard = (folder / f"{name}{path.suffix}" for name in ("link", "chain", "hard"))
    link.symlink_to(path)
    chain.symlink_to(link)
    os.link(path, hard)
    turned = Path(os.path.relpath(folder)) / "inner" / ".." / path.name
    return {"itself": path, "a way round": turned, "a link": link, "a link to a link": chain, "a hard link": hard}


@pytest.mark.parametrize("case", CASES)
def test_no_command_writes_over_a_file_that_it_reads(small, refused, tmp_path, case):
    what, args = CASES[case]
    known = {"m": small.model, "d": small.train}
    path = tmp_path / f"own{ending_of(case)}"
    path.write_bytes(Path(what.format(**known)).read_bytes())
    before = path.read_bytes()
    names = other_names(path)
    pairs = [(path, name) for name in names.values()] + [(name, path) for name in names.values()]
    for read, written in pairs:
        line = refused(*(word.format(x=read, y=written, **known) for word in args))
        assert "the command reads this file, and would replace it" in line
        assert "Name another file." in line
    assert path.read_bytes() == before
    assert names["a link"].is_symlink()


def test_packed_files_are_files_too(small, refused, tmp_path):
    path = tmp_path / "in.csv.gz"
    path.write_bytes(gzip.compress(Path(small.later).read_bytes()))
    assert "would replace it" in refused("predict", small.model, path, "-o", path)


def test_the_remedy_works_and_files_of_other_runs_are_replaced(small, run, tmp_path):
    path, other = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes(Path(small.later).read_bytes())
    other.write_text("of another run")
    assert run("predict", small.model, path, "-o", other).exit_code == 0
    assert other.read_text().startswith("prediction,")
    assert path.read_bytes() == Path(small.later).read_bytes()


def test_no_file_is_written_twice(small, refused, tmp_path):
    for exists in (False, True):
        line = refused("compare", small.train, *TOLD, "--plot", "a.svg", "--results", tmp_path / "a.svg")
        assert "--plot names the same file" in line
        if not exists:
            (tmp_path / "a.svg").write_text("")


def test_every_path_of_a_command_is_checked():
    """An option that is a file is among those that `Command` names, so that it is part of the check."""
    for command in COMMANDS:
        for name, hint in get_type_hints(command, include_extras=True).items():
            described = [m for m in getattr(hint, "__metadata__", ()) if hasattr(m, "metavar")]
            if any(
                str(m.metavar).strip("[]").split("|")[0].split(".")[0] in ("FILE", "DATA", "MODEL") for m in described
            ):
                assert name in (*command.reads, *command.writes), f"{command.__name__}.{name}"
        if "output" in {f.name for f in fields(command)}:
            assert "-o" in command.writes.values()


@pytest.mark.skipif(sys.platform == "win32", reason="the shell redirects")
def test_output_that_is_redirected_to_an_input(small, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(Path(small.later).read_bytes())
    main = shlex.join([sys.executable, "-c", "from skewboost.cli import main; main()", "predict", small.model])
    for arguments in ("in.csv >> in.csv", "- < in.csv >> in.csv", "- < in.csv -o in.csv"):
        done = subprocess.run(["sh", "-c", f"{main} {arguments}"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2
        assert "which the command reads" in done.stderr or "the command reads this file" in done.stderr
        assert path.read_bytes() == Path(small.later).read_bytes()
