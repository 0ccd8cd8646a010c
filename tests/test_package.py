"""The package as such."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import skewboost
import skewboost_reproductions

SOURCE = Path(skewboost.__file__).parent
REPRODUCTIONS = Path(skewboost_reproductions.__file__).parent


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_public_names_can_be_imported_and_are_listed():
    for name in skewboost.__all__:
        assert getattr(skewboost, name).__name__ == name
        assert name in dir(skewboost)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        skewboost.Nonsense  # noqa: B018


def test_parts_of_the_package_are_imported_when_they_are_needed():
    """`import skewboost` imports nothing heavy, and neither its parts nor a fit import what they do not need."""
    has_names = {path.parent.name for path in SOURCE.glob("*/__init__.py") if "__all__" in path.read_text()} - {"cli"}
    assert has_names <= set(dir(skewboost))
    rooms = sorted(
        path.parent.name for path in SOURCE.glob("*/__init__.py") if path.parent.name not in ("cli", "engine")
    )
    code = (
        "import sys, skewboost\n"
        f"assert set({rooms!r}) <= set(dir(skewboost))\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'matplotlib', 'jinja2', 'joblib', 'scipy'}\n"
        "assert not heavy & set(sys.modules)\n"
        "import numpy as np; from skewboost import RealBoostClassifier\n"
        "X = np.random.default_rng(0).normal(size=(1000, 10))\n"
        "RealBoostClassifier(estimator='tree').fit(X, X[:, 0] > 1).predict(X)\n"
        "assert not {'numba', 'llvmlite', 'polars', 'matplotlib', 'jinja2'} & set(sys.modules)\n"
        f"parts = [getattr(skewboost, name) for name in {rooms!r}]\n"
        "assert len(set(parts)) == len(parts)\n"
        "for part in (skewboost.plots, skewboost.evaluate, skewboost.io, skewboost.meta):\n"
        "    assert set(part.__all__) <= set(dir(part)), part\n"
        "    assert all(getattr(part, name) is not None for name in part.__all__)\n"
        "assert not {'matplotlib', 'jinja2'} & set(sys.modules)\n"  # imported when something is drawn
    )
    assert run(code) == ""


def test_only_public_parts_of_scikit_learn_are_imported():
    offending = []
    for path in [*SOURCE.rglob("*.py"), *REPRODUCTIONS.rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                private = [p for p in node.module.split(".") if p.startswith("_")]
                private += [a.name for a in node.names if a.name.startswith("_")]
                if private:
                    offending.append((path.name, node.module, private))
    assert offending == []


@pytest.mark.parametrize("source", [SOURCE, REPRODUCTIONS], ids=lambda source: source.name)
def test_no_two_modules_have_the_same_name(source):
    """Whoever opens a file by its name finds the one that is meant."""
    names = Counter(path.name for path in source.rglob("*.py") if not path.name.startswith("__"))
    assert [name for name, n in names.items() if n > 1] == []


def test_types_are_announced():
    assert (SOURCE / "py.typed").exists()
    assert (REPRODUCTIONS / "py.typed").exists()
