"""Runs commands in this process."""

from __future__ import annotations

from typer.testing import CliRunner

from skewboost.cli.app import app


def invoke(*args, **kwargs):
    # wide, so that no line of a table is broken
    return CliRunner().invoke(app, list(map(str, args)), env={"COLUMNS": "160"}, prog_name="skewboost", **kwargs)
