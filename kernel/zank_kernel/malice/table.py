"""Positions of Spite & Malice on the host: ranks in plain tuples, and their conversion to lanes."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from zank_kernel.malice.play import ACTIONS, PLAYS
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import CENTERS, KING, QUEEN, RANKS, RUNNING, SIDES, State, empty

type Ranks = tuple[int, ...]

COPIES: Final = 8  # cards of each rank in the two decks


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """A position before a move, in ranks (1 … 13), piles bottom first; 0 is a card that is not known.

    Players are 0 and 1. `stock` may be unknown cards only. `recycled` are the cards shuffled back and not seen
    since, None where they were not recorded.
    """

    rules: Rules
    mover: int
    payoff: tuple[Ranks, Ranks]
    hand: tuple[Ranks, Ranks]
    sides: tuple[tuple[Ranks, ...], tuple[Ranks, ...]]
    centers: tuple[Ranks, ...]
    stock: Ranks
    recycled: Ranks | None = None

    def seen(self) -> Counter[int]:
        """How many cards of each rank are known."""
        zones: list[Iterable[int]] = [*self.payoff, *self.hand, *self.sides[0], *self.sides[1], *self.centers]
        zones.append(self.stock)
        return Counter(rank for zone in zones for rank in zone if rank)


def to_state(tables: Sequence[Table]) -> State:
    """Lanes holding `tables`, one each, nothing drawn and no move played yet; leaves of the host."""
    state = empty(len(tables))
    lanes = {field.name: np.asarray(getattr(state, field.name)) for field in dataclasses.fields(state)}
    for lane, table in enumerate(tables):
        lanes["rules"][lane] = table.rules.bits
        lanes["mover"][lane] = table.mover
        lanes["ending"][lane] = RUNNING
        for player in (0, 1):
            pile = table.payoff[player]
            lanes["payoff"][player, : len(pile), lane] = pile
            lanes["payoff_count"][player, lane] = len(pile)
            hand = table.hand[player]
            lanes["hand"][player, : len(hand), lane] = hand
            for index, side in enumerate(table.sides[player]):
                cards = with_runs(side)
                lanes["side"][: len(side), player * SIDES + index, lane] = cards
                lanes["side_count"][player * SIDES + index, lane] = len(side)
                lanes["side_top"][player * SIDES + index, lane] = cards[-1] if cards else 0
        lanes["height"][:, lane] = -1
        for index, center in enumerate(table.centers):
            lanes["height"][index, lane] = len(center)
            lanes["kings"][index, lane] = sum(1 << h for h, rank in enumerate(center) if rank == KING)
        for rank in table.stock:
            if rank:
                lanes["stock"][rank - 1, lane] += 1
    return state


def from_state(state: State, lane: int, rules: Rules) -> Table:
    """The position in one lane of a state in which nothing is due; the stock is listed in rank order."""

    def of(name: str) -> npt.NDArray[np.int64]:
        return np.asarray(getattr(state, name))[..., lane].astype(np.int64)

    height, kings, payoff, payoff_count = of("height"), of("kings"), of("payoff"), of("payoff_count")
    side, side_count, hand, stock = of("side") & 15, of("side_count"), of("hand"), of("stock")

    def pile(index: int) -> Ranks:
        return tuple(side[: side_count[index], index].tolist())

    return Table(
        rules=rules,
        mover=int(of("mover")),
        payoff=(tuple(payoff[0, : payoff_count[0]].tolist()), tuple(payoff[1, : payoff_count[1]].tolist())),
        hand=(tuple(hand[0][hand[0] > 0].tolist()), tuple(hand[1][hand[1] > 0].tolist())),
        sides=(tuple(pile(index) for index in range(SIDES)), tuple(pile(SIDES + index) for index in range(SIDES))),
        centers=tuple(
            tuple(KING if kings[index] >> place & 1 else place + 1 for place in range(height[index]))
            for index in range(CENTERS)
            if height[index] >= 0
        ),
        stock=tuple(np.repeat(np.arange(1, RANKS + 1), stock).tolist()),
    )


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
    """A side stack as `State.side` holds it: rank + 16 * run of each card, bottom first."""
    cards: list[int] = []
    run = 0
    for below, rank in zip((0, *side), side, strict=False):
        run = run + 1 if below == rank + 1 and rank < QUEEN else 1
        cards.append(rank + 16 * run)
    return cards


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
