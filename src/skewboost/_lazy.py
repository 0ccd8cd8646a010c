"""Names of a package that are imported when somebody asks for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    name: str, homes: Mapping[str, str], parts: Sequence[str] = (), *, root: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    name : str
        Of the package.
    homes : mapping of str to str
        The modules in which its names are.
    parts : sequence of str
        Its own modules and packages that are names, too.
    root : str or None, default=None
        The package that `homes` is about, if it is another one.
    """

    def __getattr__(wanted: str) -> Any:  # noqa: N807
        if wanted in parts:
            return import_module(f"{name}.{wanted}")
        if wanted not in homes:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        return getattr(import_module(f"{root or name}.{homes[wanted]}"), wanted)

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*vars(sys.modules[name]), *homes, *parts})

    return __getattr__, __dir__
