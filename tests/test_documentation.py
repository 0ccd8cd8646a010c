"""What README and documentation show is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import documentation

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = [
    page for page in PAGES if any(b.kind != "text" for b in documentation.blocks_of(page.read_text(), slow=True))
]
SLOW = [page for page in PROGRAMS if any(b.slow for b in documentation.blocks_of(page.read_text()))]


def check(page, folder, slow):
    documentation.prepare(folder)
    found = documentation.run(page.read_text(encoding="utf-8"), page.name, slow)
    wrong = [
        f"{page.name}:{block.line}, {what}: the page has\n{shown}\nand now it is\n{printed}"
        for block in found
        for what, shown, printed in block.wrong
    ]
    assert not wrong, "\n".join([*wrong, f"`python tests/documentation.py {page.relative_to(ROOT)}` writes it down."])


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    with mpl.rc_context({"backend": "Agg", "figure.max_open_warning": 0}):
        yield
        plt.close("all")


# pages that take seconds
SECONDS = ("evaluating", "decisions", "comparing", "votes", "report", "goals", "plots", "cli", "multiclass")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page.stem in SECONDS else page for page in PROGRAMS],
    ids=lambda page: page.stem,
)
def test_snippets_run_and_print_what_the_page_says(page, tmp_path):
    check(page, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=lambda page: page.stem)
def test_slow_snippets_too(page, tmp_path):
    check(page, tmp_path, slow=True)


@pytest.mark.slow
def test_names_are_there_after_import_skewboost():
    """Every dotted name that a page mentions, in a Python that has imported the package and nothing else."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    names = sorted(set(re.findall(r"\bskewboost(?:\.[A-Za-z]\w*)+", text)))
    # a group of entry points, and what the modules of other packages import
    names = [name for name in names if name != "skewboost.commands" and not name.startswith("skewboost.cli.")]
    assert {"skewboost.io.save", "skewboost.plots", "skewboost.plots.Report", "skewboost.evaluate"} <= set(names)
    code = "import skewboost\n" + "\n".join(f"assert {name} is not None" for name in names)
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_readme_begins_with_two_commands_and_how_to_install():
    blocks = documentation.blocks_of(PAGES[0].read_text(encoding="utf-8"))
    assert [line.split("#")[0].strip() for line in blocks[0].text.splitlines()] == ["make demo", "make test"]
    assert all(line.startswith("pip install ") for line in blocks[1].text.splitlines())
    extras = re.findall(r"\[(\w+)\]", blocks[1].text)
    known = re.search(r"(?s)\[project.optional-dependencies\]\n(.*?)\n\[", (ROOT / "pyproject.toml").read_text())[1]
    assert set(extras) <= set(re.findall(r"(?m)^(\w+) = ", known))


def test_what_is_wrong_in_a_page_is_found(tmp_path):
    """The checker itself: wrong output, wrong comments and values, errors, and what is not run."""
    page = "\n".join(
        [
            *("```python", "print('a  b')", "# a b", "1 + 1  # 3: a sum", "'x'  # a word, no value", "```", ""),
            *("```", "a", "b", "```", "text", "```", "not its output", "```"),
            *("<!-- not run: no reason -->", "```python", "1 / 0", "```"),
            *("<!-- run first:", "k = 5", "-->", "```python", "print(k)", "```", "", "```", "6", "```"),
            *("<!-- slow: long -->", "```python", "print(7)", "```", "", "```", "8", "```", ""),
        ]
    )
    wrong = [
        (what, shown.strip(), printed.strip()) for b in documentation.run(page) for what, shown, printed in b.wrong
    ]
    assert wrong == [("value", "3", "2"), ("what it prints", "6", "5")]
    assert len([w for b in documentation.run(page, slow=True) for w in b.wrong]) == 3
    assert documentation.same("a b\n…\nin 3 s", "a\n  b\nc\nin 4.1 s\n")
    assert not documentation.same("a b\nin 3 s", "a b\nc\nin 4.1 s")
    again = documentation.rewritten(page, documentation.run(page, slow=True))
    assert not [w for b in documentation.run(again, slow=True) for w in b.wrong]
    with pytest.raises(ZeroDivisionError):
        documentation.run("```python\n1 / 0\n```\n")
