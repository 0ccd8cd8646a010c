r"""Pages of documentation as programs: their snippets are run, and what they show as printed is compared.

In a page, in its order and in an empty folder,

- a block of Python is run; comments directly below a ``print``, and a block without a language that follows with
  nothing between, are what it prints; a comment after an expression is its value, if it is a literal;
- a block of lines that begin with ``skewboost`` is run as commands, with few rounds; one that begins with ``$`` has
  commands and what they print (a line ``…`` stands for any lines; neither seconds nor decimals beyond the
  tenth are compared);
- other blocks are text, and so is one below a line ``<!-- not run: why -->``; ``<!-- slow: why -->`` leaves it to
  `make test-slow`, and ``<!-- run first: ... -->`` has Python that the block below takes for granted.

``python tests/documentation.py docs/cli.md`` writes what is printed now into a page.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"(?m)^```(\w*)\n((?:.*\n)*?)```\n")
NOT_RUN = re.compile(r"<!-- (not run|slow): (.+) -->\n\Z")
FIRST = re.compile(r"<!-- run first:\n(.*?)-->\n\Z", re.DOTALL)
SECONDS = re.compile(r"\d+(\.\d+)? s\b")
LAST_DIGITS = re.compile(r"(\.\d{10})\d+")  # of a double: they are those of the machine's logarithms
ANY = "…"
WIDTH = 80


@dataclass
class Block:
    """A fenced part of a page, and what was found when it was run."""

    language: str
    text: str
    line: int
    start: int  # of the text, in the page
    first: str = ""  # what is run before it
    why_not: str = ""  # it is not run
    slow: bool = False
    output_of: Block | None = None
    printed: str = ""
    wrong: list[tuple[str, str, str]] = field(default_factory=list)  # what, as shown, as printed

    @property
    def kind(self) -> str:
        if self.why_not or self.output_of:
            return "text"  # of another language, or not to be run
        if self.language == "python":
            return "python"
        lines = self.text.splitlines()
        if not self.language and lines:
            if lines[0].startswith("$ "):
                return "session"
            if all(line.startswith("skewboost ") for line in lines):
                return "commands"
        return "text"


def blocks_of(page: str, slow: bool = False) -> list[Block]:
    """The fenced parts of a page."""
    found: list[Block] = []
    end = 0
    for fence in FENCE.finditer(page):
        before = page[end : fence.start()]
        block = Block(fence[1], fence[2], page.count("\n", 0, fence.start()) + 2, fence.start(2))
        if skipped := NOT_RUN.search(before):
            block.slow = skipped[1] == "slow"
            block.why_not = "" if slow and block.slow else skipped[2]
        if first := FIRST.search(before):
            block.first = first[1]
        if found and found[-1].language == "python" and not block.language and not before.strip():
            block.output_of = found[-1]
        found.append(block)
        end = fence.end()
    return found


def run(page: str, name: str = "page", slow: bool = False) -> list[Block]:
    """Run a page in the current folder. An error names the block; what is printed otherwise is in `wrong`."""
    found = blocks_of(page, slow)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in found:
        try:
            exec(block.first, namespace)
            if block.kind == "python":
                _run_python(block, namespace)
            elif block.kind in ("session", "commands"):
                _run_commands(block)
        except Exception as error:
            error.add_note(f"in the block at {name}:{block.line}")
            raise
        maker = block.output_of
        if maker and not maker.why_not and not same(block.text, maker.printed):
            block.wrong.append(("what it prints", block.text, maker.printed))
    return found


# ---------------------------------------------------------------------------------------------------------- Python


def _run_python(block: Block, namespace: dict[str, object]) -> None:
    lines = block.text.splitlines()
    for statement in ast.parse(block.text).body:
        source = "\n" * (statement.lineno - 1) + ast.get_source_segment(block.text, statement)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            if isinstance(statement, ast.Expr):
                value = eval(compile(source.strip(), "page", "eval"), namespace)
            else:
                exec(compile(source, "page", "exec"), namespace)
        block.printed += said.getvalue()
        if not isinstance(statement, ast.Expr):
            continue
        below = _comments(lines[statement.end_lineno :])
        if (
            below
            and ast.unparse(statement).startswith("print(")
            and " ".join(below) != " ".join(said.getvalue().split())
        ):
            block.wrong.append(("comment", "\n".join(f"# {line}" for line in below), said.getvalue()))
        literal = _literal(lines[statement.end_lineno - 1][statement.end_col_offset :])
        if literal and ast.literal_eval(literal) != value:
            block.wrong.append(("value", literal, repr(value)))


def _comments(lines: list[str]) -> list[str]:
    found = []
    for line in lines:
        if not line.startswith("# "):
            break
        found.append(line[2:].strip())
    return found


def _literal(comment: str) -> str:
    """The value at the beginning of a comment: "# {0: 1.0}: the costs" has one."""
    text = comment.strip().removeprefix("#").strip()
    while text:
        with contextlib.suppress(SyntaxError, ValueError):
            ast.literal_eval(text)
            return text
        text = text.rpartition(":")[0].strip()
    return ""


# ---------------------------------------------------------------------------------------------------------- commands

QUICK = {  # options that are added to commands whose output is not shown
    "fit": ["--set", "effort=quick"],
    "goal": ["--set", "effort=quick"],
    "compare": ["--methods", "CSRA,RealBoost", "--rounds", "5"],
}


def _run_commands(block: Block) -> None:
    parts = _session(block.text) if block.kind == "session" else [(line, None) for line in block.text.splitlines()]
    for command, shown in parts:
        words = shlex.split(command, comments=True)
        printed = _command(words + (QUICK.get(words[1], []) if shown is None else []))
        block.printed += f"$ {command}\n{printed}"
        if shown is not None and not same(shown, printed):
            block.wrong.append((command, shown, printed))


def _session(text: str) -> list[tuple[str, str | None]]:
    """Commands, and what is below each."""
    _, *parts = re.split(r"(?m)^\$ ", text)
    return [(command, printed) for command, _, printed in (part.partition("\n") for part in parts)]


def _command(words: list[str]) -> str:
    if words[0] == "head":
        return "".join(Path(words[2]).read_text().splitlines(keepends=True)[: int(words[1][1:])])
    assert words[0] == "skewboost", words
    from typer.testing import CliRunner

    from skewboost.cli.app import app

    result = CliRunner().invoke(app, words[1:], env={"COLUMNS": str(WIDTH)}, prog_name="skewboost")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in (0, 2) or (result.exit_code and not result.stderr.startswith("error: ")):
        raise AssertionError(f"{shlex.join(words)} left with exit code {result.exit_code}: {result.output}")
    return result.output


# ---------------------------------------------------------------------------------------------------------- comparing


def same(shown: str, printed: str) -> bool:
    """Whether this was printed, but for seconds, where lines are broken, and what the page leaves out."""
    regex = r"\s*".join(".*" if word is None else re.escape(word) for word in _words(shown))
    return re.fullmatch(regex, " ".join(word or ANY for word in _words(printed)), re.DOTALL) is not None


def _words(text: str) -> list[str | None]:
    """None is a line that stands for any lines."""
    found: list[str | None] = []
    timed = False
    for line in text.splitlines():
        timed = line.rstrip().endswith(" sec.") or (timed and line.strip() != "")
        line = re.sub(r"[\d.]+$", "N", line.rstrip()) if timed else line
        found += [None] if line == ANY else LAST_DIGITS.sub(r"\1", SECONDS.sub("N s", line)).split()
    return found


def rewritten(page: str, found: list[Block]) -> str:
    """The page with what is printed now; where a page leaves lines out, it is for people to write it."""
    for block in reversed(found):
        text = block.text
        for what, shown, printed in block.wrong:
            printed = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
            if ANY in shown.splitlines():
                print(f"line {block.line} leaves lines out, and is not written:\n{printed}")
            elif what == "comment":
                import textwrap

                text = text.replace(
                    shown, "\n".join(textwrap.wrap(printed, 118, initial_indent="# ", subsequent_indent="# "))
                )
            else:
                text = text.replace(shown, printed if what != "value" else printed.rstrip())
        page = page[: block.start] + text + page[block.start + len(block.text) :]
    return page


def main() -> None:
    """Run pages, and write what is printed into them."""
    for path in map(Path, sys.argv[1:]):
        path = path.absolute()
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            prepare(Path(folder))
            found = run(page, path.name, slow=True)
        path.write_text(rewritten(page, found), encoding="utf-8")


def prepare(folder: Path) -> None:
    """Make the tables that commands of pages begin with."""
    from skewboost.datasets import make_fraud

    os.environ.setdefault("MPLBACKEND", "Agg")
    X, y = make_fraud(10_000)
    rows = y.index[(y == 1) | (y.index % 20 == 0)]  # enough of the rare class for a promise, and few of the other
    X.assign(fraud=y).loc[rows].to_csv(folder / "claims.csv", index=False)
    make_fraud(200, random_state=1)[0].to_csv(folder / "new.csv", index=False)


if __name__ == "__main__":
    main()
