"""Databases that the tests of queries share."""

from __future__ import annotations

import pytest

from sql_databases import DuckDB, SQLite, start_postgresql


@pytest.fixture(scope="session")
def postgresql():
    try:
        server = start_postgresql()
    except OSError as error:
        pytest.skip(str(error))
    yield server
    server.close()


@pytest.fixture(params=["SQLite", "DuckDB", "PostgreSQL"])
def database(request):
    if request.param == "PostgreSQL":
        return request.getfixturevalue("postgresql")
    if request.param == "DuckDB":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
        return DuckDB()
    return SQLite()
