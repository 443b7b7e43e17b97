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


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ZANK_SERVER", "FORCE_COLOR", "COLUMNS", "http_proxy", "grpc_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
