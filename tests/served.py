"""A web server for tests of downloads."""

from __future__ import annotations

import http.server
import threading

import pytest

from skewboost.datasets import downloads


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A web server with the files of a folder, an empty cache, and no folder of the user's."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        asked: list[str] = []  # noqa: RUF012

        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def do_GET(self):
            self.asked.append(self.path)
            if self.path.endswith(".raw"):  # a whole answer, with its headers
                self.wfile.write((folder / self.path[1:]).read_bytes())
            else:
                super().do_GET()

        def log_message(self, *args):
            pass

    monkeypatch.setenv("SKEWBOOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(downloads, "data_folders", list)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        server.folder, server.asked = folder, Quiet.asked
        server.url = f"http://127.0.0.1:{server.server_address[1]}/"
        yield server
        server.shutdown()
        thread.join()
