"""Names of a package that are imported when somebody asks for them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package, given its ``__name__`` and ``__file__``.

    They follow from its stub, ``__init__.pyi``, which type checkers and editors read, too. The stub imports each public
    name from its module, so that there is one list for all of them.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home = {alias.name: node.module or "" for node in imports for alias in node.names}
    public = sorted(alias for alias, module in home.items() if module != name)

    def __getattr__(wanted: str) -> Any:  # noqa: N807
        if wanted not in home:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        module = home[wanted]
        return import_module(f"{name}.{wanted}") if module == name else getattr(import_module(module), wanted)

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*vars(sys.modules[name]), *home})

    return __getattr__, __dir__, public
