"""Write the works of src/skewboost/references.toml out where docstrings cite them, and into docs/references.md.

A docstring cites a work by its key, ``[freund1997]_``, and lists it in its section `References` as ``.. [freund1997]``,
with what is to be read there, such as ``.. [freund1997] fig. 2.``. This fills in the rest of the entry; a test says
when it is out of date.

Usage: python tools/references.py
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from skewboost.works import in_full
from skewboost.works import works as all_works

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "src", *sorted(ROOT.glob("packages/*/src"))]
PAGE = ROOT / "docs" / "references.md"
WIDTH = 120

CITATION = re.compile(r"\[([a-z]+\d{4}[a-z]*)\]_")
ENTRY = re.compile(r"^( *)\.\. \[([a-z]+\d{4}[a-z]*)\] ?(.*(?:\n\1   \S.*)*)", re.MULTILINE)
# Authors, title and place, which are written anew, and what is to be read there, which stays.
WRITTEN = re.compile(r'[^"]+, ".+", [^"]+? \(\d{4}\)(?: \d+-\d+)?(?P<where>.*)')
LINK = re.compile(r"\]\(references\.md#([a-z0-9]+)\)")


def filled_in(source: str, works: dict[str, dict[str, Any]]) -> str:
    """Return the text of a module with every entry written out."""

    def entry(match: re.Match[str]) -> str:
        indent, key, text = match[1], match[2], " ".join(match[3].split())
        end = '"""' if text.endswith('"""') else ""
        text = text.removesuffix('"""').rstrip(".")
        where = written["where"] if (written := WRITTEN.fullmatch(text)) else text
        if where and where[0] not in ",;.:":
            where = f", {where}"
        whole = f".. [{key}] {in_full(works[key])}{where}.{end}"
        return textwrap.fill(
            whole, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}   ", break_on_hyphens=False
        )

    return ENTRY.sub(entry, source)


def as_page(works: dict[str, dict[str, Any]]) -> str:
    """Return the page that lists all works."""
    lines = [f'- <a id="{key}"></a>`{key}`: {in_full(works[key])}.' for key in sorted(works)]
    return "# References\n\nThe works that docstrings and pages cite, by key.\n\n" + "\n".join(lines) + "\n"


def modules() -> list[Path]:
    """Return the modules of the library and of the packages in this repository."""
    return sorted(path for source in SOURCES for path in source.rglob("*.py"))


def cited() -> dict[str, set[str]]:
    """Return the keys that every module and page cites."""
    found = {}
    for path in modules():
        text = path.read_text(encoding="utf-8")
        found[path.name] = (
            found.get(path.name, set()) | set(CITATION.findall(text)) | {key for _, key, _ in ENTRY.findall(text)}
        )
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        found[page.name] = set(LINK.findall(page.read_text(encoding="utf-8")))
    return found


def main() -> None:
    """Bring all modules and the page up to date."""
    works = all_works()
    for path in modules():
        text = path.read_text(encoding="utf-8")
        if (new := filled_in(text, works)) != text:
            path.write_text(new, encoding="utf-8")
    PAGE.write_text(as_page(works), encoding="utf-8")


if __name__ == "__main__":
    main()
