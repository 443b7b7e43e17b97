from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.client.fake_server import FakeServer, running

# How long one example takes says more about what else the machine does than about the code.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with running() as server:
        yield server
