"""Which engine answers."""

from importlib.metadata import version
from typing import Final

ENGINE_VERSION: Final = version("zank")
