"""Positions to measure with, of every preset: deals, and positions from games played by the rollout policy."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.deals import bank_masked
from zank_kernel import bank, malice, random
from zank_kernel.bank.deal import dealt as dealt_bank
from zank_kernel.bank.state import COPIES, COUNTED, DEPTH, FOUNDATIONS, SUITS, TABLEAU
from zank_kernel.family import Family
from zank_kernel.host import leaf
from zank_kernel.malice import play, policy
from zank_kernel.malice.deal import dealt as dealt_malice
from zank_kernel.malice.table import from_state
from zank_kernel.malice.table import masked as masked_malice

DRAWS_STREAM: Final = 1  # of a deal's seed: what is drawn later


@dataclasses.dataclass(frozen=True, kw_only=True)
class Game[Table]:
    """A family, and how its positions come about."""

    family: Family[Any, Any, Any, Table]
    presets: Mapping[str, Any]
    dealt: Callable[[Any, int], Table]  # the full position that a seed deals
    masked: Callable[[Table], Table]  # what the player to move knows of a deal
    started: Callable[[Any, int], Any]  # the state of games 0 … count - 1, nothing hidden, one a lane
    played: Callable[[Any, int, int], list[Table]]  # see `played`
    length: int  # moves of a game, about


def deals(preset: str, count: int) -> list[Any]:
    """Full positions at the start of games 0 … count - 1."""
    game = GAMES[preset]
    return [game.dealt(game.presets[preset], seed) for seed in range(count)]


def dealt(preset: str, count: int) -> list[Any]:
    """The same as their movers know them."""
    return [GAMES[preset].masked(table) for table in deals(preset, count)]


def played(preset: str, count: int, moves: int) -> list[Any]:
    """Positions after `moves` moves of the rollout policy in the first `count` games that last so long.

    They are given as their movers know them; some more games are dealt than asked for, and fewer positions come of it
    where too few games last so long.
    """
    game = GAMES[preset]
    return game.played(game.presets[preset], count, moves)


def started_malice(rules: malice.Rules, count: int) -> malice.State:
    """Deals 0 … count - 1 of Spite & Malice; NumPy arrays."""
    state = malice.FAMILY.to_state([dealt_malice(rules, seed) for seed in range(count)])
    low = leaf(np.arange(count, dtype=np.uint32))
    key = random.stream_key(low, leaf(np.zeros_like(low)), leaf(np.asarray([DRAWS_STREAM], np.uint32)))
    return dataclasses.replace(state, key=leaf(np.stack(key)))


@jax.jit
def after_malice(games: malice.State, moves: jax.Array) -> malice.State:
    """So many moves of the rollout policy, int32 [], in every game; no card is due."""

    def step(_: int, lanes: malice.State) -> malice.State:
        return play.draw(play.play(lanes, policy.choose(lanes)))

    after: malice.State = jax.lax.fori_loop(0, moves, step, games)
    return after


def played_malice(rules: malice.Rules, count: int, moves: int) -> list[malice.Table]:
    """`played` for Spite & Malice."""
    start = started_malice(rules, 2 * count)
    after: malice.State = jax.tree.map(np.asarray, after_malice(start, leaf(np.asarray(moves, np.int32))))
    going_on = np.flatnonzero(np.asarray(after.ending) == 0)[:count]
    return [masked_malice(from_state(after, int(lane), rules)) for lane in going_on]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Watched:
    """Games of Russian Bank, and which of their cards nobody has seen."""

    state: bank.State
    face_down: jax.Array  # uint16 [2, B]: cards of each reserve that were never turned up, from the bottom
    unturned: jax.Array  # bool [2, B]: whether the stock is the one that was dealt

    def after(self, state: bank.State) -> "Watched":
        """The same games a move later."""
        before = self.state
        # A stock that is out is turned over when the next card is.
        over = (before.stock == 0) & (state.stock + state.waste < before.stock + before.waste)
        return Watched(
            state=state,
            face_down=jnp.minimum(self.face_down, jnp.maximum(state.count[TABLEAU:], 1) - 1),
            unturned=self.unturned & ~over,
        )


def watched(deals: bank.State) -> Watched:
    """Games from their deals on; NumPy arrays."""
    unturned = np.full((2, deals.ending.shape[-1]), True)
    return Watched(state=deals, face_down=deals.count[TABLEAU:] - 1, unturned=leaf(unturned))


@jax.jit
def after_bank(games: Watched, moves: jax.Array) -> Watched:
    """So many moves of the rollout policy, int32 [], in every game."""
    after: Watched = jax.lax.fori_loop(0, moves, lambda _, games: games.after(bank.FAMILY.step(games.state)), games)
    return after


def known_bank(games: Watched, lane: int, rules: bank.Rules) -> bank.Table:
    """What both players know in one game; the decks of the cards are not recorded."""
    state = jax.tree.map(lambda leaf: leaf[..., lane].tolist(), games.state)
    face_down, unturned = games.face_down[:, lane].tolist(), games.unturned[:, lane].tolist()

    def pile(index: int) -> tuple[int, ...]:
        return tuple(cards[index] for cards in state.pile[: state.count[index]])

    def reserve(player: int) -> tuple[int, ...]:
        cards = pile(TABLEAU + player)
        return (*(0 for _ in cards[: face_down[player]]), *cards[face_down[player] :])

    def queue(player: int, first: int, count: int) -> tuple[int, ...]:
        places = range(state.head[player] + first, state.head[player] + first + count)
        return tuple(state.pile[place % DEPTH][COUNTED + player] for place in places)

    def stock(player: int) -> tuple[int, ...]:
        cards = queue(player, 0, state.stock[player])[::-1]
        return tuple(0 for _ in cards) if unturned[player] else cards

    def waste(player: int) -> tuple[int, ...]:
        return queue(player, state.stock[player], state.waste[player])

    return bank.Table(
        rules=rules,
        mover=state.mover,
        foundations=tuple(
            tuple(
                16 * (index // 2) + rank
                for rank in range(1, state.foundation[SUITS * (index % COPIES) + index // COPIES] + 1)
            )
            for index in range(FOUNDATIONS)
        ),
        tableau=tuple(pile(index) for index in range(TABLEAU)),
        reserve=(reserve(0), reserve(1)),
        stock=(stock(0), stock(1)),
        waste=(waste(0), waste(1)),
        drawn=state.drawn,
        opening=state.opening,
        quiet=(state.quiet[0], state.quiet[1]),
        turns=state.turns,
    )


def started_bank(rules: bank.Rules, count: int) -> bank.State:
    """Deals 0 … count - 1 of Russian Bank; NumPy arrays."""
    return bank.FAMILY.to_state([dealt_bank(rules, seed) for seed in range(count)])


def played_bank(rules: bank.Rules, count: int, moves: int) -> list[bank.Table]:
    """`played` for Russian Bank."""
    start = watched(started_bank(rules, 2 * count))
    after: Watched = jax.tree.map(np.asarray, after_bank(start, leaf(np.asarray(moves, np.int32))))
    going_on = np.flatnonzero(np.asarray(after.state.ending) == 0)[:count]
    return [known_bank(after, int(lane), rules) for lane in going_on]


GAMES: Final[Mapping[str, Game[Any]]] = {
    preset: game
    for game in (
        Game(
            family=malice.FAMILY,
            presets=malice.PRESETS,
            dealt=dealt_malice,
            masked=masked_malice,
            started=started_malice,
            played=played_malice,
            length=180,
        ),
        Game(
            family=bank.FAMILY,
            presets=bank.PRESETS,
            dealt=dealt_bank,
            masked=bank_masked,
            started=started_bank,
            played=played_bank,
            length=390,
        ),
    )
    for preset in game.presets
}
"""The family of each preset."""
