"""An engine in this process, for commands that have no use for a server."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from zank.errors import ServerUnavailable
from zank_kernel.engine import Engine
from zank_service.cache import UnsafeCache, private_directory
from zank_service.config import InvalidConfiguration, configured


@contextmanager
def local_engine() -> Iterator[Engine]:
    """A warm engine, with the settings of the environment that concern it.

    Raises ServerUnavailable where they are not valid, or compiled programs cannot be kept.
    """
    try:
        settings = configured(argparse.Namespace(config=None), os.environ).settings
        private_directory(settings.cache_dir)
    except (InvalidConfiguration, UnsafeCache) as error:
        raise ServerUnavailable(str(error), code=grpc.StatusCode.UNAVAILABLE) from None
    engine = Engine(workers=settings.workers or None, cache_directory=settings.cache_dir)
    engine.warm_up()
    try:
        yield engine
    finally:
        engine.close()
