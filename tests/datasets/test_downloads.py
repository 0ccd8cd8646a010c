"""Public data sets: the folder first, then the cache, then the network; contents are checked."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from skewboost.datasets import downloads, faces, fetch_faces, fetch_ida, fetch_uci, ida, uci
from skewboost.errors import InputError
from support import SHARED

TEXT = b"7, 1.50,M,red\n8,?,B,blue\n9,2e3,M,?\n\n"
COLUMNS = ("size", "colour")


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


def toy_source(url, monkeypatch, text=TEXT):
    source = uci.Source(url, COLUMNS, 2, ("M",), "", nominal=("colour",), first=1)
    rows = [["1.5", "red"], [None, "blue"], ["2000", None]]
    source = uci.Source(
        url, COLUMNS, 2, ("M",), downloads.digest_of(uci._as_bytes(rows, [1, 0, 1], source)), ("colour",), 1
    )
    monkeypatch.setitem(uci.SOURCES, "toy", source)


def test_a_file_is_downloaded_once_and_read(served, monkeypatch):
    (served.folder / "toy.data").write_bytes(TEXT)
    toy_source(served.url + "toy.data", monkeypatch)
    for _ in range(2):
        X, y = fetch_uci("toy")
    assert served.asked == ["/toy.data"]
    assert y.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(X["size"], [1.5, np.nan, 2000])
    assert X["colour"].cat.categories.tolist() == ["blue", "red"]
    assert X["colour"].isna().tolist() == [False, False, True]


def test_other_contents_are_refused(served, monkeypatch):
    (served.folder / "toy.data").write_bytes(TEXT.replace(b"red", b"green"))
    toy_source(served.url + "toy.data", monkeypatch)
    with pytest.raises(InputError, match=r"does not have the contents of 'toy'.*checksum"):
        fetch_uci("toy")


def test_row_order_and_notation_do_not_matter(served, monkeypatch):
    (served.folder / "toy.data").write_bytes(b"9,2000.0,M,?\n8,?,B,blue\n7,1.5,M,red\n")
    toy_source(served.url + "toy.data", monkeypatch)
    assert fetch_uci("toy")[1].tolist() == [1, 0, 1]


@pytest.mark.parametrize("url", ["{}missing.data", "http://127.0.0.1:9/toy.data"])
def test_without_the_file_the_error_says_what_to_do(served, monkeypatch, tmp_path, url):
    toy_source(url.format(served.url), monkeypatch)
    with pytest.raises(downloads.DownloadError, match=r"'toy' is not on this machine.*SKEWBOOST_DATA.*toy\.csv\.gz"):
        fetch_uci("toy")
    assert not any((tmp_path / "cache").iterdir())


def test_a_folder_comes_first(monkeypatch, tmp_path):
    toy_source("http://127.0.0.1:9/toy.data", monkeypatch)
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    table = pd.DataFrame({"size": [1.5, None, 2000], "colour": ["red", "blue", None], "target": [1, 0, 1]})
    table.to_csv(tmp_path / "toy.csv.gz", index=False)
    assert fetch_uci("toy")[1].tolist() == [1, 0, 1]
    table.drop(columns="colour").to_csv(tmp_path / "toy.csv.gz", index=False)
    with pytest.raises(InputError, match="no column 'colour'"):
        fetch_uci("toy")


def test_a_folder_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"SKEWBOOST_DATA=.*none is not a folder"):
        fetch_uci("pima")


@pytest.mark.parametrize("call", [lambda: fetch_uci("iris"), lambda: fetch_ida("iris"), lambda: fetch_faces("all")])
def test_unknown_names(call):
    with pytest.raises(InputError, match=r"pima|banana|'train' or 'test'"):
        call()


def test_the_benchmark_file_of_ida(served, monkeypatch):
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(6, 2)), np.array([[1], [-1], [1], [-1], [1], [-1]])
    table = {"x": X, "t": t, "train": np.array([[1, 2, 3], [4, 5, 6]]), "test": np.array([[4, 5, 6], [1, 2, 3]])}
    savemat(served.folder / "benchmarks.mat", {"banana": table})
    monkeypatch.setattr(ida, "URL", served.url + "benchmarks.mat")
    monkeypatch.setitem(ida.DIGESTS, "banana", downloads.digest_of(ida._as_bytes(X, (t > 0).astype(int).ravel())))
    read, y, splits = fetch_ida("banana")
    np.testing.assert_array_equal(read, X)
    assert y.tolist() == [1, 0, 1, 0, 1, 0]
    assert [(a.tolist(), b.tolist()) for a, b in splits] == [([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])]


def test_the_archive_of_faces(served, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (3, 19, 19)).astype(np.uint8)
    names = ["train/face/a.pgm", "train/face/b.pgm", "train/non-face/c.pgm"]

    def packed(files):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, data in files:
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return buffer.getvalue()

    inner = packed([(n, b"P5\n# a comment\n19 19\n255\n" + image.tobytes()) for n, image in zip(names, images)])
    (served.folder / "faces.tar.gz").write_bytes(packed([("faces/face.train.tar.gz", inner)]))
    monkeypatch.setattr(faces, "URL", served.url + "faces.tar.gz")
    rows = [image.tobytes() + bytes([label]) for image, label in zip(images, (1, 1, 0))]
    monkeypatch.setitem(faces.DIGESTS, "train", downloads.digest_of(rows))
    read, y = fetch_faces("train")
    np.testing.assert_array_equal(read, images)
    assert y.tolist() == [1, 1, 0]
    with pytest.raises(InputError, match=r"no face\.test"):
        fetch_faces("test")


@pytest.mark.parametrize("name", sorted(uci.SOURCES))
def test_a_file_of_the_repository_gives_the_same_table_as_the_folder(served, monkeypatch, name):
    """A file in the layout of the repository is made from the table, with its id and label columns."""
    path = SHARED / "data" / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip("the data sets are not shipped")
    source = uci.SOURCES[name]
    rows, labels = uci.of_folder(path, source.columns)
    lines = []
    for row, label in zip(rows, labels):
        line = ["?"] * 14 if name.startswith("echo") else []
        cells = ["?" if cell is None else cell for cell in row]
        text = source.positive[-1] if label else "none"
        if name.startswith("echo"):
            line[source.first : source.first + len(cells)] = cells
            line[source.label] = text
        elif source.label < source.first:
            line = [*(["1"] * source.first), *cells]
            line[source.label] = text
        else:
            line = [*(["1"] * source.first), *cells, text]
        lines.append(",".join(line))
    (served.folder / "table.data").write_text("\n".join(lines) + "\n")
    moved = uci.Source(**{**vars(source), "url": served.url + "table.data"})
    monkeypatch.setitem(uci.SOURCES, name, moved)
    X, y = fetch_uci(name)
    assert y.tolist() == labels
    assert list(X.columns) == list(source.columns)
    assert {c for c in X.columns if X[c].dtype == "category"} == set(source.nominal)
