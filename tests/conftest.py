from collections.abc import Iterator
from pathlib import Path

import pytest

from zank_kernel.engine import Engine


@pytest.fixture(scope="session")
def programs_directory(request: pytest.FixtureRequest) -> Path:
    """Where compiled programs outlive a test run."""
    assert request.config.cache is not None
    return request.config.cache.mkdir("programs")


@pytest.fixture(scope="session")
def engine(programs_directory: Path) -> Iterator[Engine]:
    """One warm engine for all tests."""
    engine = Engine(cache_directory=programs_directory)
    engine.warm_up()
    yield engine
    engine.close()
