"""The command line. This module can be imported without the packages of the extra `cli`."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]

EXTRA = ("typer", "rich", "pandas", "matplotlib")
MISSING_EXTRA = 'The command line needs its extra: pip install "skewboost[cli]"'


def main() -> None:
    """Run the command `skewboost`."""
    if any(find_spec(package) is None for package in EXTRA):
        print(MISSING_EXTRA, file=sys.stderr)
        sys.exit(2)
    from skewboost.cli.app import app

    app(prog_name="skewboost")
