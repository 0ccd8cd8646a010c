"""Build hook: wheels contain the compiled native core, for one platform and every version of Python.

``SKEWBOOST_TARGET`` selects another platform, for which zig builds; `TARGETS` in ``core/compilers.py`` lists them.
``SKEWBOOST_NO_CORE=1`` leaves out the native core. The wheel is then for all platforms, but slow.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class CoreBuildHook(BuildHookInterface[Any]):
    """Build the libraries of the native core into wheels, or next to the sources for editable installs."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Return a compiler of the package index, if none is installed."""
        compilers = self._core("compilers")
        if self._left_out():
            return []
        if os.environ.get("SKEWBOOST_TARGET"):
            return ["ziglang"]
        try:
            compilers.installed()
        except compilers.NoCompilerError:
            return ["ziglang"]
        except compilers.BuildError as error:
            self._stop(error)
        return []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the libraries, and add them to the wheel."""
        if self._left_out():
            return
        build, compilers = self._core("build"), self._core("compilers")
        target = self._target(compilers)
        try:
            if version == "editable":
                build.refresh(Path(self.root, "src", "skewboost", "engine"))
                return
            self._folder = tempfile.TemporaryDirectory(prefix="skewboost-")
            libraries = build.build(Path(self._folder.name), target)
        except compilers.BuildError as error:
            self._stop(error)
        build_data["force_include"].update({str(path): f"skewboost/engine/{path.name}" for path in libraries})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.tag if target else self._local_platform(compilers)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary libraries."""
        if self._folder is not None:
            self._folder.cleanup()

    def _left_out(self) -> bool:
        value = os.environ.get("SKEWBOOST_NO_CORE", "")
        if value not in ("", "0", "1"):
            self.app.abort(f"SKEWBOOST_NO_CORE={value!r}: set it to 1 to leave out the native core, or unset it.")
        return value == "1"

    def _target(self, compilers: Any) -> Any:
        """Return the target that ``SKEWBOOST_TARGET`` names, or None for this machine."""
        name = os.environ.get("SKEWBOOST_TARGET", "")
        if name and name not in compilers.TARGETS:
            known = ", ".join(compilers.TARGETS)
            self.app.abort(f"SKEWBOOST_TARGET={name!r} is unknown. Set it to one of {known}, or unset it.")
        return compilers.TARGETS.get(name)

    def _local_platform(self, compilers: Any) -> str:
        """Return the platform tag of a build for this machine; builds by zig also run on older systems."""
        here = compilers.this_machine()
        if compilers.find().is_zig and here.tag:
            return str(here.tag)
        tags = list(platform_tags())
        return next((tag for tag in tags if tag.startswith("linux_")), tags[0])

    def _stop(self, error: Exception) -> NoReturn:
        remedy = "Set SKEWBOOST_NO_CORE=1 to install skewboost without it. It then works, but many times slower."
        self.app.abort(f"{error}\n{remedy}")
        raise SystemExit(1)

    def _core(self, module: str) -> Any:
        """Import a module of the native core without the engine, which needs NumPy."""
        src = str(Path(self.root, "src"))
        if src not in sys.path:
            sys.path.insert(0, src)
        if "skewboost_core" not in sys.modules:
            folder = Path(src, "skewboost", "engine", "core")
            spec = importlib.util.spec_from_file_location(
                "skewboost_core", folder / "__init__.py", submodule_search_locations=[str(folder)]
            )
            assert spec is not None
            assert spec.loader is not None
            package = importlib.util.module_from_spec(spec)
            sys.modules["skewboost_core"] = package
            spec.loader.exec_module(package)
        return importlib.import_module(f"skewboost_core.{module}")
