"""Databases that run generated queries: SQLite and DuckDB in this process, PostgreSQL if it is installed.

A table maps names to columns, each with a type and cells. A cell is None, a Python number, a boolean or a text.
"""

from __future__ import annotations

import csv
import glob
import io
import math
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

DOUBLE, BIGINT, REAL, TEXT = "DOUBLE PRECISION", "BIGINT", "REAL", "VARCHAR"


def named(name):
    return '"' + name.replace('"', '""') + '"'


def create(columns):
    return f"CREATE TABLE data ({', '.join(f'{named(name)} {kind}' for name, (kind, _) in columns.items())})"


class SQLite:
    """The SQLite of Python's standard library, which has no NaN."""

    has_nan = False

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def load(self, columns):
        self.connection.execute("DROP TABLE IF EXISTS data")
        self.connection.execute(create(columns))
        rows = zip(*(cells for _, cells in columns.values()))
        self.connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(columns))})", rows)

    def run(self, query):
        """The names of columns, and the rows."""
        cursor = self.connection.execute(query)
        return [c[0] for c in cursor.description], cursor.fetchall()

    def plan(self, query):
        """The amount of work: the number of instructions of SQLite's virtual machine."""
        return len(self.connection.execute(f"EXPLAIN {query}").fetchall())


class DuckDB:
    has_nan = True

    def __init__(self):
        import duckdb

        self.connection = duckdb.connect(config={"threads": 1})

    def load(self, columns):
        self.connection.execute("DROP TABLE IF EXISTS data")
        self.connection.execute(create(columns))
        rows = list(zip(*(cells for _, cells in columns.values())))
        marks = f"({', '.join('?' * len(columns))})"  # one statement: executemany takes milliseconds per row
        cells = [cell for row in rows for cell in row]
        self.connection.execute(f"INSERT INTO data VALUES {', '.join([marks] * len(rows))}", cells)

    def run(self, query):
        cursor = self.connection.execute(query)
        return [c[0] for c in cursor.description], cursor.fetchall()

    def plan(self, query):
        """The amount of work: the length of all formulas in the plan."""
        return len(self.connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()[0][1])


# Serves until its standard input is closed, also by the end of the parent process, and removes its files.
SERVE = """
"$1/postgres" -D "$2/data" -c listen_addresses= -c unix_socket_directories="$2" -c fsync=off >"$2/log" 2>&1 &
cat >/dev/null
kill -QUIT $!
wait
rm -rf "$2"
"""


class PostgreSQL:
    """A cluster in a temporary folder, with a socket in it; `psql` is the client."""

    has_nan = True

    def __init__(self, programs, user):
        self.programs = Path(programs)
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self.folder.chmod(0o755)
        as_user = [] if user is None else ["runuser", "-u", user, "--"]
        if user is not None:
            os.chown(self.folder, pwd.getpwnam(user).pw_uid, -1)
        options = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "--no-sync"]
        made = subprocess.run(
            [*as_user, self.programs / "initdb", "-D", self.folder / "data", *options],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if made.returncode:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise OSError(f"initdb failed: {made.stdout.strip()[-300:]}")
        self.server = subprocess.Popen(
            [*as_user, "sh", "-c", SERVE, "serve", self.programs, self.folder], cwd="/", stdin=subprocess.PIPE
        )
        for _ in range(300):
            if subprocess.run([*self._client(), "-c", "SELECT 1"], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        log = (self.folder / "log").read_text()[-300:]
        self.close()
        raise OSError(f"PostgreSQL does not start: {log}")

    def _client(self):
        return [self.programs / "psql", "-h", self.folder, "-U", "tester", "-d", "postgres", "-X", "-q", "--csv"]

    def close(self):
        self.server.stdin.close()
        self.server.wait()

    def _psql(self, script):
        done = subprocess.run(
            [*self._client(), "-v", "ON_ERROR_STOP=1", "-f", "-"],
            input=script,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def load(self, columns):
        rows = zip(*([_literal(cell, kind) for cell in cells] for kind, cells in columns.values()))
        values = ",\n".join(f"({', '.join(row)})" for row in rows)
        self._psql(f"DROP TABLE IF EXISTS data; {create(columns)}; INSERT INTO data VALUES\n{values};")

    def run(self, query):
        """The names of columns, and the rows, with numbers parsed."""
        names, *rows = csv.reader(io.StringIO(self._psql(query), newline=""))
        return names, [tuple(map(_parsed, row)) for row in rows]

    def plan(self, query):
        """The amount of work: the length of all formulas in the plan."""
        return len(self._psql(f"EXPLAIN (VERBOSE, COSTS OFF) {query}"))


def _literal(cell, kind):
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return "'" + cell.replace("'", "''") + "'"
    return f"CAST('{cell!r}' AS {kind})"


def _parsed(text):
    if text in ("t", "f"):
        return text == "t"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def start_postgresql():
    """Start a server, or raise an OSError that says why there is none."""
    found = shutil.which("initdb")
    homes = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: int(p.split("/")[-2]), reverse=True)
    homes += [str(Path(found).resolve().parent)] if found else []
    home = next((h for h in homes if all((Path(h) / p).exists() for p in ("initdb", "postgres", "psql"))), None)
    if home is None:
        raise OSError(
            "PostgreSQL is not installed (no initdb, postgres and psql on the path or in /usr/lib/postgresql)"
        )
    if os.geteuid() != 0:
        return PostgreSQL(home, None)
    for user in ("postgres", "nobody"):
        try:
            pwd.getpwnam(user)
        except KeyError:
            continue
        if shutil.which("runuser"):
            return PostgreSQL(home, user)
    raise OSError("PostgreSQL does not run as root, and there is no other user (postgres or nobody, with runuser)")


def nulls(cells):
    """NaN as None, for databases without NaN."""
    return [None if isinstance(c, float) and math.isnan(c) else c for c in cells]
