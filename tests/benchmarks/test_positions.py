"""The positions that the benchmarks measure with are what a player would have written down."""

import dataclasses

import jax
import numpy as np
import pytest

from benchmarks import positions
from tests.kernel.bank_positions import MOVES, Position
from zank_kernel import bank

GAMES = 3
AFTER = (60, 240)  # moves: before any stock is turned over, and after


@pytest.mark.parametrize("preset", bank.PRESETS)
def test_a_played_position_of_russian_bank_shows_what_was_seen(preset: str) -> None:
    """The same games by the oracle, which takes note of what is turned up."""
    rules = bank.PRESETS[preset]
    games = [Position.deal(rules, seed) for seed in range(2 * GAMES)]
    state = bank.FAMILY.to_state([game.full() for game in games])
    choose, step = jax.jit(bank.FAMILY.choose), jax.jit(bank.FAMILY.step)
    for number in range(max(AFTER) + 1):
        if number in AFTER:
            going_on = [game for game in games if game.game.result is None][:GAMES]
            expected = [dataclasses.replace(game.known(marked=False), shifts=()) for game in going_on]
            assert positions.played(preset, GAMES, number) == expected
        for game, action in zip(games, np.asarray(choose(state)).tolist(), strict=True):
            if game.game.result is None:
                game.play(MOVES[action])
        state = step(state)
