"""Databases that the tests of queries share; each is started once."""

from __future__ import annotations

import pytest

from sql_databases import DuckDB, SQLite, start_postgresql


@pytest.fixture(scope="session", params=["SQLite", "DuckDB", "PostgreSQL"])
def database(request):
    if request.param == "SQLite":
        yield SQLite()
    elif request.param == "DuckDB":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
        yield DuckDB()
    else:
        try:
            server = start_postgresql()
        except OSError as error:
            pytest.skip(str(error))
        yield server
        server.close()
