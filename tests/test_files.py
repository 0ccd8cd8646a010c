import pytest

from skewboost.files import write_whole, written_whole


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = write_whole(tmp_path / "a.txt", "before")
    with pytest.raises(ZeroDivisionError), written_whole(path) as unfinished:
        unfinished.write_text(f"{unfinished.touch()} {1 / 0}")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]
