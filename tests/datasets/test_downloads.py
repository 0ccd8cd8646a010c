"""Downloads: the folder first, then the cache, then the network; contents are checked. The faces are read so."""

from __future__ import annotations

import gzip
import io
import re
import tarfile

import numpy as np
import pandas as pd
import pytest

from skewboost.datasets import downloads, faces, fetch_faces
from skewboost.datasets.data_files import REPLACE, check_digest, digest_of, read_table, reading
from skewboost.errors import InputError

TEXT = b"1.50,1\n7,0\n2e3,1\n"
DIGEST = digest_of([b"1.5,1", b"7.0,0", b"2000.0,1"])


def fetch_toy(url="http://127.0.0.1:9/toy.data"):
    """A small data set, which is read as the others are: numbers and labels."""

    def checked(sizes, labels):
        check_digest(digest_of(f"{size},{label}".encode() for size, label in zip(sizes, labels)), DIGEST)
        return sizes, labels

    def read(data):
        cells = [line.split(",") for line in data.decode().splitlines()]
        return checked([float(size) for size, _ in cells], [int(label) for _, label in cells])

    path = downloads.in_folders("toy")
    if path is None:
        return downloads.downloaded("toy", url, read)
    with reading("toy", path, REPLACE):
        table, labels = read_table(path)
        return checked(table["size"].astype(float).tolist(), labels.tolist())


def test_a_file_is_downloaded_once_and_read(served):
    (served.folder / "toy.data").write_bytes(TEXT)
    for _ in range(2):
        assert fetch_toy(served.url + "toy.data") == ([1.5, 7.0, 2000.0], [1, 0, 1])
    assert served.asked == ["/toy.data"]


def test_other_contents_are_refused(served):
    (served.folder / "toy.data").write_bytes(TEXT.replace(b"7", b"8"))
    with pytest.raises(InputError, match=r"toy\.data cannot be used as the data set 'toy': its checksum is"):
        fetch_toy(served.url + "toy.data")


@pytest.mark.parametrize("url", ["{}missing.data", "http://127.0.0.1:9/toy.data"])
def test_without_the_file_the_error_says_what_to_do(served, tmp_path, url):
    with pytest.raises(downloads.DownloadError, match=r"'toy' is not on this machine.*SKEWBOOST_DATA.*toy\.csv\.gz"):
        fetch_toy(url.format(served.url))
    assert not any((tmp_path / "cache").iterdir())


def test_a_folder_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    pd.DataFrame({"size": [7, 1.5, 2000], "target": [0, 1, 1]}).to_csv(tmp_path / "toy.csv.gz", index=False)
    assert fetch_toy()[1] == [0, 1, 1]  # in their own order


def test_a_folder_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"SKEWBOOST_DATA=.*none is not a folder"):
        fetch_toy()


PAGE = b"<html><body>Please log in, to, use, wifi</body></html>"


@pytest.mark.parametrize("answer", [PAGE, b"", b"\x1f\x8b\x00\xff" * 50, TEXT.replace(b"7", b"8")])
def test_an_answer_that_is_not_the_data_set_is_not_kept(served, tmp_path, answer):
    (served.folder / "toy.data").write_bytes(answer)
    words = r"The answer of http.*/toy\.data cannot be used as the data set 'toy': .+\. It was not kept\. Try again"
    with pytest.raises(downloads.DownloadError, match=words):
        fetch_toy(served.url + "toy.data")
    assert not any((tmp_path / "cache").iterdir())
    (served.folder / "toy.data").write_bytes(TEXT)
    assert fetch_toy(served.url + "toy.data")[1] == [1, 0, 1]


@pytest.mark.parametrize("content", [PAGE, TEXT[:12], TEXT.replace(b"7", b"8")])
def test_a_damaged_file_in_the_cache_is_named(served, tmp_path, content):
    (served.folder / "toy.data").write_bytes(TEXT)
    cached = tmp_path / "cache" / "toy.data"
    cached.parent.mkdir()
    cached.write_bytes(content)
    with pytest.raises(InputError, match=rf"{re.escape(str(cached))} cannot .* 'toy': .+\. Delete it, and try again"):
        fetch_toy(served.url + "toy.data")
    cached.unlink()
    assert fetch_toy(served.url + "toy.data")[1] == [1, 0, 1]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n7,1.5\r\n9\r\n,M",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\n7,1.5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + TEXT,
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n" + TEXT,
        b"nonsense\r\n\r\n" + TEXT,
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n" + TEXT,
        b"",
    ],
)
def test_broken_answers_are_download_errors_and_leave_nothing(served, tmp_path, answer):
    (served.folder / "toy.raw").write_bytes(answer)
    with pytest.raises(downloads.DownloadError, match=r"toy\.raw cannot be downloaded \(.+\)\. Try again with a conn"):
        fetch_toy(served.url + "toy.raw")
    assert not any((tmp_path / "cache").iterdir())


def test_a_cache_that_cannot_be_made(served, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(downloads.DownloadError, match=r"cannot be written .* Set SKEWBOOST_CACHE"):
        fetch_toy(served.url + "toy.data")


CSV = b"size,target\n1.50,1\n7,0\n2e3,1\n"
DAMAGED = {
    "cut": (".csv.gz", gzip.compress(CSV)[:-12], "ended before"),
    "not gzip": (".csv.gz", CSV, "[Nn]ot a gzipped"),
    "empty": (".csv", b"", "No columns"),
    "cut line": (".csv", CSV[:-2], "'target' must be 0 or 1 in every row, and has nan"),
    "no label": (".csv", CSV.replace(b"7,0", b"7,"), "'target' must be 0 or 1 in every row, and has nan"),
    "text label": (".csv", CSV.replace(b"7,0", b"7,yes"), "'target' must be 0 or 1 in every row, and has 'yes'"),
    "third label": (".csv", CSV.replace(b"7,0", b"7,2"), "'target' must be 0 or 1 in every row, and has 2"),
    "no target": (".csv", CSV.replace(b"target", b"class"), "it has no column 'target'"),
    "binary": (".csv", b"PK\x03\x04\xff\xfe" * 20, "codec can't decode|invalid"),
    "parquet": (".parquet", CSV, "[Pp]arquet"),
    "other": (".csv", CSV.replace(b"7", b"8"), "its checksum is"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_in_the_folder_is_named(monkeypatch, tmp_path, damage):
    ending, content, reason = DAMAGED[damage]
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    path = tmp_path / f"toy{ending}"
    path.write_bytes(content)
    words = rf"{re.escape(str(path))} cannot be used as the data set 'toy': .*({reason}).*\. Replace it by an undamaged"
    with pytest.raises(InputError, match=words):
        fetch_toy()


def test_a_file_with_an_ending_of_other_data_is_not_read(monkeypatch, tmp_path):
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    monkeypatch.setenv("SKEWBOOST_CACHE", str(tmp_path / "cache"))
    np.savez(tmp_path / "toy.npz", target=np.zeros(3))
    with pytest.raises(downloads.DownloadError):
        fetch_toy()
    (tmp_path / "toy.parquet").write_bytes(b"")
    pd.read_csv(io.BytesIO(CSV)).to_parquet(tmp_path / "toy.parquet")
    assert fetch_toy()[1] == [1, 0, 1]


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
    monkeypatch.setitem(faces.DIGESTS, "train", digest_of(rows))
    read, y = fetch_faces("train")
    np.testing.assert_array_equal(read, images)
    assert y.tolist() == [1, 1, 0]
    with pytest.raises(InputError, match=r"no face\.test"):
        fetch_faces("test")


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz"])
def test_faces_of_the_folder(monkeypatch, tmp_path, ending):
    images = np.random.default_rng(0).integers(0, 256, (3, 19, 19)).astype(np.uint8)
    table = pd.DataFrame(images.reshape(3, -1)).add_prefix("pixel").assign(target=[1, 0, 0])
    path = tmp_path / f"cbcl_faces_train{ending}"
    table.to_parquet(path) if ending == ".parquet" else table.to_csv(path, index=False)
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    rows = [image.tobytes() + bytes([label]) for image, label in zip(images, (1, 0, 0))]
    monkeypatch.setitem(faces.DIGESTS, "train", digest_of(rows))
    read, y = fetch_faces("train")
    np.testing.assert_array_equal(read, images)
    assert read.dtype == np.uint8
    assert y.tolist() == [1, 0, 0]
    path.write_bytes(b"junk")
    with pytest.raises(InputError, match=rf"{re.escape(str(path))} cannot .* 'cbcl_faces_train': .*Replace it"):
        fetch_faces("train")


@pytest.mark.parametrize("value", ["iris", ["train"], None])
def test_unknown_parts(value):
    with pytest.raises(InputError, match=f"part={re.escape(repr(value))} .*'train', 'test'"):
        fetch_faces(value)


def test_damaged_archives(served, monkeypatch, tmp_path):
    monkeypatch.setattr(faces, "URL", served.url + "faces.tar.gz")
    with pytest.raises(
        downloads.DownloadError, match=r"'cbcl_faces_train' is not .* has cbcl_faces_train\.csv\.gz, .* each pixel"
    ):
        fetch_faces()
    for junk in (b"", b"junk" * 100, PAGE * 20):
        (served.folder / "faces.tar.gz").write_bytes(junk)
        with pytest.raises(
            downloads.DownloadError, match=r"gz cannot be used as the data set 'cbcl_faces_train': .+ not kept"
        ):
            fetch_faces()
        cached = tmp_path / "cache" / "faces.tar.gz"
        cached.write_bytes(junk)
        with pytest.raises(InputError, match=rf"{re.escape(str(cached))} cannot .* 'cbcl_faces_train': .+ Delete it"):
            fetch_faces()
        cached.unlink()
