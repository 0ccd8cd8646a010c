"""Files are whole, keep what they are, and nobody can meddle with those that are being written."""

from __future__ import annotations

import ast
import errno
import importlib.util
import multiprocessing
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import skewboost
from skewboost import files
from skewboost.files import UNFINISHED, check_writable, locked, write_whole, written_whole

posix = pytest.mark.skipif(os.name != "posix", reason="as POSIX has it")
fork = multiprocessing.get_context("fork") if os.name == "posix" else None


def left_over_name(path, digits="0123456789abcdef"):
    return path.with_name(f".{path.name[:50]}.{digits}{UNFINISHED}")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = write_whole(tmp_path / "a.txt", "before")
    with pytest.raises(ZeroDivisionError), written_whole(path) as file:
        file.write(b"half" * 100_000 + bytes(1 // 0))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_threads_that_save_to_one_path_leave_one_whole_file_and_readers_see_whole_ones(tmp_path):
    path = write_whole(tmp_path / "a", b"0" * 200_000)
    done = threading.Event()

    def save(k):
        for _ in range(20):
            write_whole(path, str(k).encode() * 200_000)

    def read():
        while not done.is_set():
            content = path.read_bytes()
            assert len(content) == 200_000
            assert len(set(content)) == 1

    with ThreadPoolExecutor(6) as pool:
        reader = pool.submit(read)
        for saved in [pool.submit(save, k) for k in range(5)]:
            saved.result()
        done.set()
        reader.result()
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_name_and_one_in_another_script(tmp_path):
    for name in ("n" * 255, "п" * 127, "..", ".hidden"):
        if name == "..":
            with pytest.raises(IsADirectoryError):
                write_whole(tmp_path / name, "x")
            continue
        assert write_whole(tmp_path / name, "x").read_text() == "x"


# ------------------------------------------------------------------ nobody can meddle


@posix
def test_a_link_planted_under_the_unfinished_name_is_not_followed(tmp_path, monkeypatch):
    victim, path = tmp_path / "victim", tmp_path / "a.csv"
    victim.write_text("precious")
    monkeypatch.setattr(os, "urandom", bytes)  # even if the name could be foreseen
    for target in (victim, tmp_path / "not there"):
        planted = left_over_name(path, "0" * 16)
        planted.symlink_to(target)
        with pytest.raises(FileExistsError, match=r"a\.csv'$"):
            write_whole(path, "x")
        planted.unlink(missing_ok=True)
    assert victim.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [victim]


@posix
def test_the_unfinished_name_differs_every_time_and_nobody_else_may_read_what_others_may_not(tmp_path):
    path, names = tmp_path / "a", set()
    path.touch(0o600)
    for _ in range(3):
        with written_whole(path):
            (unfinished,) = set(tmp_path.iterdir()) - {path}
            assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
            names.add(unfinished.name)
    assert len(names) == 3


# ------------------------------------------------------------------ what is there stays what it is


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "a"
    path.touch()
    path.chmod(mode)
    write_whole(path, "x")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_others_have(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask


@posix
@pytest.mark.parametrize(("allowed", "mode"), [("all", 0o674), ("group", 0o674), ("nothing", 0o644)])
def test_a_file_keeps_owner_and_group_where_that_is_allowed(tmp_path, monkeypatch, allowed, mode):
    """Where not even the group can be kept, another one must not get what was meant for that one."""
    path, asked = tmp_path / "a", []
    path.touch()
    path.chmod(0o674)
    there = path.stat()
    real = os.fstat

    def of_another(descriptor):
        found = list(real(descriptor))
        found[stat.ST_GID] += 1
        return os.stat_result(found)

    def fchown(_, uid, gid):
        asked.append((uid, gid))
        if allowed == "nothing" or (allowed == "group" and uid != -1):
            raise PermissionError(errno.EPERM, "no")

    monkeypatch.setattr(os, "fstat", of_another)
    monkeypatch.setattr(os, "fchown", fchown)
    write_whole(path, "x")
    assert asked == [(there.st_uid, there.st_gid), (-1, there.st_gid)][: 1 if allowed == "all" else 2]
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root may give files away")
def test_root_does_not_take_files_from_their_owners(tmp_path):
    path = tmp_path / "a"
    path.touch(0o640)
    os.chown(path, 12345, 23456)
    write_whole(path, "x")
    assert (path.stat().st_uid, path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (12345, 23456, 0o640)


@posix
def test_a_link_stays_and_the_file_that_it_names_is_replaced(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    real, link, chain = elsewhere / "real", tmp_path / "link", tmp_path / "chain"
    link.symlink_to(Path("elsewhere", "real"))
    chain.symlink_to(link)
    for there in (False, True):  # also a link to what is not there yet
        write_whole(chain, f"x{there}")
        assert real.read_text() == f"x{there}"
        assert not real.is_symlink()
        assert os.readlink(link) == "elsewhere/real"
        assert chain.is_symlink()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["chain", "elsewhere", "link", "real"]
    link.unlink()
    link.symlink_to("chain")  # in a circle
    with pytest.raises(OSError, match="symbolic links") as error:
        write_whole(link, "x")
    assert error.value.filename == str(link)


@posix
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = bytes(range(256)) * 1000  # more than fits in it
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        write_whole(pipe, content)
        assert read.result() == content
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@posix
def test_a_device_is_written_to(tmp_path):
    before = os.stat("/dev/null")
    write_whole("/dev/null", "x" * 100_000)
    (tmp_path / "a.json").symlink_to("/dev/null")
    write_whole(tmp_path / "a.json", "x")
    assert os.stat("/dev/null") == before
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="No space left") as error:
            write_whole("/dev/full", "x")
        assert error.value.filename == "/dev/full"


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/dev/../dev/stdout"])
@pytest.mark.parametrize("mode", ["wb", "ab", "pipe"])
def test_standard_output_is_written_to_wherever_it_goes(tmp_path, name, mode):
    """Between what was said before and after, and without a loss of what was there."""
    says = (
        f"print('before', flush=False); from skewboost.files import *; write_whole({name!r}, 'it\\n'); print('after')"
    )
    command = [sys.executable, "-c", says]
    if mode == "pipe":
        assert subprocess.run(command, check=True, capture_output=True).stdout == b"before\nit\nafter\n"
        return
    out = tmp_path / "out"
    out.write_text("old\n")
    with open(out, mode) as file:
        subprocess.run(command, check=True, stdout=file)
    assert out.read_text() == ("old\n" if mode == "ab" else "") + "before\nit\nafter\n"
    assert list(tmp_path.iterdir()) == [out]


@posix
def test_what_is_neither_is_refused(tmp_path, monkeypatch):
    folder, link, there = tmp_path / "folder", tmp_path / "link", tmp_path / "socket"
    folder.mkdir()
    link.symlink_to(folder)
    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    for write in (check_writable, lambda path: write_whole(path, "x")):
        for path in (folder, link):
            with pytest.raises(IsADirectoryError, match="it is a folder"):
                write(path)
        with pytest.raises(FileExistsError, match="neither a file nor a pipe"):
            write(there)
        with pytest.raises(OSError, match="nowhere"):
            write(tmp_path / "nowhere" / "a")
        with pytest.raises(NotADirectoryError):
            write(write_whole(tmp_path / "file", "x") / "a")
        with pytest.raises(OSError, match="Bad file descriptor") as error:
            write("/dev/fd/987654")
        assert error.value.filename == "/dev/fd/987654"
    monkeypatch.setattr(Path, "stat", lambda _: os.stat_result((stat.S_IFBLK | 0o600, *[0] * 9)))
    with pytest.raises(FileExistsError, match="neither a file nor a pipe"):
        write_whole(tmp_path / "disk", "x")
    assert stat.S_ISSOCK(os.stat(there).st_mode)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        write_whole(tmp_path / "nowhere" / "a", "x")
    assert error.value.filename == str(tmp_path / "nowhere" / "a")
    with pytest.raises(OSError, match="No space") as error, written_whole(tmp_path / "a"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert error.value.filename == str(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ left-overs


def writes_for_ever(path, begun):
    with written_whole(path) as file:
        file.write(b"half")
        file.flush()
        begun.set()
        time.sleep(600)


@posix
def test_what_a_killed_writer_leaves_is_removed_by_the_next_one_and_nothing_else_is(tmp_path):
    path, begun = tmp_path / "a.csv", fork.Event()
    write_whole(path, "before")
    killed, alive = (fork.Process(target=writes_for_ever, args=(path, begun)) for _ in range(2))
    killed.start()
    assert begun.wait(60)
    killed.kill()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    (left,) = set(tmp_path.iterdir()) - {path}
    assert path.read_text() == "before"
    begun.clear()
    alive.start()
    assert begun.wait(60)
    try:
        (writing,) = set(tmp_path.iterdir()) - {path, left}
        others = {
            tmp_path / name
            for name in (
                ".a.csv", ".a.csv.123", f"a.csv.0123456789abcdef{UNFINISHED}", f".a.csv.0123456789abcde{UNFINISHED}",
                f".a.csv.0123456789abcdeg{UNFINISHED}", f".b.csv.0123456789abcdef{UNFINISHED}",
                f".a.csv.0123456789abcdef{UNFINISHED}.txt",
            )
        }  # fmt: skip
        for other in others:
            other.touch()
        (folder := left_over_name(path)).mkdir()
        (link := left_over_name(path, "f" * 16)).symlink_to(path)
        write_whole(path, "young")
        assert left.exists()  # it may be of one who is about to lock it
        for there in (left, writing, folder, *others):
            os.utime(there, (1, 1))
        with written_whole(path) as file:
            file.write(b"after")
            file.flush()
            (own,) = set(tmp_path.iterdir()) - {path, left, writing, folder, link, *others}
            os.utime(own, (1, 1))  # nothing is written for a long time, and then it is done
        assert time.time() - path.stat().st_mtime < 10
        assert path.read_text() == "after"
        assert set(tmp_path.iterdir()) == {path, writing, folder, link, *others}
    finally:
        alive.kill()
        alive.join()


@posix
def test_what_others_left_stays(tmp_path, monkeypatch):
    path = tmp_path / "a"
    left_over_name(path).touch()
    os.utime(left_over_name(path), (1, 1))
    euid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: euid + 1)
    write_whole(path, "x")
    assert left_over_name(path).exists()
    monkeypatch.undo()
    write_whole(path, "x")
    assert not left_over_name(path).exists()


def test_where_files_cannot_be_locked_they_are_written_all_the_same_and_nothing_is_removed(tmp_path, monkeypatch):
    def unlockable(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    path = tmp_path / "a"
    left_over_name(path).touch()
    os.utime(left_over_name(path), (1, 1))
    monkeypatch.setattr(files, "_lock", unlockable)
    write_whole(path, "x")
    assert path.read_text() == "x"
    assert left_over_name(path).exists()


# ------------------------------------------------------------------ locks


def test_one_at_a_time_has_a_lock_be_it_a_thread_or_a_process(tmp_path):
    path = tmp_path / "counted"
    path.write_text("0")

    def count():
        for _ in range(50):
            with open(path, "r+") as file, locked(file):
                n = int(file.read())
                file.seek(0)
                file.write(str(n + 1))
                file.flush()

    with ThreadPoolExecutor(3) as pool:
        counting = [pool.submit(count) for _ in range(3)]
        if fork is not None:
            processes = [fork.Process(target=count) for _ in range(2)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
        for one in counting:
            one.result()
    assert path.read_text() == ("250" if fork is not None else "150")


def test_whoever_does_not_wait_for_a_lock_is_told(tmp_path):
    path = tmp_path / "a"
    with open(path, "wb") as first, open(path, "wb") as second:
        with locked(first), pytest.raises(OSError, match=r".*"), locked(second, wait=False):
            pass
        with locked(second, wait=False):
            second.write(b"x")
    assert path.read_bytes() == b"x"


def test_locks_of_windows_wait_and_leave_the_position_of_the_file(tmp_path, monkeypatch):
    """With its calls played by a list: a lock is a byte beyond the end, and who does not get it is told at once."""
    held = []

    class Played:
        LK_NBLCK, LK_UNLCK = 2, 0

        @staticmethod
        def locking(descriptor, mode, n_bytes):
            place = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR), n_bytes)
            assert place[1] > 2**30
            if mode == Played.LK_UNLCK:
                return held.remove(place)
            if place in held:
                raise OSError(errno.EACCES, "Permission denied")
            return held.append(place)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", Played)
    spec = importlib.util.spec_from_file_location("files_on_windows", files.__file__)
    windows = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(windows)
    path = tmp_path / "a"
    with open(path, "wb", buffering=0) as first, open(path, "r+b", buffering=0) as second:
        with windows.locked(first):
            first.write(b"x")
            with pytest.raises(PermissionError), windows.locked(second, wait=False):
                pass
            threading.Timer(0.1, held.clear).start()
            with windows.locked(second):
                assert held
            held.append((os.fstat(first.fileno()).st_ino, windows._FAR, 1))
            first.write(b"y")
        first.write(b"z")
    assert held == []
    assert path.read_bytes() == b"xyz"


# ------------------------------------------------------------------ all writers


def test_nobody_in_the_package_writes_files_in_another_way():
    """But the results file, which grows, and the lock of whoever compiles, in which nothing is."""
    package = Path(skewboost.__file__).parent
    found = []
    for path in package.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if re.search(r"open\(|write_|mkstemp|NamedTemp", text) else ():
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = [*node.args, *(k.value for k in node.keywords)]
            modes = [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if called in ("write_text", "write_bytes", "NamedTemporaryFile", "mkstemp") or (
                called in ("open", "fdopen") and any(set(mode) & set("wax+") and len(mode) < 4 for mode in modes)
            ):
                found.append(path.relative_to(package).as_posix())
    assert set(found) == {"files.py", "json_lines.py", "engine/core/build.py"}
