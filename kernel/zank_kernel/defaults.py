"""Defaults of the engine, in a module that imports nothing."""

from typing import Final

HINT_ROLLOUTS: Final = 16_384  # what a hint may cost when the question does not say
