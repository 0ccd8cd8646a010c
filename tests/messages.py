"""Which messages a class, a function or a command can reach, and what they name.

A message is found where it is made: from the methods of a class all functions are followed that they call (`Reach`),
and the texts of these are collected. What the texts say of arguments and options can then be compared with what there
is. Which object a method belongs to is not always known: a method of that name of any class of which
there may be an instance is followed then.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

PACKAGE = "skewboost"
GAP = "…"  # what is filled in when the message is made
MAKES_CODE = "skewboost.io.export"  # its texts are programs, unless they are raised


def is_ours(value: Any) -> bool:
    """Whether a class or function is of this package."""
    return (getattr(value, "__module__", None) or "").partition(".")[0] == PACKAGE


def function_of(value: Any) -> types.FunctionType | None:
    """Return the function of this package behind a method, a property or whatever wraps a function."""
    for name in ("fget", "func", "fn", "__func__"):
        value = getattr(value, name, None) or value
    value = inspect.unwrap(value) if callable(value) else value
    written = isinstance(value, types.FunctionType) and value.__code__.co_filename.endswith(".py")
    return value if written and is_ours(value) else None


# ------------------------------------------------------------------------------------------ one function


@dataclass(frozen=True)
class Facts:
    """What a function names."""

    name: str
    texts: tuple[str, ...]
    values: tuple[Any, ...]  # functions, classes and constants of modules
    own: tuple[str, ...]  # attributes of self
    above: tuple[str, ...]  # of super()
    of_classes: tuple[tuple[type, str], ...]
    of_others: tuple[str, ...]  # of objects of unknown class


@cache
def _definitions(filename: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by the first line of their code."""
    with open(filename, encoding="utf-8") as file:
        found = [node for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.FunctionDef)]
    return {min(part.lineno for part in (node, *node.decorator_list)): node for node in found}


@cache
def facts(code: types.CodeType, function: types.FunctionType) -> Facts | None:
    """Read a function."""
    node = _definitions(code.co_filename).get(code.co_firstlineno)
    if node is None:
        return None
    scope, parts = dict(function.__globals__), list(ast.walk(node))
    for part in parts:
        if isinstance(part, ast.ImportFrom) and (part.module or "").startswith(PACKAGE):
            module = importlib.import_module(part.module or "")
            scope.update({a.asname or a.name: getattr(module, a.name, None) for a in part.names})
    values, own, above, of_classes, of_others = [], [], [], [], []
    skipped = set(_types_in(parts))
    for part in parts:
        if id(part) in skipped:
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            values.append(scope.get(part.id))
        elif isinstance(part, ast.Attribute):
            base = part.value
            value = scope.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(base, ast.Name) and base.id in ("self", "cls"):
                own.append(part.attr)
            elif isinstance(base, ast.Call) and getattr(base.func, "id", "") in ("super", "type"):
                (above if getattr(base.func, "id", "") == "super" else own).append(part.attr)
            elif isinstance(value, types.ModuleType):
                values.append(getattr(value, part.attr, None) if value.__name__.startswith(PACKAGE) else None)
            elif isinstance(value, type):
                of_classes.append((value, part.attr))
            else:
                of_others.append(part.attr)
    name = f"{function.__module__.removeprefix(PACKAGE + '.')}.{function.__qualname__}"
    raised_only = function.__module__.startswith(MAKES_CODE)
    texts = tuple(_texts([p for r in parts if isinstance(r, ast.Raise) for p in ast.walk(r)] if raised_only else parts))
    known = tuple({id(v): v for v in values if v is not None and not isinstance(v, types.ModuleType)}.values())
    ours = tuple((owner, attr) for owner, attr in dict.fromkeys(of_classes) if is_ours(owner))
    return Facts(name, texts, known, tuple(set(own)), tuple(set(above)), ours, tuple(set(of_others)))


def _types_in(parts: list[ast.AST]) -> Iterator[int]:
    """The parts that only say or ask of what type something is."""
    for node in parts:
        for own in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if own is not None:
                yield from map(id, ast.walk(own))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            yield from map(id, ast.walk(node.args[1]))


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or GAP for part in node.values)
    return None


def _texts(parts: list[ast.AST]) -> Iterator[str]:
    """The texts that are sentences or parts of them, without docstrings."""
    inner = {id(p) for part in parts if isinstance(part, ast.JoinedStr) for p in ast.walk(part) if p is not part}
    inner |= {id(part.value) for part in parts if isinstance(part, ast.Expr)}
    for part in parts:
        if id(part) not in inner and (text := _text(part)) and " " in text:
            yield text


# --------------------------------------------------------------------------------------- all that is called


@dataclass(frozen=True)
class Message:
    """A text, the function that makes it, and the class whose method that is."""

    text: str
    function: str
    owner: type | None


@dataclass
class Reach:
    """What can be called from some functions, and the texts on the way."""

    root: type | None = None  # the class whose methods the functions are
    ends: frozenset[str] = frozenset()  # functions and classes that are not followed
    messages: set[Message] = field(default_factory=set)
    _seen: set[tuple[types.CodeType, Any]] = field(default_factory=set)
    _made: set[type] = field(default_factory=set)  # classes of which there may be instances
    _asked: set[str] = field(default_factory=set)  # attributes of objects of unknown class
    _waiting: list[tuple[Any, Any]] = field(default_factory=list)

    def follow(self, functions: Iterable[Any]) -> set[Message]:
        """Return the messages of functions and of all that they call."""
        if self.root is not None:
            self._made.add(self.root)
        self._waiting += [(f, self.root) for f in functions]
        while self._waiting:
            value, owner = self._waiting.pop()
            function = function_of(value)
            if function is None or (function.__code__, owner) in self._seen:
                continue
            self._seen.add((function.__code__, owner))
            found = facts(function.__code__, function)
            if found is not None and found.name not in self.ends:
                self._go_on(found, owner)
        return self.messages

    def _go_on(self, found: Facts, owner: Any) -> None:
        self.messages |= {Message(text, found.name, owner) for text in found.texts}
        for value in found.values:
            self._value(value, found.name, owner)
        for attr in found.own:
            self._method(owner, attr) if owner is not None else self._ask(attr)
        for attr in found.above:
            self._method(owner, attr, below=found.name) if owner is not None else self._ask(attr)
        for of, attr in found.of_classes:
            self._make(of)
            self._method(of, attr)
        for attr in found.of_others:
            self._ask(attr)

    def _value(self, value: Any, name: str, owner: Any) -> None:
        if isinstance(value, dict | tuple | list):
            for inner in value.values() if isinstance(value, dict) else value:
                if not isinstance(inner, str):  # names, such as those of measures
                    self._value(inner, name, owner)
        elif isinstance(value, str):
            if " " in value:
                self.messages.add(Message(value, name, owner))
        elif isinstance(value, type):
            self._make(value)
        elif is_ours(type(value)):
            self._make(type(value))
        else:
            self._waiting.append((value, None))

    def _make(self, made: type) -> None:
        if is_ours(made) and made not in self._made and self.ends.isdisjoint(c.__name__ for c in made.__mro__):
            self._made.add(made)
            for attr in ("__init__", "__post_init__", *(_methods_of(made).keys() & self._asked)):
                self._method(made, attr)

    def _ask(self, attr: str) -> None:
        if attr not in self._asked:
            self._asked.add(attr)
            for made in self._made:
                self._method(made, attr)

    def _method(self, owner: type, attr: str, below: str = "") -> None:
        """Follow a method; with `below`, of the classes above the one that has the function of this name."""
        found = _methods_of(owner).get(attr)
        if below:
            names = [f"{c.__module__.removeprefix(PACKAGE + '.')}.{c.__qualname__}." for c in owner.__mro__]
            above = owner.__mro__[1 + max((i for i, name in enumerate(names) if below.startswith(name)), default=-1) :]
            found = next((function_of(vars(c)[attr]) for c in above if attr in vars(c)), None)
        if found is not None:
            self._waiting.append((found, owner))


@cache
def _methods_of(owner: type) -> dict[str, types.FunctionType]:
    """The methods and properties of a class by name."""
    found = {name: function_of(value) for c in reversed(owner.__mro__) for name, value in vars(c).items()}
    return {name: function for name, function in found.items() if function is not None}


# ------------------------------------------------------------------------------------- what a text names

CALL = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*)\(")
KEYWORD = re.compile(r"(?<![\w.…'\"\[-])([a-z]\w*)=(?!=)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@dataclass(frozen=True)
class Argument:
    """An argument that a text names."""

    name: str
    of: str = ""  # of which call, such as fit(X, y, groups=...); "" if it stands alone
    rest: str = ""  # the text after it

    @property
    def is_elsewhere(self) -> bool:
        """Whether the text says that it is a parameter of something else: `max_bins=3 of Stump`, `its cost=2`."""
        return re.match(r"(…|'[^']*'|[\w.]+)(\(\))? of ", self.rest) is not None


def arguments(text: str) -> list[Argument]:
    """Return the arguments that a text names."""
    calls = []
    for match in CALL.finditer(text):
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        calls.append((match.end(), end, match[1]))
    found = []
    for match in KEYWORD.finditer(text):
        around = [call for call in calls if call[0] <= match.start() < call[1]]
        found.append(Argument(match[1], max(around)[2] if around else "", text[match.end() :]))
    return found


def options(text: str) -> list[str]:
    """Return the options of the command line that a text names."""
    return OPTION.findall(text)
