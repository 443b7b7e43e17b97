"""Positions of Russian Bank for the kernel's tests: games of the oracle as tables, and actions as its moves."""

import dataclasses
import functools
import random
from collections.abc import Sequence
from typing import Final, Self

import jax
import numpy as np

from tests.oracle import bank as oracle
from zank_kernel import bank
from zank_kernel.bank import table as tables
from zank_kernel.bank.play import ACTIONS
from zank_kernel.bank.rules import PRESETS
from zank_kernel.bank.state import COPIES, SUITS

SPITEFUL: Final = PRESETS["bank-spiteful"]
RUSSIAN: Final = PRESETS["bank-russian"]
CRAPETTE: Final = PRESETS["bank-crapette"]
FOUNDATION_FIRST: Final = dataclasses.replace(SPITEFUL, reserve_first="foundation")

ORDERS: Final = {
    "bank-spiteful": SPITEFUL,
    "foundation": FOUNDATION_FIRST,
    "bank-russian": RUSSIAN,
    "bank-crapette": CRAPETTE,
}
"""Every order of play there is."""

MOVES: Final = oracle.EVERY_MOVE
"""The oracle's move for each action: both number sources and destinations in the order of the notation."""

ACTION_OF: Final = {move: action for action, move in enumerate(MOVES)}

assert len(MOVES) == ACTIONS


@dataclasses.dataclass
class Position:
    """A game of the oracle, its rule set as the kernel has it, and what no player has seen of it yet."""

    rules: bank.Rules
    game: oracle.Game
    face_down: list[int]  # [2] cards of each reserve that were never turned up, from the bottom
    unturned: list[bool]  # [2] whether no card of the stock was ever turned up
    shifts: list[int] = dataclasses.field(default_factory=list)  # tableau moves since the last other one in this turn

    @classmethod
    def deal(cls, rules: bank.Rules, seed: int) -> Self:
        """The documented deal of a seed (B0), by the oracle."""
        down = rules.reserve_cards - 1
        return cls(rules, oracle.Game.from_seed(oracle_rules(rules), seed), [down, down], [True, True])

    def copy(self) -> Self:
        """A position that can be played on without changing this one."""
        return dataclasses.replace(
            self,
            game=oracle_copy(self.game),
            face_down=[*self.face_down],
            unturned=[*self.unturned],
            shifts=[*self.shifts],
        )

    def play(self, move: oracle.Move) -> bool:
        """Make a legal move; whether it turned up a card that nobody had seen."""
        mover = self.game.mover
        if move == oracle.TURN and not self.game.stock[mover]:
            self.unturned[mover] = False  # B6: the waste, all of it seen, is the stock now
        before = [*self.face_down]
        self.game.play(move)
        self.shifts = [*self.shifts, ACTION_OF[move]] if move.within_tableau else []
        for player, pile in enumerate(self.game.reserve):
            self.face_down[player] = min(self.face_down[player], max(len(pile) - 1, 0))  # B5
        return self.face_down != before or (move == oracle.TURN and self.unturned[mover])

    def full(self) -> bank.Table:
        """The position with every card given."""
        return table_of(self.rules, self.game, self.shifts)

    def known(self, *, marked: bool = True) -> bank.Table:
        """The position as both players know it; `marked` says whether the decks of the cards are known."""
        full = self.full()
        face = ~0 if marked else tables.FACE

        def cards(pile: tables.Cards, hidden: int) -> tables.Cards:
            return (*(0 for _ in pile[:hidden]), *(card & face for card in pile[hidden:]))

        reserve, stock, waste = (
            tuple(cards(pile, hidden) for pile, hidden in zip(piles, counts, strict=True))
            for piles, counts in (
                (full.reserve, self.face_down),
                (full.stock, [len(full.stock[player]) if self.unturned[player] else 0 for player in (0, 1)]),
                (full.waste, (0, 0)),
            )
        )
        return dataclasses.replace(
            full,
            foundations=tuple(cards(pile, 0) for pile in full.foundations),
            tableau=tuple(cards(pile, 0) for pile in full.tableau),
            reserve=(reserve[0], reserve[1]),
            stock=(stock[0], stock[1]),
            waste=(waste[0], waste[1]),
            drawn=full.drawn & face,
        )


@functools.cache
def oracle_rules(rules: bank.Rules) -> oracle.Rules:
    """A rule set of the kernel as one of the oracle."""
    preset = {
        "bank-spiteful": oracle.BANK_SPITEFUL,
        "bank-russian": oracle.BANK_RUSSIAN,
        "bank-crapette": oracle.BANK_CRAPETTE,
    }[rules.preset]
    return dataclasses.replace(
        preset,
        reserve_first=rules.reserve_first or "anywhere",
        stalemate_scoring="difference" if rules.stalemate_scores else "none",
        reserve_cards=rules.reserve_cards,
        max_turns=rules.max_turns,
    )


@functools.cache
def number(card: oracle.Card) -> int:
    """A card as tables have it, with its deck."""
    return 16 * oracle.SUITS.index(card.suit) + card.rank + tables.ORIGIN * (card.deck + 1)


def faces(pile: Sequence[oracle.Card]) -> list[int]:
    """A pile as lanes have it."""
    return [number(card) & tables.FACE for card in pile]


def table_of(rules: bank.Rules, game: oracle.Game, shifts: Sequence[int]) -> bank.Table:
    """A position of the oracle with every card given."""

    def both(piles: Sequence[oracle.Pile]) -> tuple[tables.Cards, tables.Cards]:
        first, second = (tuple(map(number, pile)) for pile in piles)
        return first, second

    return bank.Table(
        rules=rules,
        mover=game.mover,
        foundations=tuple(tuple(map(number, pile)) for pile in game.foundations),
        tableau=tuple(tuple(map(number, pile)) for pile in game.tableau),
        reserve=both(game.reserve),
        stock=both(game.stock),
        waste=both(game.waste),
        drawn=0 if game.drawn is None else number(game.drawn),
        opening=game.opening,
        quiet=(game.quiet[0], game.quiet[1]),
        turns=game.turns,
        shifts=tuple(shifts),
    )


def game_of(table: bank.Table) -> oracle.Game:
    """A game of the oracle at a position with every card given; a card without a deck counts as player 0's."""

    def cards(pile: Sequence[int]) -> oracle.Pile:
        return [card_of(each) for each in pile]

    return oracle.Game(
        rules=oracle_rules(table.rules),
        reserve=[cards(pile) for pile in table.reserve],
        stock=[cards(pile) for pile in table.stock],
        waste=[cards(pile) for pile in table.waste],
        foundations=[cards(pile) for pile in table.foundations],
        tableau=[cards(pile) for pile in table.tableau],
        drawn=card_of(table.drawn) if table.drawn else None,
        mover=table.mover,
        opening=table.opening,
        quiet=[*table.quiet],
        turns=table.turns,
    )


def card_of(number: int) -> oracle.Card:
    """The card that a table has as `number`."""
    face = number & tables.FACE
    return oracle.Card(face % 16, oracle.SUITS[face // 16], max(number // tables.ORIGIN - 1, 0))


def built(heights: Sequence[int]) -> list[oracle.Pile]:
    """Foundations of these heights."""
    return [
        [oracle.Card(rank, oracle.SUITS[index // COPIES], index % COPIES) for rank in range(1, height + 1)]
        for index, height in enumerate(heights)
    ]


def oracle_copy(game: oracle.Game) -> oracle.Game:
    """A game that can be played on without changing the given one."""
    return dataclasses.replace(
        game,
        reserve=[[*pile] for pile in game.reserve],
        stock=[[*pile] for pile in game.stock],
        waste=[[*pile] for pile in game.waste],
        foundations=[[*pile] for pile in game.foundations],
        tableau=[[*pile] for pile in game.tableau],
        quiet=[*game.quiet],
        seen={*game.seen},
    )


def masked(table: bank.Table) -> bank.Table:
    """What both players know of a position of which every card is given and nothing has been turned over or loaded."""

    def top_only(pile: tables.Cards) -> tables.Cards:
        return (*(0 for _ in pile[:-1]), *pile[-1:])

    first, second = table.reserve
    return dataclasses.replace(
        table,
        reserve=(top_only(first), top_only(second)),
        stock=(tuple(0 for _ in table.stock[0]), tuple(0 for _ in table.stock[1])),
    )


def pile(text: str, deck: int) -> oracle.Pile:
    """A pile from the names of its cards, bottom to top, "7hKd"; "-" is an empty one."""
    return [] if text == "-" else [oracle.card(text[i : i + 2], deck) for i in range(0, len(text), 2)]


# Nothing fits on anything here, and there is no space.
BLOCKED: Final = "Kc Kd Kh Ks Kc Kd Kh Ks"


def position(
    rules: bank.Rules = SPITEFUL,
    *,
    reserve: tuple[str, str] = ("9c9s", "9d9h"),
    stock: tuple[str, str] = ("2c3c4c", "2d3d4d"),
    waste: tuple[str, str] = ("-", "-"),
    tableau: str = BLOCKED,
    foundations: str = "",
    drawn: str | None = None,
    opening: bool = False,
) -> Position:
    """A position in mid-turn, player 0 to move; tableau piles are separated by spaces, foundations named by their tops.

    Of a suit that `foundations` names twice both copies are built. No two full decks are needed.
    """
    heights = [0] * (COPIES * SUITS)
    for top in foundations.split():
        first = COPIES * oracle.SUITS.index(top[1])
        heights[first + bool(heights[first])] = oracle.RANKS.index(top[0]) + 1
    game = oracle.Game(
        rules=oracle_rules(rules),
        reserve=[pile(text, player) for player, text in enumerate(reserve)],
        stock=[pile(text, player) for player, text in enumerate(stock)],
        waste=[pile(text, player) for player, text in enumerate(waste)],
        tableau=[pile(text, number // 4) for number, text in enumerate(tableau.split())],
        foundations=built(heights),
        drawn=None if drawn is None else oracle.card(drawn, 0),
        opening=opening,
    )
    return Position(rules, game, [0, 0], [False, False])


def actions(notations: str) -> set[int]:
    """Actions from moves in public notation, separated by spaces."""
    return {ACTION_OF[oracle.parse(notation)] for notation in notations.split()}


def notations(numbers: Sequence[int]) -> set[str]:
    """Actions in public notation."""
    return {str(MOVES[action]) for action in numbers}


def in_lanes(positions: Sequence[bank.Table], width: int) -> bank.State:
    """`width` lanes, the first of which hold `positions`; the others are empty. NumPy arrays."""
    count = len(positions)
    lanes: bank.State = jax.tree.map(
        lambda leaf, blank: np.concatenate([leaf, blank[..., count:]], axis=-1),
        bank.FAMILY.to_state(positions),
        bank.FAMILY.empty(width),
    )
    return lanes


def keenness(move: oracle.Move, chance: random.Random) -> tuple[bool, bool, bool, bool, float]:
    """Sorting key of a player who builds the foundations, empties the reserve, places the drawn card and loads."""
    dallies = move.within_tableau and chance.random() < 0.8
    return (move.target == "F", move.source == "R", move.source == "D", not dallies, chance.random())


def played(rules: bank.Rules, seed: int, moves: int) -> Position:
    """A position before a move from an eagerly played game of the oracle, at most `moves` moves after the deal."""
    chance = random.Random(seed)
    now = Position.deal(rules, seed)
    before = now.copy()
    for _ in range(moves):
        useful = [move for move in sorted(now.game.legal_moves()) if now.game.pointless(move) is None]
        now.play(max(useful, key=lambda move: keenness(move, chance)))
        if now.game.result is not None:
            return before
        before = now.copy()
    return now


VARIANTS: Final = (
    *ORDERS.values(),
    dataclasses.replace(SPITEFUL, stalemate_scores=True, reserve_cards=12),
    dataclasses.replace(CRAPETTE, max_turns=0),
)


@functools.cache
def _played(number: int) -> Position:
    seed = 3_000_000 + number
    return played(VARIANTS[number % len(VARIANTS)], seed, random.Random(seed).randrange(400))


def played_positions(count: int) -> list[Position]:
    """Positions from the first 400 moves of games of every order of play and of a few other options.

    All tests share them; a test that plays on does so in a copy.
    """
    return [_played(number) for number in range(count)]
