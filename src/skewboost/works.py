"""The works that the package cites, from ``references.toml``."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any


@cache
def works() -> dict[str, dict[str, Any]]:
    """Return all works by their keys."""
    import tomllib  # takes longer than this module

    return tomllib.loads(resources.files("skewboost").joinpath("references.toml").read_text(encoding="utf-8"))


def cited(key: str) -> str:
    """Return a work as text cites it: the surnames of up to four authors, and the year.

    Examples
    --------
    >>> from skewboost.works import cited
    >>> cited("sun2005")
    'Sun, Wong & Wang 2005'
    """
    work = works()[key]
    names = [
        " ".join(word for word in author.split() if not word.endswith(".")) for author in work["authors"].split(", ")
    ]
    who = f"{names[0]} et al." if len(names) > 4 else " & ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{who} {work['year']}"


def in_full(work: dict[str, Any]) -> str:
    """Return a work as a list of references shows it, without a full stop."""
    pages = f" {work['pages']}" if "pages" in work else ""
    return f'{work["authors"]}, "{work["title"]}", {work["venue"]} ({work["year"]}){pages}'
