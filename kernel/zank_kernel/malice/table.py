"""Positions of Spite & Malice on the host: ranks in plain tuples, and their conversion to lanes."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from zank_kernel.malice.play import ACTIONS, PLAYS
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import CENTERS, HAND, KING, PILES, QUEEN, RANKS, RUNNING, SIDES, State, empty

type Ranks = tuple[int, ...]

COPIES: Final = 8  # cards of each rank in the two decks


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """A position before a move, in ranks (1 … 13), piles bottom first; 0 is a card that is not known.

    Players are 0 and 1. `stock` may be unknown cards only. `recycled` are the cards shuffled back and not seen
    since, None where they were not recorded. `due`: the mover has still to draw up to five cards (M2, M8).
    """

    rules: Rules
    mover: int
    payoff: tuple[Ranks, Ranks]
    hand: tuple[Ranks, Ranks]
    sides: tuple[tuple[Ranks, ...], tuple[Ranks, ...]]
    centers: tuple[Ranks, ...]
    stock: Ranks
    recycled: Ranks | None = None
    due: bool = False

    def seen(self) -> Counter[int]:
        """How many cards of each rank are known."""
        zones: list[Iterable[int]] = [*self.payoff, *self.hand, *self.sides[0], *self.sides[1], *self.centers]
        zones.append(self.stock)
        return Counter(rank for zone in zones for rank in zone if rank)


def to_state(tables: Sequence[Table]) -> State:
    """Lanes holding `tables`, one each, no move played yet; leaves of the host."""
    state = empty(len(tables))
    lanes = {field.name: np.asarray(getattr(state, field.name)) for field in dataclasses.fields(state)}
    for lane, table in enumerate(tables):
        lanes["rules"][lane] = table.rules.bits
        lanes["mover"][lane] = table.mover
        lanes["ending"][lane] = RUNNING
        lanes["due"][lane] = table.due
        for player in (0, 1):
            lanes["hand"][player * HAND : player * HAND + len(table.hand[player]), lane] = bits(table.hand[player])
            payoff = bits(table.payoff[player])
            for index, pile in enumerate([payoff, *map(with_runs, table.sides[player])], player * PILES):
                lanes["pile"][1 : 1 + len(pile), index, lane] = pile
                lanes["count"][index, lane] = len(pile)
                lanes["top"][index, lane] = pile[-1] if pile else 0
        for index, center in enumerate(table.centers):
            lanes["needed"][index, lane] = 2 << len(center)
            lanes["kings"][index, lane] = sum(1 << h for h, rank in enumerate(center) if rank == KING)
        counts = np.bincount([rank for rank in table.stock if rank], minlength=RANKS + 1)
        lanes["stock"][:, lane] = np.cumsum(counts[1:])
    return state


def from_state(state: State, lane: int, rules: Rules) -> Table:
    """The position in one lane of a state in which nothing is due; the stock is listed in rank order."""

    def of(name: str) -> npt.NDArray[np.int64]:
        return np.asarray(getattr(state, name))[..., lane].astype(np.int64)

    count, needed, kings, hand = of("count"), of("needed"), of("kings"), ranks(of("hand"))
    piles, heights = ranks(of("pile")), ranks(needed) - 1

    def cards(player: int) -> list[Ranks]:
        own = range(player * PILES, (player + 1) * PILES)
        return [tuple(piles[1 : 1 + count[index], index].tolist()) for index in own]

    (first_payoff, *first_sides), (second_payoff, *second_sides) = cards(0), cards(1)
    return Table(
        rules=rules,
        mover=int(of("mover")),
        payoff=(first_payoff, second_payoff),
        hand=(tuple(hand[:HAND][hand[:HAND] > 0].tolist()), tuple(hand[HAND:][hand[HAND:] > 0].tolist())),
        sides=(tuple(first_sides), tuple(second_sides)),
        centers=tuple(
            tuple(KING if kings[index] >> place & 1 else place + 1 for place in range(heights[index]))
            for index in range(CENTERS)
            if needed[index]
        ),
        stock=tuple(np.repeat(np.arange(1, RANKS + 1), np.diff(of("stock"), prepend=0)).tolist()),
    )


def bits(cards: Iterable[int]) -> list[int]:
    """The bits of cards as `State` has them, by their ranks; 0 for a card that is not known."""
    return [1 << rank if rank else 0 for rank in cards]


def ranks(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rank of the lowest bit of each word, 0 where there is none."""
    return np.where(words == 0, 0, np.bitwise_count((words & -words) - 1).astype(np.int64))


def masked(table: Table) -> Table:
    """What the mover can know of a position: the other hand, the stock and payoff cards below the tops become 0.

    Recycled cards that came to the mover's own hand are seen, and recycled no more.
    """

    def top_only(pile: Ranks) -> Ranks:
        return (*(0 for _ in pile[:-1]), *pile[-1:])

    other = tuple(0 for _ in table.hand[1 - table.mover])
    own = table.hand[table.mover]
    return dataclasses.replace(
        table,
        payoff=(top_only(table.payoff[0]), top_only(table.payoff[1])),
        hand=(own, other) if table.mover == 0 else (other, own),
        stock=tuple(0 for _ in table.stock),
        recycled=None if table.recycled is None else tuple((Counter(table.recycled) - Counter(own)).elements()),
    )


def with_runs(side: Ranks) -> list[int]:
    """A side stack as `State.pile` holds it: the run of each card, bottom first."""
    runs: list[int] = []
    for below, rank in zip((0, *side), side, strict=False):
        longer = bool(runs) and below == rank + 1 and rank < QUEEN
        runs.append((runs[-1] if longer else 0) | 1 << rank)
    return runs


def stand_in(table: Table) -> Table:
    """The same position with some rank for every hidden card of a hand or the stock: only their number matters then."""

    def filled(pile: Ranks) -> Ranks:
        return tuple(rank or 1 for rank in pile)

    first, second = table.hand
    return dataclasses.replace(table, hand=(filled(first), filled(second)), stock=filled(table.stock))


def representatives(table: Table) -> npt.NDArray[np.int64]:
    """For each action the first action that leads to the same game, int64 [ACTIONS].

    Center stacks of identical content and the mover's side stacks of identical content are interchangeable. Center
    stacks of equal height but with other kings are not: the stock gets other cards back from them (M9).
    """
    centers = list(table.centers)
    center = [centers.index(pile) for pile in centers] + list(range(len(centers), CENTERS))
    sides = list(table.sides[table.mover])
    side = [sides.index(pile) for pile in sides]
    actions = np.arange(ACTIONS)
    source, target = actions // 4, actions % 4
    first_source = np.where((source >= 1) & (source <= SIDES), 1 + np.asarray(side)[(source - 1) % SIDES], source)
    first_target = np.where(actions < PLAYS, np.asarray(center)[target], np.asarray(side)[target])
    return first_source * 4 + first_target


def spread(table: Table) -> int:
    """How far apart two results of a game from here can be: all of one payoff pile won, or of the other lost (M12)."""
    return sum(len(pile) for pile in table.payoff)


def unseen(table: Table) -> npt.NDArray[np.int16]:
    """Cards of each rank that are not known, int16 [RANKS]."""
    seen = table.seen()
    return np.asarray([COPIES - seen[rank] for rank in range(1, RANKS + 1)], np.int16)
