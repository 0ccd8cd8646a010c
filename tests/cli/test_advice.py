"""Advice can be followed: options and commands that sentences name are there, and do what is said."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import skewboost
from skewboost.boosting.catalogue import RECOMMENDED, RECOMMENDED_VARIANT
from skewboost.cli.app import app
from skewboost.cli.commands import Compare
from skewboost.cli.compare_command import choose_methods
from skewboost.cli.method_options import MethodOptions
from skewboost.cli.target_column import read_examples
from skewboost.evaluate import summary_warnings
from skewboost.evaluate.summary import summarise

ROOT = Path(skewboost.__file__).parent
PAGES = ROOT.parents[1]
COMMANDS = get_command(app).commands
OPTIONS = {name: {o for p in command.params for o in p.opts} for name, command in COMMANDS.items()}
MEASURING = ("curve", "bias-variance", "match-rate")
READS_A_TABLE = ("fit", "goal", "report", "compare", *MEASURING)
READS_A_MODEL = ("predict", "evaluate", "explain", "report")
# Which commands can print the sentences of a module; a module that is not named is that of its command
PRINTED_BY = {
    "summary_warnings": ("info",),
    "compare_command": ("compare",),
    "cross_validation": ("compare", "curve"),
    "evaluate_command": ("evaluate", "report", "explain"),
    "labels": READS_A_TABLE,
    "target_column": READS_A_TABLE,
    "fit_command": ("fit", "goal", "report"),
    "goal_command": ("goal",),
    "list_command": ("list",),
    "method_options": READS_A_TABLE,
    "model_files": READS_A_MODEL,
    "group_and_time": READS_A_TABLE,
    "shift": ("predict", "evaluate", "report"),
}
# Where the command is named elsewhere in the sentence, or the module serves a part of its commands only
SAID_OF = {
    ("summary_warnings", "--cost"): ("fit", "goal"),
    ("evaluate_command", "--weight"): ("evaluate", "report"),
    ("evaluate_command", "--threshold"): ("evaluate", "report"),
    ("target_column", "--test"): ("fit", "goal", "report"),
    ("method_options", "--method"): ("fit", "goal", "report", "curve", "bias-variance"),
    ("compare_command", "--methods"): ("compare", "match-rate"),
    ("cross_validation", "--cv"): ("compare", *MEASURING),
    ("cross_validation", "--repeats"): ("compare", "curve", "match-rate"),
    ("cross_validation", "--measures"): ("curve",),
    ("cross_validation", "--method"): ("curve", "bias-variance"),
    ("info_command", "--labels"): ("fit", "goal", "compare"),
}


def sentences():
    """Module and text of every string that is no docstring, with a word in place of what is filled in."""
    for path in [*sorted((ROOT / "cli").glob("*.py")), ROOT / "evaluate" / "summary_warnings.py"]:
        tree = ast.parse(path.read_text())
        apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                apart |= {id(part) for part in node.values}
                parts = [p.value if isinstance(p, ast.Constant) else "X" for p in node.values]
                yield path.stem, "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
                yield path.stem, re.sub(r"\{[^{}]*\}", "X", node.value)


def options_in(text):
    return re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-o)(?![\w-])", text)


SENTENCES = [(module, text) for module, text in sentences() if module not in ("demo_command",)]


def test_every_command_that_a_sentence_names_has_the_options_it_is_given():
    found = 0
    for module, text in SENTENCES:
        for command in re.findall(r"`?\bskewboost ([a-z]+\b[^`\n]*)", text):
            name = command.split()[0]
            if name in ("fits", "model"):  # words of a sentence about the library
                continue
            assert name in COMMANDS, (module, text)
            assert set(options_in(command)) <= OPTIONS[name], (module, text)
            found += 1
    assert found > 20


def test_every_option_that_a_sentence_names_is_one_of_the_commands_that_print_it():
    found = 0
    for module, text in SENTENCES:
        if module in ("app", "commands", "options"):
            continue
        alone = re.sub(r"`skewboost [^`]*`", "", text)
        for option in (option for option in options_in(alone) if option != "-o"):
            own = tuple({module.removesuffix("_command").replace("_", "-")} & set(COMMANDS))
            commands = SAID_OF.get((module, option), PRINTED_BY.get(module, own))
            assert commands, (module, option, text)
            for command in commands:
                assert option in OPTIONS[command], (module, command, text)
            found += 1
    assert found > 50


def commands_in(text):
    return [shlex.split(command)[1:] for command in re.findall(r"`(skewboost [^`]*)`", text)]


@pytest.mark.slow
def test_what_info_suggests_can_be_run_as_it_stands(small, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my table.csv"
    small.frame.assign(seen="2024-01-01").to_csv(path, index=False)  # an id and a date among the columns
    told = json.loads(run("info", path, "--target", "kind", "--json").stdout)["suggestions"]
    commands = [command for text in told for command in commands_in(text)]
    assert [command[0] for command in commands] == ["fit", "compare", "goal"]
    for command in commands:
        assert command[command.index("--drop") + 1] == "id"
        few = ["--rounds", "2"]
        quick = {"compare": ["--cv", "2", *few, "--methods", "CSRA"], "goal": ["--method", "CSRA", *few], "fit": []}[
            command[0]
        ]
        result = run(*command, *quick)
        reached = result.exit_code == 0 or (command[0] == "goal" and "goal recall" in result.stderr)
        assert reached, result.output
    assert Path("model.json").exists()


def test_what_fit_says_comes_next_can_be_run(small, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = small.fitted.stdout
    lines = [line.strip() for line in text[text.index("Next:") :].splitlines()[1:]]
    assert len(lines) == 3
    for line in lines:
        command = re.sub("OTHER_ROWS|NEW_ROWS", small.later, line)
        assert run(*shlex.split(command)[1:]).exit_code == 0


def test_a_model_that_is_worse_than_none_is_compared_as_advised(run, small, tmp_path):
    text = "".join(text for module, text in SENTENCES if module == "evaluate_command" and "worse than no model" in text)
    (command,) = commands_in(text)
    told = ["-t", "kind", "--drop", "id,times", "--cost", 5, "--cv", 2, "-r", 2, "--set", "effort=quick"]
    result = run(*(small.train if word == "DATA" else word for word in command), *told)
    assert result.exit_code == 0, result.output
    assert "CGAda:calibrate=sigmoid" in result.stdout


def test_prices_can_be_given_afterwards(run, small, tmp_path):
    path = tmp_path / "plain.json"
    told = run("fit", small.train, "-t", "kind", "--drop", "id,times", "-m", "RealBoost", "-r", 2, "-o", path).stdout
    (command,) = commands_in(told)
    filled = [{"MODEL": str(path), "ROWS": small.later}.get(word, word) for word in command]
    assert "a miss costs 20 false alarms" in run(*filled).stdout


# ------------------------------------------------------------------- what to begin with


def test_everything_names_the_same_method_to_begin_with(small, run):
    name = RECOMMENDED
    assert MethodOptions().named.name == name
    assert f"[{RECOMMENDED}]" in run("fit", "--help").stdout
    quick = ["--set", "effort=quick", "--test", 0]
    assert f"{name} on " in run("fit", small.train, "-t", "kind", "--drop", "id,times", *quick).stdout
    assert name in choose_methods(Compare(data=small.train, target="kind"), read_examples(small.train, "kind"))
    two = summarise(small.frame[["size"]], small.frame["kind"]).target
    for words in (summary_warnings.PYTHON, summary_warnings.COMMANDS):
        begin = [text for text in summary_warnings.suggestions_for(two, words) if "Begin with" in text]
        assert len(begin) == 1
        assert re.findall(r"Begin with (\w+)|-o model.json` \((\w+)", begin[0])[0] in ((name, ""), ("", name))
    readme = (PAGES / "README.md").read_text()
    first = readme[readme.index("```python") : readme.index("```", readme.index("```python") + 3)]
    assert set(re.findall(r"(\w+)Classifier\(", first)) == {name}
    choosing = (PAGES / "docs" / "choosing.md").read_text()
    assert re.search(r"Take `(\w+)Classifier\(", choosing).group(1) == name
    (variants,) = re.findall(r"^\*\*Of the variants, start with .*?\n\n", choosing, re.MULTILINE | re.DOTALL)
    assert f"`{RECOMMENDED_VARIANT}Classifier(" in variants
    assert f"The default method is {name}" in (PAGES / "docs" / "cli.md").read_text()


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md", "docs/choosing.md"])
def test_commands_on_the_pages_have_their_options(page):
    text = (PAGES / page).read_text()
    found = re.findall(r"(?m)(?:^\$ |^|`)skewboost ([a-z]+[^`\n#]*)", text)
    for command in found:
        name = command.split()[0]
        if name in COMMANDS:
            assert set(options_in(command)) <= OPTIONS[name] | {"--help"}, command
    assert found or page == "docs/choosing.md"
