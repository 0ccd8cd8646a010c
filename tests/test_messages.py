"""No message names a parameter, an argument or an option that its reader does not have."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import pytest
import typer

import skewboost as sb
from estimators import CONFIGURED, rows
from messages import Message, Reach, arguments, function_of, is_ours, options
from skewboost.cli.app import app
from skewboost.cli.commands import COMMANDS
from skewboost.errors import SkewBoostError

# All but `toolbox`, whose functions make estimators from arguments with names of their own
ROOMS = ("", "datasets", "evaluate", "features", "goals", "io", "learners", "meta", "metrics", "plots")

# A default estimator is made by the class itself, so its parameters are never the reason of an error
MADE_ITSELF = {
    "CascadeClassifier": {"BaseBooster"},
    "UnderBaggingClassifier": {"BaseBooster"},
    "GoalSearchCV": {"PortfolioClassifier"},
}

# What is followed although it cannot be reached, or names what is not meant: who, functions, why.
EXCEPTIONS = [
    ({"SkewBoostClassifier"}, {
        "goals.search_parameters.check_search", "goals.search_parameters.costs_to_pass", "goals.trials.at_rounds",
        "goals.trials.rounds_to_try", "goals.holdout.split_by_mask", "goals.rows.read_rows",
        "goals.goal_search.GoalSearchCV._check_referral",
    }, "only with parameters of the search that SkewBoostClassifier does not set"),
    ({"SkewBoostClassifier"}, {
        "goals.search._cost_matrix", "goals.unreachable.way_out", "goals.goal_search.GoalSearchCV._fit",
    }, "checked before, or replaced by REMEDIES; test_a_remedy_works_when_it_is_followed has them"),
    ({"SkewBoostClassifier"}, {"engine.binning._every_cut", "engine.binning._in_parts"},
     "a portfolio always has bins"),
    ({"Stump", "AlternatingTreeClassifier"},
     {"engine.constraints.read_interactions", "engine.constraints.read_monotonic",
      "learners.stump_tree.PartitionContext.values"},
     "they have no such constraints, and one criterion"),
    ({"RUSBoostClassifier", "SMOTEBoostClassifier", "DataBoostIMClassifier"},
     {"boosting.estimator.SamplerChoice._sampler"}, "overridden: they have their own sampler"),
    ({"AlternatingTreeClassifier"}, {"learners._learner"}, "its learner is its own"),
    ({"Report"}, {
        "plots.display.check_measures", "plots.display_inputs.explained_class", "metrics.priors.check_prior",
        "metrics.cost_curves.probability_cost", "plots.report.page_blocks.svg_element",
    }, "a report draws its figures with values of its own, and svg_element makes no message"),
    ({"bias_variance"}, {"evaluate.problem.problem_of", "evaluate.problem.repeated_folds"},
     "only with a positive class and repeats, which it does not take"),
    ({"bias_variance", "bootstrap_632", "staged_curve"},
     {"evaluate.problem.problem_of", "metrics.targets.choose_positive"}, "only with a positive class"),
    ({"CodeMatrixClassifier", "PastingVotesClassifier", "UnderBaggingClassifier"}, {"metrics.targets.choose_positive"},
     "always the rarer class"),
    ({"cost_sweep", "match_rate", "SkewBoostClassifier"}, {"meta.cost_passing.CostPassing.fit"},
     "only with sample_cost, which they do not pass on"),
    ({"match_rate", "CodeMatrixClassifier", "CalibrationDisplay"}, {
        "metrics.costs._check_decisions", "metrics.costs._check_mistakes", "metrics.costs._matrix",
        "metrics.costs.check_cost",
    }, "it makes the costs, or has those of a model"),
    ({"CostCurve"}, {"metrics.cost_curves.probability_cost"}, "the function, not the field of this name"),
    ({"UnderBaggingClassifier"}, {"meta.under_bagging.UnderBaggingClassifier._fit"}, "says that it is of its booster"),
    ({"CascadeClassifier"}, {"goals.rows.read_rows"}, "only with a cv, which it does not have"),
]  # fmt: skip


@cache
def public() -> dict[str, Any]:
    """All public classes and functions."""
    found = {}
    for room in ROOMS:
        module = import_module(f"skewboost.{room}".rstrip("."))
        found.update({name: getattr(module, name) for name in getattr(module, "__all__", ())})
    callable_ones = {
        name: v for name, v in found.items() if is_ours(v) and (isinstance(v, type) or inspect.isfunction(v))
    }
    return {n: v for n, v in callable_ones.items() if not (isinstance(v, type) and issubclass(v, Exception))}


def methods(cls: type) -> list[Callable[..., Any]]:
    """The public methods of a class."""
    names = [name for name in dir(cls) if not name.startswith("_")] + ["__init__", "__post_init__"]
    found = [function_of(inspect.getattr_static(cls, name, None)) for name in names]
    return [function for function in found if function is not None]


@cache
def taken(what: Any) -> frozenset[str] | None:
    """The names of the arguments of a function, or of the constructor and the methods of a class; None: any."""
    signatures = [inspect.signature(f) for f in ([what, *methods(what)] if isinstance(what, type) else [what])]
    parameters = [p for signature in signatures for p in signature.parameters.values()]
    names = frozenset(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)
    if hasattr(what, "fit"):
        passed_on = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(what.fit).parameters.values())
        return names | ({"sample_weight", "sample_cost", "groups"} if passed_on else frozenset())
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters) else names


@cache
def everywhere() -> frozenset[str]:
    """All names of arguments."""
    return frozenset().union(*(taken(what) or () for what in public().values()))


@cache
def of_learners() -> frozenset[str]:
    """The parameters of weak learners and samplers, which are the user's own objects."""
    module = import_module("skewboost.learners")
    return frozenset().union(*(taken(getattr(module, n)) or () for n in module.__all__ if is_ours(getattr(module, n))))


def excepted(name: str, message: Message) -> bool:
    return any(name in who and message.function in functions for who, functions, _ in EXCEPTIONS)


def lacking(what: Any, message: Message) -> list[str]:
    """What a message names that its reader does not have."""
    own = taken(what)
    # The arguments of a method of a result are meant
    if message.owner in public().values() and not hasattr(message.owner, "fit"):
        own = own and own | (taken(message.owner) or everywhere())
    if own is not None and {"estimator", "learner"} & own and message.function.startswith(("learners.", "engine.")):
        own |= of_learners()
    found = []
    for argument in arguments(message.text):
        called = argument.of.rpartition(".")[2]
        if called:
            target = public().get(called) or getattr(what, called, None)
            takes = taken(target) if target is not None and is_ours(target) else None
            known = argument.name in (everywhere() if takes is None else takes) or target is None
        elif argument.is_elsewhere or argument.name == "shape":  # that of scikit-learn's own message
            known = True
        else:
            known = argument.name in (everywhere() if own is None else own)
        if not known:
            found.append(argument.name)
    return found


@pytest.fixture(scope="module")
def reached() -> dict[str, set[Message]]:
    """The messages of every public class and function."""
    found = {}
    for name, what in public().items():
        reach = Reach(what if isinstance(what, type) else None, frozenset(MADE_ITSELF.get(name, ())))
        found[name] = reach.follow(methods(what) if isinstance(what, type) else [what])
    return found


def test_no_message_names_an_argument_that_its_reader_lacks(reached):
    wrong = defaultdict(set)
    for name, found in reached.items():
        for message in found:
            for argument in () if excepted(name, message) else lacking(public()[name], message):
                wrong[f"{argument}= in {message.function}: {message.text!r}"].add(name)
    assert not wrong, "\n".join(f"{what}\n    told to {', '.join(sorted(who))}" for what, who in sorted(wrong.items()))


def test_the_messages_are_found(reached):
    """What is known to be said is among what was followed, and exceptions are not out of date."""
    texts = {name: {m.text for m in found} for name, found in reached.items()}
    assert any("is not among the classes of y" in text for text in texts["RealBoostClassifier"])
    assert any("max_bins=None" in text for text in texts["RealBoostClassifier"])
    assert any("weights='counts'" in text for text in texts["CascadeClassifier"])
    assert any("must be one of" in text for text in texts["SkewBoostClassifier"])
    needed = {(name, m.function) for name, found in reached.items() for m in found if lacking(public()[name], m)}
    for who, functions, _ in EXCEPTIONS:
        assert who <= {name for name, function in needed if function in functions}
        assert functions <= {function for name, function in needed if name in who}


# They name values of parameters that SkewBoostClassifier has, and are replaced by its REMEDIES
REPLACED = {"goals.holdout.random_split"}
VALUE = re.compile(r"None|True|False|-?\d+(?:\.\d+)?(?![.\d])|'[^']*'")


@pytest.mark.parametrize(
    "configured",
    [c if c.name in ("portfolio", "search", "CSRA") else pytest.param(c, marks=pytest.mark.slow) for c in CONFIGURED],
    ids=str,
)
def test_values_that_a_message_names_are_allowed(configured, reached):
    """Such as confidence=None, which one class takes, and another does not."""
    X, y = rows(60)
    name, params = type(configured.make()).__name__, configured.make().get_params(deep=False)
    values = {
        (argument.name, ast.literal_eval(value[0]))
        for message in reached[name]
        if not excepted(name, message) and not (name == "SkewBoostClassifier" and message.function in REPLACED)
        for argument in arguments(message.text)
        if argument.name in params and not argument.of and not argument.is_elsewhere
        if (value := VALUE.match(argument.rest))
    }
    refused = []
    for parameter, value in values:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                configured.make().set_params(**{parameter: value}).fit(X, y)
        except SkewBoostError as error:
            refused += [str(error)] if f"{parameter} of {name} must be" in str(error) else []
    assert refused == []
    assert values or not issubclass(type(configured.make()), sb.SkewBoostClassifier | sb.GoalSearchCV)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Set allow_unmet=True.", {("allow_unmet", "")}),
        ("pass groups: fit(X, y, groups=...)", {("groups", "fit")}),
        (
            "use MinimumRiskClassifier(CSRAClassifier(), cost=matrix) or a=1",
            {("cost", "MinimumRiskClassifier"), ("a", "")},
        ),
        ("n>=3 and x==2 and …=3", set()),
    ],
)
def test_arguments_are_read(text, found):
    assert {(a.name, a.of) for a in arguments(text)} == found


def test_an_argument_of_something_else_is_told_so():
    assert arguments("criterion='z' of Stump has no effect")[0].is_elsewhere
    assert not arguments("criterion='z' has no effect")[0].is_elsewhere


# --------------------------------------------------------------------------------------- the command line


@cache
def commands() -> dict[str, tuple[set[str], str]]:
    """The options of every command, and its module."""
    group = typer.main.get_command(app)
    return {
        name: ({o for p in command.params for o in (*p.opts, *p.secondary_opts)}, f"{name.replace('-', '_')}_command")
        for (name, command), of in zip(group.commands.items(), COMMANDS, strict=True)
    }


# Of options that a command lacks: which commands, which function, why it does not come there
OPTION_EXCEPTIONS = [
    (
        {"evaluate", "compare", "explain", "curve", "bias-variance", "match-rate"},
        "cli.target_column.Examples.split",
        "only the folds are split",
    ),
    ({"bias-variance"}, "cli.cross_validation.check_folds", "without repetitions"),
    ({"compare", "match-rate"}, "cli.method_options.MethodOptions.make", "checked before"),
    ({"report"}, "cli.compare_command._check_measure", "sorted by the default measure"),
    ({"explain"}, "cli.evaluate_command._recorded_weight", "told to weigh rows equally"),
    ({"explain"}, "cli.target_column._read_weights", "told to weigh rows equally"),
]


@pytest.mark.parametrize("name", commands())
def test_no_message_of_a_command_names_an_option_that_it_lacks(name):
    own, module = commands()[name]
    wrong = []
    for message in Reach().follow([import_module(f"skewboost.cli.{module}").run]):
        others = [n for n in commands() if f"skewboost {n}" in message.text or f"`{n}" in message.text]
        known = own.union({"--help"}, *(commands()[n][0] for n in others))
        told = not any(name in who and message.function == function for who, function, _ in OPTION_EXCEPTIONS)
        if message.function.startswith("cli.") and told:
            wrong += [
                (option, message.function, message.text) for option in options(message.text) if option not in known
            ]
    assert not wrong, "\n".join(map(str, wrong))
