"""Names that come from data are shown as they are, and so that no two look the same."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skewboost
from hostile import NAMES, ODD, PLAIN, TALL
from skewboost.names import literal, quoted, shortened, shown, side_by_side, visible
from skewboost.progress import ProgressBar

text = st.text() | st.text(alphabet="a b'\"\\\n\x1b$#…", max_size=8) | st.sampled_from(NAMES)


def test_names_are_shown_as_they_are_unless_they_would_not_be_seen():
    assert [shown(name) for name in (*PLAIN, *TALL)] == [*PLAIN, *TALL]
    assert [ast.literal_eval(shown(name)) for name in ODD] == ODD
    assert [shown(v) for v in (1, 1.0, np.float64(2.5), np.True_, np.str_("a"))] == ["1", "1", "2.5", "True", "a"]


@pytest.mark.slow
@given(st.lists(text, unique=True, max_size=6))
def test_different_names_look_different(names):
    found = [shown(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(told.isprintable() and told == told.strip() != "" and "  " not in told for told in found)


@given(st.lists(text | st.sampled_from(TALL), max_size=8), st.integers(8, 60), st.booleans())
def test_names_side_by_side_are_short_and_different(names, longest, quotes):
    found = side_by_side(names, longest, quotes=quotes)
    assert len(set(found)) == len(set(names))
    assert all(len(told) <= longest for told in found)
    whole = [quoted(name) if quotes else shown(name) for name in names]
    assert all(told == name for told, name in zip(found, whole) if len(name) <= longest and found.count(told) == 1)


def test_what_long_names_differ_in_is_kept():
    first, second = side_by_side(TALL[:2], 20)
    assert (first[0], first[-1]) == ("x", "x")
    assert "1" in first
    assert "2" in second


def test_a_name_is_not_taken_for_the_words_beside_it():
    assert shown("missing", ["missing"]) == "'missing'"
    assert side_by_side(["missing", "'missing'"], reserved=["missing"]) == ["'missing'", "\"'missing'\""]


@given(text)
def test_nothing_that_acts_on_a_terminal_is_left(name):
    assert visible(name).isprintable() or visible(name) == ""
    assert not name.isprintable() or visible(name) == name


@given(text, st.integers(3, 40))
def test_text_is_cut_to_length(name, longest):
    assert shortened(name, longest) == name if len(name) <= longest else len(shortened(name, longest)) == longest


@pytest.mark.parametrize("parse_math", [True, False])
def test_matplotlib_draws_text_as_it_is(parse_math):
    """What is drawn, by Matplotlib's own reading of the text."""
    import matplotlib as mpl
    from matplotlib.text import Text

    with mpl.rc_context({"text.parse_math": parse_math}):
        for name in (*PLAIN, "$", "$$", "$$$", r"\$", r"\\$", r"$a\$b$"):
            drawn, is_math = Text(0, 0, literal(name))._preprocess_math(literal(name))
            assert (drawn, is_math) == (name, False)


def test_only_one_module_prints():
    """Whoever prints by himself prints names as mark-up, or with control characters, sooner or later."""
    source = Path(skewboost.__file__).parent / "cli"
    allowed = {"output.py", "console.py", "__init__.py"}
    found = []
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and path.name not in allowed:
                called = ast.unparse(node.func)
                if called in ("print", "rprint", "Console", "typer.echo", "typer.secho", "sys.stdout.write"):
                    found.append((path.name, ast.unparse(node)))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich.markup"):
                found.append((path.name, node.module))
    assert found == [("app.py", "typer.echo(context.get_help())")]


def test_progress_bars_show_names_as_they_are():
    for name in PLAIN:
        assert str(ProgressBar(3, name)).startswith(name)
    assert "\x1b]" not in str(ProgressBar(None, "\x1b]0;title\x07"))


def test_tables_print_cells_as_they_are(capsys, monkeypatch):
    from skewboost.cli.output import print_table

    monkeypatch.setenv("COLUMNS", "300")
    print_table(PLAIN[:8], [["x"] * 8], title="[/t]", caption=":c:")
    print_table(["name"], [[name] for name in (*PLAIN, *ODD)])
    said = capsys.readouterr().out
    assert all(name in said for name in PLAIN)
    assert all(visible(name) in said for name in ODD)
    assert "[/t]" in said
    assert ":c:" in said


def test_json_holds_names_and_no_control_characters():
    import json

    from skewboost.cli.output import json_text

    made = json_text({name: [name] for name in (*NAMES, "\ud800", "\U000e0001")})
    assert json.loads(made) == {name: [name] for name in (*NAMES, "\ud800", "\U000e0001")}
    assert all(line.isprintable() for line in made.split("\n"))


def test_warnings_and_errors_are_one_visible_line(capsys):
    from skewboost.cli.exit_codes import _one_line_warnings

    with _one_line_warnings(), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("first [/x]\n   second \x1b[31m  red", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: first [/x] second \\x1b[31m  red\n"
