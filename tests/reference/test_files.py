"""Files of other people: what cannot be read is one line, and nothing is waited for or read for ever."""

import bz2
import gzip
import os

import numpy as np
import pytest

from dpassay.reference import files
from dpassay.reference.errors import BadInput


def test_pipes_and_devices_are_not_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero", tmp_path):
        with pytest.raises(BadInput, match="regular file"):
            files.read_text(type(tmp_path)(path), "claims")


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="--output"):
        files.write_text(pipe, "x", "--output")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write_text(pipe, "heard", "--output")
    assert os.read(reader, 10) == b"heard"
    os.close(reader)


def test_large_files_and_bombs_are_refused(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2000)
    with pytest.raises(BadInput, match="2000 bytes"):
        files.read_bytes(path, "file", most=1000)
    with pytest.raises(BadInput, match="holds more than 1000 bytes"):
        files.decompressed(gzip.compress(b"x" * 2000), "file", most=1000)
    assert files.decompressed(gzip.compress(b"x" * 2000), "file") == b"x" * 2000
    with pytest.raises(BadInput, match="decompressed"):
        files.decompressed(gzip.compress(b"x" * 2000)[:-12], "file")


def test_zeros_of_a_bomb_are_no_table_and_take_no_memory():
    """256 MiB of them were made into a table first, in four times the memory."""
    with pytest.raises(BadInput, match="zero byte"):
        files.numbers_of("1,2" + "\0" * 1000, "file", "x.gz")


def test_text_keeps_its_lines(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_bytes(b"\xef\xbb\xbf1,2\r\n3,4\r\n")
    assert files.read_text(path, "path").startswith("1"), "the mark of UTF-8 is no text"
    assert np.array_equal(files.read_numbers(path, "file"), [[1, 2], [3, 4]])


def test_a_compressed_file_takes_the_memory_of_what_it_holds():
    """Read at once up to its limit, a file of a few bytes would ask for 2 GiB."""
    import tracemalloc

    tracemalloc.start()
    try:
        assert files.decompressed(gzip.compress(b"abc" * 1000), "x") == b"abc" * 1000
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert files.decompressed(bz2.compress(b"abc"), "x") == b"abc"


def test_what_is_not_there_and_what_cannot_be_looked_at(tmp_path):
    """`Path.exists` answers no to both since Python 3.14."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    for name in ("nothing", "loop", "file/below"):
        assert files.status(tmp_path / name) is None
        assert not files.there(tmp_path / name, "x")
    assert files.there(tmp_path / "file", "x")
    for name in ("n" * 300, "a\x00b"):
        with pytest.raises((OSError, ValueError)):
            files.status(tmp_path / name)
        with pytest.raises(BadInput, match=r"^x = "):
            files.there(tmp_path / name, "x")
