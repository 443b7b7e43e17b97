"""Engines that the kernel's tests share."""

from collections.abc import Iterator

import pytest

from zank_kernel.engine import Engine


@pytest.fixture(scope="session")
def engines() -> Iterator[tuple[Engine, Engine]]:
    """Two warm engines: one worker with 32 lanes, and two workers with 128 lanes each."""
    small, large = Engine(lanes=32, workers=1), Engine(lanes=128, workers=2)
    for engine in (small, large):
        engine.warm_up()
    yield small, large
    for engine in (small, large):
        engine.close()
