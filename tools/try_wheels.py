"""Install the wheels for Linux as users do, without a compiler at hand; fit a model, and list published experiments.

Wheels for arm64 are tried where ``qemu-aarch64`` and Debian's ``apt-get`` are: with Debian's Python for arm64, unpacked
into a folder of its own.

Usage: python tools/try_wheels.py [folder, default: dist]
"""

from __future__ import annotations

import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

FIT = """
import math, platform, numpy as np
from skewboost import AdaBoostClassifier
from skewboost.engine import library
core = library.load()
assert core is not None, "no native core"
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=20_000) > 3
F = AdaBoostClassifier(n_estimators=50).fit(X, y).decision_function(X)
print(platform.machine(), core._name.rpartition("/")[2], math.fsum(F).hex())
"""


def main(folder: Path) -> None:
    """Fit on this processor with every build, and on arm64.

    Builds for the same processor give the same bits. Others differ in the last bit of logarithms, which NumPy computes.
    """
    with tempfile.TemporaryDirectory() as scratch:
        said = []
        if platform.machine() == "x86_64":
            said += on_this_machine(wheel_for("x86_64", folder), Path(scratch))
        if shutil.which("qemu-aarch64") and shutil.which("apt-get"):
            said += on_arm64(wheel_for("aarch64", folder), Path(scratch))
        else:
            print("The wheel for arm64 was not tried: that needs qemu-aarch64 (Debian: qemu-user) and apt-get.")
    print(*said, sep="\n")
    sums = [(line.split()[0], float.fromhex(line.split()[-1])) for line in said]
    for machine, total in sums[1:]:
        if total != sums[0][1] if machine == sums[0][0] else not math.isclose(total, sums[0][1], rel_tol=1e-12):
            raise SystemExit("The models differ.")


def wheel_for(machine: str, folder: Path) -> Path:
    """The wheel for Linux on such a processor."""
    (wheel,) = folder.glob(f"skewboost-*manylinux*_{machine}.whl")
    return wheel


def on_this_machine(wheel: Path, scratch: Path) -> list[str]:
    """In a new environment, in whose PATH there is nothing else."""
    subprocess.run([sys.executable, "-m", "venv", scratch / "environment"], check=True)
    programs = scratch / "environment" / "bin"
    only = {**os.environ, "PATH": str(programs), "PYTHONPATH": ""}
    only.pop("CXX", None)
    run([programs / "python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", wheel], only)
    levels = [{}, {"SKEWBOOST_CORE": "baseline"}]
    said = [run([programs / "python", "-c", FIT], {**only, **level}) for level in levels]
    install = ["--quiet", "--only-binary=:all:", "--find-links", wheel.parent, f"{wheel}[reproduce]"]
    run([programs / "python", "-m", "pip", "install", *install], only)
    run([programs / "skewboost", "reproduce", "list"], only)
    return said


def on_arm64(wheel: Path, scratch: Path) -> list[str]:
    """In an emulator, with Debian's Python and everybody's wheels for arm64."""
    root = scratch / "root"
    unpack_debian("arm64", ["python3", "libstdc++6"], root, scratch / "apt")
    (python,) = (path for path in (root / "usr/bin").glob("python3.*") if path.name[8:].replace(".", "").isdigit())
    site = scratch / "site"
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in range(17, 40)]
    version = f"--python-version={python.name[6:]}"
    install = ["--quiet", "--only-binary=:all:", f"--target={site}", version, *platforms, wheel]
    run([sys.executable, "-m", "pip", "install", *install], dict(os.environ))
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONHOME": str(root / "usr")}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    return [run(["qemu-aarch64", "-L", root, python, "-c", FIT], environment)]


def unpack_debian(architecture: str, packages: list[str], root: Path, state: Path) -> None:
    """Unpack packages and what they depend on into a folder; the system's own packages stay as they are."""
    for path in ("lists/partial", "archives/partial"):
        (state / path).mkdir(parents=True)
    (state / "status").touch()
    told = {
        "Dir::State": state,
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state,
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
    }
    apt = ["apt-get", "-qq", *(part for key, value in told.items() for part in ("-o", f"{key}={value}"))]
    run([*apt, "update"], dict(os.environ))
    run([*apt, "install", "--download-only", "--no-install-recommends", "--yes", *packages], dict(os.environ))
    for package in (state / "archives").glob("*.deb"):
        run(["dpkg", "--extract", package, root], dict(os.environ))


def run(command: list[str | Path], environment: dict[str, str]) -> str:
    """What a command prints; if it fails, all that it has said."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command[:5]))} … failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
