"""The command line. Importing this module needs none of the packages that the command line needs."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]

EXTRA = ("typer", "rich", "pandas", "matplotlib")
MISSING_EXTRA = 'the command line needs its extra: pip install "skewboost[cli]"'


def main() -> None:
    """Run the command `skewboost`."""
    if any(find_spec(package) is None for package in EXTRA):
        print(MISSING_EXTRA, file=sys.stderr)
        sys.exit(2)
    from skewboost.cli.app import app

    app(prog_name="skewboost")
