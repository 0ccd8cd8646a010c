"""Install this checkout with an extra, and the packages in it: by uv, or by pip where uv does not work.

All go into the environment that runs this, which follows changes of the sources.

uv needs a quarter of pip's time. It does not read pip's configuration, so it is told what that says.

Usage: python tools/install.py EXTRA
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
OF_PIP = {  # an option of pip, and the variable of uv that means the same
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}


def environment(listed: str) -> dict[str, str]:
    """Return the variables for uv that say what ``pip config list`` has printed."""
    found = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        if variable := OF_PIP.get(name.rpartition(".")[2]):
            found[variable] = " ".join(str(ast.literal_eval(value)).split())
    return found


def install_by_uv(what: list[str]) -> bool:
    """Whether uv could be installed and did the work."""
    if subprocess.run([*PIP, "install", "--quiet", "uv"]).returncode != 0:
        return False
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True).stdout
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--index-strategy", "unsafe-best-match"]  # as pip: the newest of all indexes
    return subprocess.run([*command, *what], env={**environment(listed), **os.environ}).returncode == 0


def main(extra: str) -> int:
    """Install, and return the exit status."""
    packages = sorted(str(path.parent) for path in Path("packages").glob("*/pyproject.toml"))
    what = [word for source in (f".[{extra}]", *packages) for word in ("-e", source)]
    if install_by_uv(what):
        return 0
    print(f"uv could not install {' '.join(what)}; pip tries.", file=sys.stderr)
    return subprocess.run([*PIP, "install", "--quiet", *what]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
