"""Readers for the original image files, by path: IDX (MNIST, Fashion-MNIST) and the CIFAR-10 binary version.

Nothing is downloaded. Files ending in ``.gz`` are decompressed on the fly. A file that is truncated, has the wrong
magic number or trailing bytes is refused with the field and the value.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require
from dpassay.reference.files import decompressed, read_bytes, there

Bytes = NDArray[np.uint8]

CIFAR_RECORD = 1 + 32 * 32 * 3  # one label byte, then red, green and blue planes


def read_idx(path: Path | str) -> Bytes:
    """An IDX file of unsigned bytes as an array of the shape its header states."""
    raw = _contents(Path(path))
    require(len(raw) >= 4 and raw[:2] == b"\0\0", str(path), raw[:4], "an IDX file starts with two zero bytes")
    require(raw[2] == 0x08, f"{path}: element type", hex(raw[2]), "only unsigned bytes (0x8) are supported")
    dimensions = raw[3]
    start = 4 + 4 * dimensions
    require(1 <= dimensions <= 8, f"{path}: dimensions", dimensions, "must lie in 1..8")
    require(len(raw) >= start, f"{path}: dimensions", dimensions, "header is truncated")
    shape = struct.unpack(f">{dimensions}I", raw[4:start])
    require(min(shape) >= 1, f"{path}: shape", shape, "must hold at least one element")
    expected = start + math.prod(shape)
    require(len(raw) == expected, f"{path}: length", len(raw), f"header {shape} asks for {expected} bytes")
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


def read_mnist(images: Path | str, labels: Path | str) -> tuple[Array, Indices]:
    """Features (n, pixels) scaled to [0, 1] and labels (n,) from a pair of IDX files."""
    pixels, classes = read_idx(images), read_idx(labels)
    require(pixels.ndim >= 2, f"{images}: dimensions", pixels.ndim, "images need at least two")
    require(classes.shape == pixels.shape[:1], f"{labels}: shape", classes.shape, f"must be {pixels.shape[:1]}")
    return pixels.reshape(len(pixels), -1) / 255.0, classes.astype(np.int64)


def read_cifar10(paths: Sequence[Path | str]) -> tuple[Array, Indices]:
    """Features (n, 3072) scaled to [0, 1] and labels (n,) from CIFAR-10 binary batches, in the order given."""
    require(len(paths) > 0, "paths", paths, "needs at least one file")
    tables = []
    for path in paths:
        raw = _contents(Path(path))
        whole = len(raw) > 0 and len(raw) % CIFAR_RECORD == 0
        require(whole, f"{path}: length", len(raw), f"must be a multiple of {CIFAR_RECORD}")
        table = np.frombuffer(raw, dtype=np.uint8).reshape(-1, CIFAR_RECORD)
        require(int(table[:, 0].max()) <= 9, f"{path}: label", int(table[:, 0].max()), "must lie in 0..9")
        tables.append(table)
    records = np.concatenate(tables)
    return records[:, 1:] / 255.0, records[:, 0].astype(np.int64)


def _contents(path: Path) -> bytes:
    require(there(path, "path"), "path", str(path), "no such file")
    raw = read_bytes(path, "path")
    return decompressed(raw, str(path)) if path.suffix == ".gz" else raw
