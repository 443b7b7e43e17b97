"""Games of Spite & Malice in the kernel's lanes beside the same games in the oracle, fed the kernel's draws."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernel.positions import Position, action_of, deal, in_lanes, move_of, oracle_copy, table_of
from zank_kernel import malice, random
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice import table as tables
from zank_kernel.malice.state import (
    HAND,
    KING,
    OUT,
    PILES,
    QUEEN,
    RANKS,
    RUNNING,
    SIDES,
    STOCK_OUT,
)

LANES = 120
"""Lanes of the programs that the kernel's tests share: room for every action of two positions."""

ENDINGS = {"out": OUT, "stock": STOCK_OUT}

type Bools = npt.NDArray[np.bool_]
type Numbers = npt.NDArray[np.int64]
type Actions = npt.NDArray[np.int32]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """What one action a lane leads to, with all that is on the way."""

    chosen: malice.State  # after the choice, before the draw
    legal_before_draw: jax.Array  # bool [ACTIONS, B]
    ranks: jax.Array  # int8 [HAND, B]: the cards that the mover drew by the world's stream, then 0
    state: malice.State  # after the draw
    told: malice.State  # after a draw of these cards
    legal: jax.Array  # bool [ACTIONS, B]


@jax.jit
def advance(state: malice.State, action: jax.Array) -> Step:
    """Play one action a lane, NO_ACTION for none, and draw the cards due."""
    chosen = play.play(state, action)
    after = play.draw(chosen)
    ranks = drawn_ranks(play.hand_of(chosen, chosen.mover), play.hand_of(after, chosen.mover))
    return Step(
        chosen=chosen,
        legal_before_draw=play.legal(chosen),
        ranks=ranks,
        state=after,
        told=play.take(chosen, ranks),
        legal=play.legal(after),
    )


def drawn_ranks(before: jax.Array, after: jax.Array) -> jax.Array:
    """The cards that came into a hand of bits, uint16 [HAND, B], by slot: ranks, then 0, int8 [HAND, B]."""
    card = (after[:, None] >> jnp.arange(RANKS + 1, dtype=jnp.uint16)[:, None]) & 1  # [HAND, 1 + RANKS, B]
    rank = card.argmax(axis=1) * ((before == 0) & (after != 0))
    order = jnp.argsort(rank == 0, axis=0, stable=True)
    return jnp.take_along_axis(rank, order, axis=0).astype(jnp.int8)


@jax.jit
def policy_step(state: malice.State) -> malice.State:
    """One step of the rollout policy."""
    return malice.FAMILY.step(state)


def host[Tree](tree: Tree) -> Tree:
    """The same tree with NumPy arrays."""
    arrays: Tree = jax.tree.map(np.asarray, tree)
    return arrays


def idle() -> Actions:
    """No action in any lane."""
    return np.full((LANES,), play.NO_ACTION, np.int32)


def all_at_once(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let programs made from here on do what other devices than CPUs do; returns the functions that then choose so."""
    chosen: list[str] = []

    def elsewhere(*operands: Any, default: Callable[..., Any], cpu: Callable[..., Any]) -> Any:
        assert cpu is not default
        chosen.append(default.__qualname__.split(".")[0])
        return default(*operands)

    monkeypatch.setattr(jax.lax, "platform_dependent", elsewhere)
    return chosen


def keyed(state: malice.State, seeds: Sequence[int]) -> malice.State:
    """Lanes whose draws come from stream 0 of these seeds, one a lane, the last one's in the lanes left over."""
    words = np.asarray([random.split_seed(seeds[min(lane, len(seeds) - 1)]) for lane in range(LANES)], np.uint32)
    key = random.stream_key(leaf(words[:, 0]), leaf(words[:, 1]), leaf(np.zeros(LANES, np.uint32)))
    return dataclasses.replace(state, key=leaf(np.stack(key)))


class Cards(NamedTuple):
    """Where the cards of a state lie, in ranks, 0 = no card: int64, the lanes last."""

    payoff: Numbers  # [depth, 2, B], bottom first
    hand: Numbers  # [2, HAND, B], by slot
    side: Numbers  # [depth, 2, SIDES, B], bottom first
    center: Numbers  # [QUEEN, CENTERS, B], bottom first
    height: Numbers  # [CENTERS, B], -1 = no such stack
    stock: Numbers  # [RANKS, B]: cards of each rank


def ranks_of(words: npt.ArrayLike) -> Numbers:
    """The ranks of single cards, given as bits."""
    bits = np.asarray(words, np.int64)
    assert ((bits & (bits - 1)) == 0).all()  # none of them is two cards
    assert ((bits & ~(((2 << RANKS) - 1) - 1)) == 0).all()
    return tables.ranks(bits)


def words_of(ranks: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Single cards as bits, given their ranks."""
    cards = np.asarray(ranks, np.int64)
    return np.asarray(tables.bits(cards.ravel().tolist()), np.uint16).reshape(cards.shape)


def counts_of(state: malice.State) -> Numbers:
    """How many cards each pile has, int64 [2, PILES, B]."""
    return np.asarray(state.count, np.int64).reshape(2, PILES, -1)


def cards_of(state: malice.State) -> Cards:
    """Where the cards lie."""
    count = np.asarray(state.count, np.int64)
    depth = int(count.max(initial=0))
    runs = np.asarray(state.pile[1 : 1 + depth], np.int64)
    pile = tables.ranks(np.where(np.arange(depth)[:, None, None] < count, runs, 0)).reshape(depth, 2, PILES, -1)
    height, kings = ranks_of(state.needed) - 1, np.asarray(state.kings, np.int64)
    level = np.arange(QUEEN)[:, None, None]
    return Cards(
        payoff=pile[:, :, 0],
        hand=ranks_of(state.hand).reshape(2, HAND, -1),
        side=pile[:, :, 1:],
        center=np.where(level < height, np.where((kings >> level) & 1, KING, level + 1), 0),
        height=height,
        stock=np.asarray(np.diff(np.asarray(state.stock, np.int64), axis=0, prepend=0), np.int64),
    )


def hand_in(state: malice.State, player: int, lane: int) -> list[int]:
    """The rank in each slot of one hand, 0 = none."""
    hand: list[int] = cards_of(state).hand[player, :, lane].tolist()
    return hand


def census(state: malice.State) -> Numbers:
    """Cards of each rank on the table, wherever they lie, int64 [RANKS, B]."""
    cards = cards_of(state)
    assert (cards.stock >= 0).all()
    lanes = cards.stock.shape[-1]
    placed = np.concatenate([zone.reshape(-1, lanes) for zone in (cards.payoff, cards.hand, cards.side, cards.center)])
    counts: Numbers = np.asarray([(placed == rank).sum(axis=0) for rank in range(1, RANKS + 1)], np.int64)
    return counts + cards.stock


@functools.cache
def runs_of(side: tuple[int, ...]) -> list[int]:
    """A side stack as the kernel holds it."""
    return tables.with_runs(side)


def described_lanes(state: malice.State, lanes: Sequence[int]) -> list[dict[str, object]]:
    """What a state says of some lanes: every pile, hands in order of rank, counts and result."""
    cards = cards_of(state)
    depth = int(np.asarray(state.count).max(initial=0))
    assert not np.asarray(state.pile[0]).any()
    pile = np.asarray(state.pile[1 : 1 + depth]).transpose(2, 1, 0).tolist()
    count, top = np.asarray(state.count).T.tolist(), np.asarray(state.top).T.tolist()
    hand = np.moveaxis(cards.hand, -1, 0).tolist()
    height, kings = cards.height.T.tolist(), np.asarray(state.kings).T.tolist()
    stock = cards.stock.T.tolist()
    scalars = np.asarray(
        [
            np.asarray(part, np.int64)
            for part in (state.rules, state.mover, state.due, state.ending, state.points, state.moves, *state.drawn)
        ]
    ).T.tolist()
    return [
        {
            "pile": [runs[:size] for runs, size in zip(pile[lane], count[lane], strict=True)],
            "top": top[lane],
            "hand": [sorted(card for card in held if card) for held in hand[lane]],
            "height": height[lane],
            "kings": kings[lane],
            "stock": stock[lane],
            "rules, mover, due, ending, points, moves, drawn": scalars[lane],
        }
        for lane in lanes
    ]


def described_game(position: Position, moves: int, drawn: Sequence[int]) -> dict[str, object]:
    """The same of a game of the oracle, of which `moves` and `drawn` are what happened since the root."""
    rules, game = position
    pile: list[list[int]] = []
    for player in (0, 1):
        pile += [tables.bits(game.payoff[player]), *(runs_of(tuple(side)) for side in game.sides[player])]
    ending, points = RUNNING, 0
    if game.result is not None:
        ending = ENDINGS[game.result.ending]
        points = -game.result.points if game.result.winner == 1 else game.result.points
    return {
        "pile": pile,
        "top": [runs[-1] if runs else 0 for runs in pile],
        "hand": [sorted(cards) for cards in game.hand],
        "height": [*map(len, game.centers), -1],
        "kings": [*(sum(1 << h for h, card in enumerate(pile) if card == KING) for pile in game.centers), 0],
        "stock": [game.stock[rank] for rank in range(1, RANKS + 1)],
        "rules, mover, due, ending, points, moves, drawn": [
            rules.bits,
            game.mover,
            0,
            ending,
            points,
            moves,
            *drawn,
        ],
    }


class Lockstep:
    """Up to LANES positions in the kernel and in the oracle; every step is checked to keep them equal."""

    def __init__(self, positions: Sequence[Position], seeds: Sequence[int]) -> None:
        self.positions = [Position(rules, oracle_copy(game)) for rules, game in positions]
        self.history: list[list[str]] = [[] for _ in positions]
        self.drawn = [[0, 0] for _ in positions]
        self.events: Counter[str] = Counter()
        self.seeds = seeds
        start = keyed(in_lanes([table_of(position) for position in positions], LANES), seeds)
        self.deck = census(start)
        step = host(advance(start, leaf(idle())))
        jax.tree.map(np.testing.assert_array_equal, step.state, start)  # nothing was due
        self.state = step.state
        self.legal: Bools = np.asarray(step.legal)
        self.compare(range(len(positions)))

    @classmethod
    def deal(cls, rules: Sequence[malice.Rules], seeds: Sequence[int]) -> "Lockstep":
        """Games from the documented deals of some seeds, which also choose the draws."""
        return cls([deal(rule, seed) for rule, seed in zip(rules, seeds, strict=True)], seeds)

    @property
    def playing(self) -> list[int]:
        """Lanes whose game goes on."""
        return [lane for lane, position in enumerate(self.positions) if position.game.result is None]

    def play(self, choose: Callable[["Lockstep"], Actions], moves: int) -> None:
        """Play all games to their ends, or at most so many moves."""
        for _ in range(moves):
            if not self.playing:
                return
            self.step(choose(self))

    def step(self, actions: Actions) -> None:
        """Play one action a lane in both and compare."""
        before = self.state
        step = host(advance(before, leaf(actions)))
        self.state, self.legal = step.state, np.asarray(step.legal)
        jax.tree.map(np.testing.assert_array_equal, step.told, step.state)
        hands = np.moveaxis(cards_of(before).hand, -1, 0).tolist()
        chosen = cards_of(step.chosen)
        drawer = np.asarray(step.chosen.mover).tolist()
        lacking = (chosen.hand == 0).sum(axis=1)
        due = (np.asarray(step.chosen.due) * lacking[drawer, np.arange(LANES)]).tolist()
        stock = chosen.stock.T.tolist()
        ranks = np.asarray(step.ranks).T.tolist()
        acting = [lane for lane in self.playing if actions[lane] != play.NO_ACTION]
        for lane in acting:
            game = self.positions[lane].game
            move = move_of(int(actions[lane]), hands[lane][game.mover])
            assert move is not None, self.where(lane, "chose an action that is no move")
            self.history[lane].append(str(move))
            asked: list[tuple[int, int, list[int]]] = []

            def draw(player: int, count: int, left: Counter[int]) -> list[int]:
                asked.append((player, count, [left[rank] for rank in range(1, RANKS + 1)]))  # noqa: B023
                return [rank for rank in ranks[lane] if rank]  # noqa: B023

            mover, recycled = game.mover, game.recycled.total()
            game.play(move, draw)
            number = min(due[lane], sum(stock[lane]))
            expected = [(drawer[lane], number, stock[lane])] if number else []
            assert asked == expected, self.where(lane, f"draws {expected}, but {asked} in the oracle")
            for player, count, _ in asked:
                self.drawn[lane][player] += count
            self.events["M8"] += bool(asked) and move.target == "center" and game.mover == mover
            self.events["M9"] += game.recycled.total() >= recycled + QUEEN - 1
        np.testing.assert_array_equal(census(self.state), self.deck)
        closed = np.asarray(step.chosen.due) | (np.asarray(step.chosen.ending) > 0)
        assert not np.asarray(step.legal_before_draw)[:, closed].any()
        self.compare(acting)

    def compare(self, lanes: Sequence[int]) -> None:
        """Fail where the oracle's games and the kernel's differ in these lanes."""
        hands = np.moveaxis(cards_of(self.state).hand, -1, 0).tolist()
        legal = [np.flatnonzero(mask).tolist() for mask in self.legal.T]
        for lane, seen in zip(lanes, described_lanes(self.state, lanes), strict=True):
            position = self.positions[lane]
            game = position.game
            expected = described_game(position, len(self.history[lane]), self.drawn[lane])
            if seen != expected:
                parts = {name: (seen[name], expected[name]) for name in seen if seen[name] != expected[name]}
                raise AssertionError(self.where(lane, f"differs (kernel, oracle): {parts}"))
            moves = [move_of(action, hands[lane][game.mover]) for action in legal[lane]]
            assert len(set(moves)) == len(moves), self.where(lane, f"lists a move twice: {moves}")
            assert set(moves) == game.legal_moves(), self.where(lane, f"lists {moves}, not {game.legal_moves()}")
            if game.result is not None:
                self.events[game.result.ending] += 1
                self.events["decided" if game.result.winner is not None else "tie"] += 1

    def where(self, lane: int, what: str) -> str:
        """A message that says how to get there."""
        moves = " ".join(self.history[lane])
        return f"{self.positions[lane].rules}, seed {self.seeds[lane]}, after {moves!r}: {what}"


def best_scored(legal: Bools, score: npt.NDArray[np.float64]) -> Actions:
    """The legal action with the highest score in every lane, NO_ACTION where none is legal."""
    best = np.where(legal, score, -1.0).argmax(axis=0)
    return np.where(legal.any(axis=0), best, play.NO_ACTION).astype(np.int32)


def uniform_choice(chance: np.random.Generator) -> Callable[[Lockstep], Actions]:
    """Any legal action with equal chances."""
    return lambda games: best_scored(games.legal, chance.random((play.ACTIONS, LANES)))


def eager_choice(chance: np.random.Generator) -> Callable[[Lockstep], Actions]:
    """The payoff card, else any play to the center, a king from hand only now and then, else any discard."""

    def choose(games: Lockstep) -> Actions:
        score = chance.random((play.ACTIONS, LANES))
        mover = np.asarray(games.state.mover)
        first, second = cards_of(games.state).hand
        hand = np.where(mover == 0, first, second)
        keen = np.ones((play.PLAYS, LANES), np.bool_)
        keen[4 * (1 + SIDES) :] = np.repeat((hand != KING) | (chance.random(hand.shape) < 0.3), 4, axis=0)
        score[: play.PLAYS] += 2 * keen
        score[:4] += 4
        return best_scored(games.legal, score)

    return choose


def policy_choice(games: Lockstep) -> Actions:
    """What the rollout policy chooses; checked to be legal."""
    actions = actions_between(games.state, host(policy_step(games.state)))
    for lane in games.playing:
        assert actions[lane] >= 0, games.where(lane, "the policy chose nothing")
        assert games.legal[actions[lane], lane], games.where(lane, f"the policy chose action {actions[lane]}")
    return actions


def actions_between(before: malice.State, after: malice.State) -> Actions:
    """The action that leads from one state to the other in every lane, NO_ACTION where nothing changed."""
    lane = np.arange(LANES)
    mover = np.asarray(before.mover)
    pushed = (counts_of(after) - counts_of(before))[mover, :, lane].T
    less_payoff, grown = pushed[0] < 0, pushed[1:]
    first, second = cards_of(before), cards_of(after)
    left = ((first.hand > 0) & (second.hand == 0))[mover, :, lane].T
    changed = (first.height != second.height) & (np.asarray(before.ending) == RUNNING)
    gone = np.concatenate([less_payoff[None], grown < 0, left])
    discards = (grown > 0).any(axis=0)
    source = gone.argmax(axis=0) + np.where(discards, HAND, 0)
    target = np.where(discards, (grown > 0).argmax(axis=0), changed.argmax(axis=0))
    assert (gone.sum(axis=0) <= 1).all()
    assert ((changed.sum(axis=0) + (grown > 0).sum(axis=0)) == gone.sum(axis=0)).all()
    return np.where(gone.any(axis=0), 4 * source + target, play.NO_ACTION).astype(np.int32)


def single(table: malice.Table) -> malice.State:
    """A table in lane 0, nothing in the others, with draws by seed 1."""
    return keyed(in_lanes([table], LANES), [1])


def state_after(state: malice.State, *notations: str) -> malice.State:
    """Lane 0 after some moves, each of which must be legal; the cards due are drawn."""
    for notation in notations:
        assert notation in legal_notations(state)
        actions = idle()
        actions[0] = action_of(notation, hand_in(state, int(state.mover[0]), 0))
        state = host(advance(state, leaf(actions))).state
    return state


def legal_notations(state: malice.State) -> set[str]:
    """The moves listed in lane 0, in public notation."""
    mask = np.asarray(advance(state, leaf(idle())).legal)[:, 0]
    hand = hand_in(state, int(state.mover[0]), 0)
    return {str(move_of(action, hand)) for action in np.flatnonzero(mask).tolist()}
