"""Positions of Russian Bank on the host: cards in plain tuples, and their conversion to lanes.

A card is `16 * suit + rank` as in `State`, plus `ORIGIN` times its deck of origin: 1 or 2, or 0 where it is not known.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from zank_kernel.bank.play import ACTIONS, DESTINATIONS, SOURCES, TURN
from zank_kernel.bank.rules import Rules
from zank_kernel.bank.state import COPIES, COUNTED, FOUNDATIONS, RUNNING, SUITS, TABLEAU, State, empty

type Cards = tuple[int, ...]
type Tableau = tuple[Cards, ...]

ORIGIN: Final = 64
FACE: Final = ORIGIN - 1  # what of a card matters in play
RED: Final = (1, 2)  # suits


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """A position before a move, piles bottom first; 0 is a card that is not known. Players are 0 and 1.

    The last card of a stock is turned first. There are two foundations of each suit, suit by suit as in a card.
    """

    rules: Rules
    mover: int
    foundations: tuple[Cards, ...] = ((),) * FOUNDATIONS
    tableau: Tableau = ((),) * TABLEAU
    reserve: tuple[Cards, Cards]
    stock: tuple[Cards, Cards]
    waste: tuple[Cards, Cards] = ((), ())
    drawn: int = 0
    opening: bool = False  # S1
    quiet: tuple[int, int] = (0, 0)  # B10
    turns: int = 0
    shifts: tuple[int, ...] = ()  # B12: the tableau moves since the last other one in this turn, oldest first


def to_state(tables: Sequence[Table]) -> State:
    """Lanes holding `tables`, one each, no move played yet; leaves of the host."""
    state = empty(len(tables))
    lanes = {field.name: np.asarray(getattr(state, field.name)) for field in dataclasses.fields(state)}

    def faces(cards: Cards) -> list[int]:
        return [card & FACE for card in cards]

    for lane, table in enumerate(tables):
        lanes["rules"][lane] = table.rules.bits
        lanes["max_turns"][lane] = table.rules.max_turns
        lanes["mover"][lane] = table.mover
        lanes["ending"][lane] = RUNNING
        for index, pile in enumerate(table.foundations):
            lanes["foundation"][SUITS * (index % COPIES) + index // COPIES, lane] = len(pile)
        lanes["drawn"][lane] = table.drawn & FACE
        lanes["begun"][lane] = sum(2 << pile for pile in begun(table))
        lanes["opening"][lane] = table.opening
        lanes["quiet"][:, lane] = table.quiet
        lanes["turns"][lane] = table.turns
        for index, pile in enumerate([*table.tableau, *table.reserve]):
            lanes["pile"][: len(pile), index, lane] = faces(pile)
            lanes["count"][index, lane] = len(pile)
            lanes["top"][index, lane] = faces(pile)[-1] if pile else 0
        for player in (0, 1):
            stock, waste = faces(table.stock[player]), faces(table.waste[player])
            lanes["pile"][: len(stock) + len(waste), COUNTED + player, lane] = stock[::-1] + waste
            lanes["top"][COUNTED + player, lane] = waste[-1] if waste else 0
            lanes["stock"][player, lane] = len(stock)
            lanes["waste"][player, lane] = len(waste)
    return state


def spread(table: Table) -> int:
    """How far apart two results of a game from here can be (B9), not counting what may still be loaded."""
    return sum(
        30 + len(table.stock[player]) + len(table.waste[player]) + 2 * len(table.reserve[player]) for player in (0, 1)
    )


def representatives(table: Table) -> npt.NDArray[np.int64]:
    """For each action the first action that leads to the same game, int64 [ACTIONS].

    Tableau piles of identical content, spaces among them, are interchangeable (B11).
    """
    piles = [tuple(card & FACE for card in pile) for pile in table.tableau]
    first = np.asarray([piles.index(pile) for pile in piles])
    actions = np.arange(ACTIONS)
    source, destination = actions // DESTINATIONS, actions % DESTINATIONS
    from_pile = (source >= 2) & (source < SOURCES)
    to_pile = (destination >= 1) & (destination <= TABLEAU)
    first_source = np.where(from_pile, 2 + first[(source - 2) % TABLEAU], source)
    first_destination = np.where(to_pile, 1 + first[(destination - 1) % TABLEAU], destination)
    return np.where(actions < TURN, first_source * DESTINATIONS + first_destination, actions)


def pointless(table: Table) -> frozenset[int]:
    """The moves within the tableau that change nothing, or go back to a tableau of before in this turn (B11, B12).

    The order of piles and the decks of cards make no difference. Raises ValueError as `tableaus_seen` does.
    """
    seen = {order_free(tableau) for tableau in tableaus_seen(table)}
    return frozenset(
        (2 + source) * DESTINATIONS + 1 + target
        for source, target in itertools.permutations(range(TABLEAU), 2)
        if table.tableau[source]
        and accepts(table.tableau[target], table.tableau[source][-1])
        and order_free(shifted(table.tableau, source, target)) in seen
    )


def tableaus_seen(table: Table) -> list[Tableau]:
    """The present tableau and those before each of `shifts`, the latest first.

    Raises ValueError where a shift is no move within the tableau, or cannot have been made.
    """
    seen = [table.tableau]
    for action in reversed(table.shifts):
        source, target = action // DESTINATIONS - 2, action % DESTINATIONS - 1
        if not (source in range(TABLEAU) and target in range(TABLEAU) and source != target):
            raise ValueError(f"action {action} is no move within the tableau")
        *below, card = seen[-1][target] or (0,)
        if not card or not accepts(tuple(below), card):
            raise ValueError(f"action {action} cannot have been the last move")
        seen.append(shifted(seen[-1], target, source))
    return seen


def begun(table: Table) -> set[int]:
    """The piles that the tableau moves since the last other one have begun in a space, and not left again (B12)."""
    piles: set[int] = set()
    for action, before in zip(table.shifts, reversed(tableaus_seen(table)[1:]), strict=True):
        source, target = action // DESTINATIONS - 2, action % DESTINATIONS - 1
        if len(before[source]) == 1:
            piles.discard(source)
        if not before[target]:
            piles.add(target)
    return piles


def history(table: Table) -> list[Table]:
    """The positions of this turn that no tableau move must bring back (B12), the latest first."""
    return [dataclasses.replace(table, tableau=tableau, shifts=()) for tableau in tableaus_seen(table)[1:]]


def accepts(pile: Cards, card: int) -> bool:
    """Whether a tableau pile takes a card (B3)."""
    if not pile:
        return True
    top, card = pile[-1] & FACE, card & FACE
    return (card & 15) + 1 == top & 15 and (card >> 4 in RED) != (top >> 4 in RED)


def shifted(tableau: Tableau, source: int, target: int) -> Tableau:
    """The tableau with the top card of one pile on another."""
    piles = list(tableau)
    piles[target] = (*piles[target], piles[source][-1])
    piles[source] = piles[source][:-1]
    return tuple(piles)


def order_free(tableau: Tableau) -> Tableau:
    """A tableau without the order of its piles and the decks of its cards."""
    return tuple(sorted(tuple(card & FACE for card in pile) for pile in tableau))
