"""Build hook: wheels hold the compiled native core, and are for one platform and every Python.

``SKEWBOOST_TARGET`` names another platform to build for, with zig; `TARGETS` in ``core/compilers.py`` has them.
``SKEWBOOST_NO_CORE=1`` leaves the native core out: the wheel is for all platforms, and slow.
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
    """Builds the libraries of the native core into wheels, and beside the sources for editable installs."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """A compiler from the package index, where there is no other."""
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
        """Build the libraries, and say what goes into the wheel."""
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
        """Remove what is now in the wheel."""
        if self._folder is not None:
            self._folder.cleanup()

    def _left_out(self) -> bool:
        said = os.environ.get("SKEWBOOST_NO_CORE", "")
        if said not in ("", "0", "1"):
            self.app.abort(f"SKEWBOOST_NO_CORE={said!r}: set it to 1 to leave the native core out, or unset it.")
        return said == "1"

    def _target(self, compilers: Any) -> Any:
        """What ``SKEWBOOST_TARGET`` says, or None for this machine."""
        said = os.environ.get("SKEWBOOST_TARGET", "")
        if said and said not in compilers.TARGETS:
            known = ", ".join(compilers.TARGETS)
            self.app.abort(f"SKEWBOOST_TARGET={said!r} is unknown. Set it to one of {known}, or unset it.")
        return compilers.TARGETS.get(said)

    def _local_platform(self, compilers: Any) -> str:
        """The tag of what was built for this machine: zig builds for older systems too, other compilers do not."""
        here = compilers.this_machine()
        if compilers.find().is_zig and here.tag:
            return str(here.tag)
        tags = list(platform_tags())
        return next((tag for tag in tags if tag.startswith("linux_")), tags[0])

    def _stop(self, error: Exception) -> NoReturn:
        remedy = "SKEWBOOST_NO_CORE=1 installs skewboost without it; everything then works, but many times slower."
        self.app.abort(f"{error}\n{remedy}")
        raise SystemExit(1)

    def _core(self, module: str) -> Any:
        """A module of the native core, imported without the engine around it: that needs NumPy, which is not here."""
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
