"""The peers of the kernel: the same rollouts, move for move, in scalar C++ programs that play one game after the other.

A family's program is `<family>.cpp`, built as a shared library when it is first asked for.
"""

import ctypes
import dataclasses
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zank_kernel.host import leaf
from zank_kernel.rollout import Results

SOURCES: Final = Path(__file__).parent
LIBRARIES: Final = SOURCES.parent / "out" / "peer"
COMPILER: Final = "g++"
OPTIONS: Final = (
    "-std=c++20",
    "-O3",
    "-march=native",
    "-mtune=generic",  # tuned for Zen 4, g++ keeps words in vector registers when others run out: -3 to -5 %
    "-fno-tree-slp-vectorize",  # neighbouring words joined into vectors make what reads one of them wait: -16 %
    "-shared",
    "-fPIC",
)

type Rows = npt.NDArray[np.int32]


def rollouts(family: str, roots: Any, worlds: Any, root: Rows, world: Rows) -> Results:
    """Play row `root[i]` of the family's state `roots` in row `world[i]` of its `worlds`, for every i; NumPy arrays.

    Raises IndexError for a row that is not there, and what `built` raises.
    """
    tables = []
    for table, rows in ((roots, root), (worlds, world)):
        arrays = [np.ascontiguousarray(getattr(table, field.name)) for field in dataclasses.fields(table)]
        lanes = arrays[0].shape[-1]
        if len(rows) and not 0 <= rows.min() <= rows.max() < lanes:
            raise IndexError(f"rows {rows.min()} to {rows.max()} of a table of {lanes}")
        tables.append((arrays, lanes))
    tasks = len(root)
    points, ending, moves = np.zeros(tasks, np.int16), np.zeros(tasks, np.int8), np.zeros(tasks, np.int16)
    program(family)(
        *(words([*(array.ctypes.data for array in arrays), lanes]) for arrays, lanes in tables),
        np.ascontiguousarray(root, np.int32).ctypes,
        np.ascontiguousarray(world, np.int32).ctypes,
        ctypes.c_int64(tasks),
        points.ctypes,
        ending.ctypes,
        moves.ctypes,
    )
    return Results(points=leaf(points), ending=leaf(ending), moves=leaf(moves))


def words(values: Sequence[int]) -> Any:
    """A table as the program takes it: addresses of its fields in order, then the number of lanes."""
    return (ctypes.c_int64 * len(values))(*values)


@functools.cache
def program(family: str) -> Any:
    """The family's function, of a library that is built if need be."""
    return getattr(ctypes.CDLL(str(built(SOURCES / f"{family}.cpp"))), f"{family}_rollouts")


def built(source: Path) -> Path:
    """The shared library of `source`, which is named by all that goes into it and built if it is not there.

    Raises FileNotFoundError where there is no compiler, and subprocess.CalledProcessError where it fails.
    """
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise FileNotFoundError(f"{COMPILER} is not on the path; it builds the C++ programs that the kernel is held to")
    digest = hashlib.sha256(" ".join(OPTIONS).encode())
    for part in (source, *sorted(SOURCES.glob("*.hpp"))):
        digest.update(part.read_bytes())
    library = LIBRARIES / f"{source.stem}-{digest.hexdigest()[:16]}.so"
    if not library.exists():
        LIBRARIES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=LIBRARIES) as directory:
            fresh = Path(directory) / library.name
            subprocess.run([compiler, *OPTIONS, "-o", str(fresh), str(source)], check=True)
            os.replace(fresh, library)  # whole or not at all, for others may look at the same time
    return library
