"""The sdist, and from it a wheel for every platform, built on this machine with zig; those of the packages, too.

Usage: python tools/wheels.py [folder, default: dist]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from skewboost.engine.core.compilers import TARGETS

ROOT = Path(__file__).parent.parent


def main(folder: Path) -> None:
    """Build everything into a folder, in place of what was built before."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("skewboost*.whl"), *folder.glob("skewboost*.tar.gz")):
        old.unlink()
    build(ROOT, "skewboost", folder, [{"SKEWBOOST_TARGET": target} for target in TARGETS])
    for package in sorted(ROOT.glob("packages/*/pyproject.toml")):
        build(package.parent, package.parent.name.replace("-", "_"), folder, [{}])
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size:>9,}  {path.name}")


def build(source: Path, name: str, folder: Path, environments: list[dict[str, str]]) -> None:
    """Build the sdist, and from it a wheel in each environment."""
    hatchling("sdist", source, folder)
    (sdist,) = folder.glob(f"{name}-*.tar.gz")
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(sdist) as archive:
        archive.extractall(scratch, filter="data")
        (unpacked,) = Path(scratch).iterdir()  # not the checkout: what the sdist lacks must be missed here
        for environment in environments:
            hatchling("wheel", unpacked, folder, **environment)


def hatchling(kind: str, source: Path, folder: Path, **environment: str) -> None:
    """Build one distribution; the compiler's cache is kept, as the C runtime of Windows takes more than a minute."""
    cache = str(ROOT / "build" / "zig-cache")
    environment = {"ZIG_GLOBAL_CACHE_DIR": cache, **os.environ, "SKEWBOOST_NO_CORE": "", **environment}
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder.absolute())]
    subprocess.run(command, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
