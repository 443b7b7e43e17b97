"""Games of Russian Bank in the kernel's lanes beside the same games in the oracle."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import jax
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernel.bank_positions import ACTION_OF, MOVES, ORDERS, Position, faces, in_lanes, notations
from tests.oracle import bank as oracle
from zank_kernel import bank
from zank_kernel.bank import play, policy
from zank_kernel.bank.deal import dealt
from zank_kernel.bank.state import (
    COPIES,
    COUNTED,
    DEPTH,
    KING,
    OUT,
    RUNNING,
    STALEMATE,
    SUITS,
    TABLEAU,
)
from zank_kernel.engine import CPU_OPTIONS
from zank_kernel.family import ADJUDICATED, Rulings
from zank_kernel.host import leaf

LANES: Final = play.ACTIONS
"""Lanes of the programs that the tests of this family share: room for every action of one position."""

RULED: Final = 50
"""Every so many moves of a game, what the rules say of each action is compared too."""

ENDINGS: Final = {"out": OUT, "stalemate": STALEMATE, "adjudicated": ADJUDICATED}

type Bools = npt.NDArray[np.bool_]
type Actions = npt.NDArray[np.int32]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """What one action a lane leads to."""

    state: bank.State
    legal: jax.Array  # bool [ACTIONS, B]
    rulings: Rulings
    choice: jax.Array  # int32 [B]: the rollout policy's action


def _advance(state: bank.State, action: jax.Array) -> Step:
    after = play.play(state, action)
    legal = play.legal(after)
    return Step(state=after, legal=legal, rulings=play.rulings(after), choice=policy.choose(after))


_compiled = jax.jit(_advance, compiler_options=CPU_OPTIONS)


def advance(state: bank.State, action: Actions) -> Step:
    """Play one action a lane, NO_ACTION for none, in LANES lanes; NumPy arrays."""
    step: Step = host(_compiled(state, leaf(action)))
    return step


def host[Tree](tree: Tree) -> Tree:
    """The same tree with NumPy arrays, transferred at once."""
    arrays: Tree = jax.device_get(tree)
    return arrays


def idle() -> Actions:
    """No action in any lane."""
    return np.full((LANES,), play.NO_ACTION, np.int32)


def queue_in_order(state: bank.State) -> npt.NDArray[np.uint16]:
    """The rings of stock and waste from the card to be turned next, uint16 [DEPTH, 2, B]."""
    place = (np.arange(DEPTH)[:, None, None] + np.asarray(state.head)) % DEPTH
    return np.take_along_axis(np.asarray(state.pile)[:, COUNTED:], place, axis=0)


def foundations(state: bank.State) -> npt.NDArray[np.uint16]:
    """Heights of the foundations, suit by suit, uint16 [FOUNDATIONS, B]."""
    heights = np.asarray(state.foundation)
    return heights.reshape(COPIES, SUITS, -1).swapaxes(0, 1).reshape(heights.shape)


def census(state: bank.State) -> npt.NDArray[np.int64]:
    """Copies of each card on the table, wherever they lie, int64 [64, B]."""
    lanes = np.asarray(state.mover).shape[0]
    foundation = foundations(state)
    rank = np.arange(1, KING + 1)[:, None, None]
    suit = np.arange(COPIES * SUITS)[:, None] // COPIES
    built = np.where(rank <= foundation, 16 * suit + rank, 0)
    place = np.arange(DEPTH)[:, None, None]
    zones = [np.where(place < np.asarray(state.count), np.asarray(state.pile)[:, :COUNTED], 0)]
    held = np.asarray(state.stock) + np.asarray(state.waste)
    zones.append(np.where(place < held, queue_in_order(state), 0))
    cards = np.concatenate([zone.reshape(-1, lanes) for zone in (built, *zones, np.asarray(state.drawn)[None])])
    counts = np.bincount((cards + 64 * np.arange(lanes)).ravel(), minlength=64 * lanes).reshape(lanes, 64).T
    counts[0] = 0
    return counts.astype(np.int64)


FULL_DECKS: Final = np.asarray([2 if 1 <= face % 16 <= KING else 0 for face in range(64)])[:, None]


def described_lanes(state: bank.State, lanes: Sequence[int]) -> list[dict[str, Any]]:
    """What a state says of some lanes: every pile, counts and result."""
    pile = np.asarray(state.pile)[:, :COUNTED].transpose(2, 1, 0).tolist()
    count = np.asarray(state.count).T.tolist()
    top = np.asarray(state.top).T.tolist()
    queue = queue_in_order(state).transpose(2, 1, 0).tolist()
    stock, waste = np.asarray(state.stock).T.tolist(), np.asarray(state.waste).T.tolist()
    foundation, quiet = foundations(state).T.tolist(), np.asarray(state.quiet).T.tolist()
    names = ("rules", "max_turns", "mover", "drawn", "turns", "moves", "ending", "points")
    scalars = {name: np.asarray(getattr(state, name)).tolist() for name in names}
    described: list[dict[str, Any]] = []
    for lane in lanes:
        piles = [pile[lane][index][: count[lane][index]] for index in range(COUNTED)]
        turned = list(zip(queue[lane], stock[lane], waste[lane], strict=True))
        described.append(
            {
                "foundation": foundation[lane],
                "tableau": piles[:TABLEAU],
                "reserve": piles[TABLEAU:],
                "top": top[lane],
                "stock": [cards[:stock] for cards, stock, _ in turned],
                "waste": [cards[stock : stock + waste] for cards, stock, waste in turned],
                "quiet": quiet[lane],
                **{name: values[lane] for name, values in scalars.items()},
            }
        )
    return described


def described_game(position: Position, moves: int) -> dict[str, Any]:
    """The same of a game of the oracle, `moves` moves after the root."""
    rules, game = position.rules, position.game
    tableau, reserve, waste = ([faces(pile) for pile in piles] for piles in (game.tableau, game.reserve, game.waste))
    ending, points = RUNNING, 0
    if game.result is not None:
        ending = ENDINGS[game.result.ending]
        points = -game.result.points if game.result.winner == 1 else game.result.points
    return {
        "foundation": [len(pile) for pile in game.foundations],
        "tableau": tableau,
        "reserve": reserve,
        "top": [pile[-1] if pile else 0 for pile in (*tableau, *reserve, *waste)],
        "stock": [faces(pile)[::-1] for pile in game.stock],
        "waste": waste,
        "quiet": game.quiet,
        "rules": rules.bits,
        "max_turns": rules.max_turns,
        "mover": game.mover,
        "drawn": 0 if game.drawn is None else faces([game.drawn])[0],
        "turns": game.turns,
        "moves": moves,
        "ending": ending,
        "points": points,
    }


class Lockstep:
    """Up to LANES positions in the kernel and in the oracle; every step is checked to keep them equal."""

    def __init__(
        self, positions: Sequence[Position], seeds: Sequence[int], entered: Sequence[bank.Table] | None = None
    ) -> None:
        """Begin with these positions, in the kernel with these tables of them."""
        self.positions = [position.copy() for position in positions]
        self.history: list[list[str]] = [[] for _ in positions]
        self.events: Counter[tuple[str, str]] = Counter()
        self.seeds = seeds
        start = in_lanes(entered or [position.full() for position in positions], LANES)
        self.deck = census(start)
        step = advance(start, idle())
        jax.tree.map(np.testing.assert_array_equal, step.state, start)
        self.see(step)
        self.compare(range(len(positions)))

    @classmethod
    def deal(cls, rules: Sequence[bank.Rules], seeds: Sequence[int]) -> "Lockstep":
        """Games from the documented deals of some seeds, dealt by the kernel and by the oracle."""
        deals = list(zip(rules, seeds, strict=True))
        return cls([Position.deal(*each) for each in deals], seeds, [dealt(*each) for each in deals])

    def moves(self, notations: str) -> Self:
        """Play these moves, separated by spaces, in lane 0; each must be legal."""
        for notation in notations.split():
            actions = idle()
            actions[0] = ACTION_OF[oracle.parse(notation)]
            assert self.legal[actions[0], 0], self.where(0, f"{notation} is not listed")
            self.step(actions)
        return self

    @property
    def listed(self) -> set[str]:
        """The moves that the kernel lists in lane 0, in public notation."""
        return notations(np.flatnonzero(self.legal[:, 0]).tolist())

    def refused(self, notation: str) -> tuple[str, set[str]] | None:
        """The rule by which the kernel refuses a move in lane 0 and the moves obligatory instead; None if legal."""
        barred = int(np.asarray(self.rulings.barred)[ACTION_OF[oracle.parse(notation)], 0])
        instead = np.flatnonzero(np.asarray(self.rulings.compelled)[max(barred, 0), :, 0])
        return (self.positions[0].rules.rule_id(barred), notations(instead.tolist())) if barred else None

    @property
    def pointless(self) -> set[str]:
        """The moves that the kernel calls pointless in lane 0, in public notation."""
        return notations([*bank.FAMILY.pointless(self.positions[0].full())])

    @property
    def seen(self) -> dict[str, Any]:
        """What the kernel's state says of lane 0."""
        (lane,) = described_lanes(self.state, [0])
        return lane

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
        acting = [lane for lane in self.playing if actions[lane] != play.NO_ACTION]
        step = advance(self.state, actions)
        self.see(step)
        for lane in acting:
            move, position = MOVES[int(actions[lane])], self.positions[lane]
            preset = position.rules.preset
            if str(move) == "TURN" and not position.game.stock[position.game.mover]:
                self.events[preset, "waste turned over"] += 1
            self.events[preset, move.target or str(move)] += 1
            self.history[lane].append(str(move))
            position.play(move)
        np.testing.assert_array_equal(census(self.state), self.deck)
        self.compare(acting)

    def see(self, step: Step) -> None:
        """Keep what a step led to."""
        self.state, self.rulings = step.state, step.rulings
        self.legal, self.choice = np.asarray(step.legal), np.asarray(step.choice)

    def compare(self, lanes: Sequence[int]) -> None:
        """Fail where the oracle's games and the kernel's differ in these lanes."""
        legal = [np.flatnonzero(mask).tolist() for mask in self.legal.T]
        for lane, seen in zip(lanes, described_lanes(self.state, lanes), strict=True):
            position = self.positions[lane]
            expected = described_game(position, len(self.history[lane]))
            if seen != expected:
                parts = {name: (seen[name], expected[name]) for name in seen if seen[name] != expected[name]}
                raise AssertionError(self.where(lane, f"differs (kernel, oracle): {parts}"))
            due = {ACTION_OF[move] for move in position.game.legal_moves()}
            if {*legal[lane]} != due:
                more, less = notations([*{*legal[lane]} - due]), notations([*due - {*legal[lane]}])
                raise AssertionError(self.where(lane, f"lists {more} too many and {less} too few"))
            if position.game.result is not None:
                self.events[position.rules.preset, position.game.result.ending] += 1
            if (lane + len(self.history[lane])) % RULED == 0:
                self.compare_rulings(lane)

    def compare_rulings(self, lane: int) -> None:
        """Fail where the oracle rules otherwise on an action in this lane, or finds another one pointless."""
        rules, game = self.positions[lane].rules, self.positions[lane].game
        barred = np.asarray(self.rulings.barred)[:, lane].tolist()
        rows = [notations(np.flatnonzero(row).tolist()) for row in np.asarray(self.rulings.compelled)[:, :, lane]]
        for move, said in zip(MOVES, barred, strict=True):
            rule, instead = rules.rule_id(said) if said else None, rows[max(said, 0)]
            due = game.explain(move), {*map(str, game.obligatory(move))}
            assert (rule, instead) == due, self.where(lane, f"{move}: {rule}, {instead}, not {due}")
            if rule is not None:
                self.events[rules.preset, rule] += 1
        pointless = notations([*bank.FAMILY.pointless(self.positions[lane].full())])
        expected = {str(move) for move in MOVES if game.pointless(move)}
        assert pointless == expected, self.where(lane, f"{pointless} are pointless, not {expected}")
        self.events[rules.preset, "pointless"] += bool(pointless)

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
    return lambda games: best_scored(games.legal, chance.random(games.legal.shape))


EAGERNESS: Final = np.asarray(
    [4 * (move.target == "F") + 3 * (move.source == "R") + 2 * (move.source == "D") for move in MOVES]
)[:, None]
DALLYING: Final = np.asarray([move.within_tableau for move in MOVES])[:, None]


def eager_choice(chance: np.random.Generator) -> Callable[[Lockstep], Actions]:
    """To the foundations, else from the reserve, else the drawn card; seldom within the tableau."""

    def choose(games: Lockstep) -> Actions:
        score = 1 + chance.random(games.legal.shape) + EAGERNESS
        return best_scored(games.legal, score - DALLYING * (chance.random(games.legal.shape) < 0.8))

    return choose


def policy_choice(games: Lockstep) -> Actions:
    """What the rollout policy chooses; checked to be legal."""
    for lane in games.playing:
        action = int(games.choice[lane])
        assert action >= 0, games.where(lane, "the policy chose nothing")
        assert games.legal[action, lane], games.where(lane, f"the policy chose {MOVES[action]}")
    over = np.asarray(games.state.ending) != RUNNING
    assert (games.choice[over] == play.NO_ACTION).all()
    return games.choice.astype(np.int32)


WAITING: Final = np.asarray([not move.target for move in MOVES])[:, None]


def idle_choice(chance: np.random.Generator) -> Callable[[Lockstep], Actions]:
    """The stock is turned and the turn ended as soon as nothing forbids it."""
    return lambda games: best_scored(games.legal, chance.random(games.legal.shape) + WAITING)


CHOICES: Final[dict[str, Any]] = {
    "uniform": lambda seed: uniform_choice(np.random.default_rng(seed)),
    "eager": lambda seed: eager_choice(np.random.default_rng(seed)),
    "idle": lambda seed: idle_choice(np.random.default_rng(seed)),
    "policy": lambda seed: policy_choice,
}


def begin(where: Position) -> Lockstep:
    """A game in the kernel and in the oracle from this position on."""
    return Lockstep([where], [0])


EVERY_ORDER_OF_PLAY: Final = pytest.mark.parametrize("rules", ORDERS.values(), ids=ORDERS)
"""A test of each order of play."""
