"""Games of Spite & Malice in the kernel's lanes beside the same games in the oracle, fed the kernel's draws."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Sequence

import jax
import numpy as np
import numpy.typing as npt

from tests.kernel.positions import Position, action_of, deal, in_lanes, move_of, oracle_copy, table_of
from zank_kernel import malice, random
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice.state import HAND, KING, OUT, QUEEN, RANKS, RUNNING, SIDES, STOCK_OUT
from zank_kernel.malice.table import with_runs

LANES = 120
"""Lanes of the programs that the kernel's tests share: room for every action of two positions."""

ENDINGS = {"out": OUT, "stock": STOCK_OUT}

type Bools = npt.NDArray[np.bool_]
type Actions = npt.NDArray[np.int32]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """What one action a lane leads to, with all that is on the way."""

    chosen: malice.State  # after the choice, before the draw
    legal_before_draw: jax.Array  # bool [ACTIONS, B]
    ranks: jax.Array  # int8 [HAND, B]: the next cards of the world's stream
    state: malice.State  # after the draw
    legal: jax.Array  # bool [ACTIONS, B]


@jax.jit
def advance(state: malice.State, action: jax.Array) -> Step:
    """Play one action a lane, NO_ACTION for none, and draw the cards due."""
    chosen = play.play(state, action)
    ranks = play.draw_ranks(chosen)
    after = play.take(chosen, ranks)
    return Step(chosen=chosen, legal_before_draw=play.legal(chosen), ranks=ranks, state=after, legal=play.legal(after))


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


def keyed(state: malice.State, seeds: Sequence[int]) -> malice.State:
    """Lanes whose draws come from stream 0 of these seeds, one a lane, the last one's in the lanes left over."""
    words = np.asarray([random.split_seed(seeds[min(lane, len(seeds) - 1)]) for lane in range(LANES)], np.uint32)
    key = random.stream_key(leaf(words[:, 0]), leaf(words[:, 1]), leaf(np.zeros(LANES, np.uint32)))
    return dataclasses.replace(state, key=leaf(np.stack(key)))


def census(state: malice.State) -> npt.NDArray[np.int64]:
    """Cards of each rank on the table, wherever they lie, int64 [RANKS, B]."""
    rank = np.arange(1, RANKS + 1)[:, None, None, None]
    height, kings = np.asarray(state.height), np.asarray(state.kings)
    level = np.arange(QUEEN)[:, None, None]
    is_king = (kings >> level) & 1
    built = np.where(level < height, np.where(is_king == 1, KING, level + 1), 0)  # [QUEEN, CENTERS, B]
    payoff = np.asarray(state.payoff)
    payoff = payoff * (np.arange(payoff.shape[1])[:, None] < np.asarray(state.payoff_count)[:, None])
    depth = int(np.asarray(state.side_count).max(initial=0))
    side = np.asarray(state.side[:depth]) & 15
    side = side * (np.arange(depth)[:, None, None] < np.asarray(state.side_count))
    zones = [payoff, np.asarray(state.hand), side, built]
    total = sum((zone == rank).sum(axis=(1, 2), dtype=np.int64) for zone in zones) + np.asarray(state.stock)
    counts: npt.NDArray[np.int64] = np.asarray(total, np.int64)
    return counts


@functools.cache
def cards_with_runs(pile: tuple[int, ...]) -> list[int]:
    """A side stack as the kernel holds it."""
    return with_runs(pile)


def described_lanes(state: malice.State, lanes: Sequence[int]) -> list[dict[str, object]]:
    """What a state says of some lanes: every pile, hands in order of rank, counts and result."""
    depth = int(np.asarray(state.side_count).max(initial=0))
    payoff = np.moveaxis(np.asarray(state.payoff), -1, 0).tolist()
    payoff_count = np.asarray(state.payoff_count).T.tolist()
    hand = np.moveaxis(np.asarray(state.hand), -1, 0).tolist()
    side = np.asarray(state.side[:depth]).transpose(2, 1, 0).tolist()
    side_count = np.asarray(state.side_count).T.tolist()
    side_top = np.asarray(state.side_top).T.tolist()
    height, kings = np.asarray(state.height).T.tolist(), np.asarray(state.kings).T.tolist()
    stock = np.asarray(state.stock).T.tolist()
    scalars = np.asarray(
        [state.rules, state.mover, state.need, state.ending, state.points, state.moves, *state.drawn], np.int64
    ).T.tolist()
    return [
        {
            "payoff": [pile[:count] for pile, count in zip(payoff[lane], payoff_count[lane], strict=True)],
            "hand": [sorted(card for card in cards if card) for cards in hand[lane]],
            "side": [pile[:count] for pile, count in zip(side[lane], side_count[lane], strict=True)],
            "side_top": side_top[lane],
            "height": height[lane],
            "kings": kings[lane],
            "stock": stock[lane],
            "rules, mover, need, ending, points, moves, drawn": scalars[lane],
        }
        for lane in lanes
    ]


def described_game(position: Position, moves: int, drawn: Sequence[int]) -> dict[str, object]:
    """The same of a game of the oracle, of which `moves` and `drawn` are what happened since the root."""
    rules, game = position
    side = [cards_with_runs(tuple(pile)) for sides in game.sides for pile in sides]
    ending, points = RUNNING, 0
    if game.result is not None:
        ending = ENDINGS[game.result.ending]
        points = -game.result.points if game.result.winner == 1 else game.result.points
    return {
        "payoff": game.payoff,
        "hand": [sorted(cards) for cards in game.hand],
        "side": side,
        "side_top": [pile[-1] if pile else 0 for pile in side],
        "height": [*map(len, game.centers), -1],
        "kings": [*(sum(1 << h for h, card in enumerate(pile) if card == KING) for pile in game.centers), 0],
        "stock": [game.stock[rank] for rank in range(1, RANKS + 1)],
        "rules, mover, need, ending, points, moves, drawn": [
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
        hands = np.moveaxis(np.asarray(before.hand), -1, 0).tolist()
        due = np.asarray(step.chosen.need).tolist()
        stock = np.asarray(step.chosen.stock).T.tolist()
        ranks = np.asarray(step.ranks).T.tolist()
        drawer = np.asarray(step.chosen.mover).tolist()
        acting = [lane for lane in self.playing if actions[lane] != play.NO_ACTION]
        for lane in acting:
            game = self.positions[lane].game
            move = move_of(int(actions[lane]), hands[lane][game.mover])
            assert move is not None, self.where(lane, "chose an action that is no move")
            self.history[lane].append(str(move))
            asked: list[tuple[int, int, list[int]]] = []

            def draw(player: int, count: int, left: Counter[int]) -> list[int]:
                asked.append((player, count, [left[rank] for rank in range(1, RANKS + 1)]))  # noqa: B023
                drawn: list[int] = ranks[lane][:count]  # noqa: B023
                return drawn

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
        closed = (np.asarray(step.chosen.need) > 0) | (np.asarray(step.chosen.ending) > 0)
        assert not np.asarray(step.legal_before_draw)[:, closed].any()
        self.compare(acting)

    def compare(self, lanes: Sequence[int]) -> None:
        """Fail where the oracle's games and the kernel's differ in these lanes."""
        hands = np.moveaxis(np.asarray(self.state.hand), -1, 0).tolist()
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
        hand = np.where(mover == 0, np.asarray(games.state.hand[0]), np.asarray(games.state.hand[1]))
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
    less_payoff = (np.asarray(after.payoff_count) < np.asarray(before.payoff_count))[mover, lane]
    grown = np.asarray(after.side_count).astype(np.int64) - np.asarray(before.side_count).astype(np.int64)
    grown = grown.reshape(2, SIDES, LANES)[mover, :, lane].T
    left = ((np.asarray(before.hand) > 0) & (np.asarray(after.hand) == 0))[mover, :, lane].T
    changed = (np.asarray(before.height) != np.asarray(after.height)) & (np.asarray(before.ending) == RUNNING)
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
        actions[0] = action_of(notation, np.asarray(state.hand)[int(state.mover[0]), :, 0].tolist())
        state = host(advance(state, leaf(actions))).state
    return state


def legal_notations(state: malice.State) -> set[str]:
    """The moves listed in lane 0, in public notation."""
    mask = np.asarray(advance(state, leaf(idle())).legal)[:, 0]
    hand = np.asarray(state.hand)[int(state.mover[0]), :, 0].tolist()
    return {str(move_of(action, hand)) for action in np.flatnonzero(mask).tolist()}
