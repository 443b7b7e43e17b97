"""Programs that are kept between starts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import numpy.typing as npt
import pytest

from zank_kernel.compiled import SUFFIX, compiled

type Made = tuple[Callable[..., Any], int]  # a program, and how often its function was traced for it

ONES = np.ones((4,), np.int32)


def made(directory: Path | None, *arguments: Any, name: str = "double", **given: Any) -> Made:
    traced = []

    def double(value: jax.Array) -> jax.Array:
        traced.append(value)
        return value * 2

    run, result = compiled(
        double, arguments or (ONES,), name=name, device=jax.local_devices()[0], directory=directory, **given
    )
    np.testing.assert_array_equal(result, 2 * np.asarray((arguments or (ONES,))[0]))
    return run, len(traced)


def kept(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"*{SUFFIX}"))


def test_what_was_compiled_is_not_traced_again(tmp_path: Path) -> None:
    assert made(tmp_path)[1] == 1
    run, traced = made(tmp_path)
    assert traced == 0
    np.testing.assert_array_equal(run(np.arange(4, dtype=np.int32)), [0, 2, 4, 6])


def test_without_a_directory_nothing_is_kept() -> None:
    assert [made(None)[1], made(None)[1]] == [1, 1]


@pytest.mark.parametrize(
    "other",
    [
        {"name": "twice"},
        {"options": {"xla_cpu_prefer_vector_width": "128"}},
        {"donated": (0,)},
    ],
)
def test_another_program_is_another_file(tmp_path: Path, other: dict[str, Any]) -> None:
    made(tmp_path)
    assert made(tmp_path, **other)[1] == 1
    assert len(kept(tmp_path)) == 2


@pytest.mark.parametrize("argument", [np.ones((5,), np.int32), np.ones((4,), np.int16), np.ones((4, 1), np.int32)])
def test_other_arguments_are_another_program(tmp_path: Path, argument: npt.NDArray[Any]) -> None:
    made(tmp_path)
    assert made(tmp_path, argument)[1] == 1


def test_a_program_takes_over_what_is_donated(tmp_path: Path) -> None:
    for _ in range(2):
        run, _ = made(tmp_path, donated=(0,))
        given = jax.device_put(ONES)
        run(given)
        assert given.is_deleted()


@pytest.mark.parametrize("data", [b"", b"no program", None])
def test_a_file_that_is_no_program_is_made_anew(tmp_path: Path, data: bytes | None) -> None:
    made(tmp_path)
    (file,) = kept(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if data is None else data)
    assert made(tmp_path)[1] == 1
    assert made(tmp_path)[1] == 0


def test_where_nothing_can_be_written_programs_are_compiled(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert [made(missing)[1], made(missing)[1]] == [1, 1]
