"""What can be known of a table of Spite & Malice, and the table as the kernel takes it."""

import dataclasses
from collections import Counter
from typing import Final

from zank.cards import RANKS, SUITS
from zank.v1 import MalicePlayer, MaliceTable, Pile, Position
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.table import Ranks, Table
from zank_service.family import Revealed
from zank_service.malice.piles import piles, rank, ranks
from zank_service.pile_checks import COPIES
from zank_service.piles import faces, faces_known, lay_open, size

_DECKS: Final = Counter({rank + suit: COPIES for suit in SUITS for rank in RANKS})


def view(position: Position, player: int) -> Position:
    """What a player (1 or 2) can know: no faces of hidden cards, nothing of the other hand, no shuffles.

    The table need not have been checked.
    """
    known = Position()
    known.CopyFrom(position)
    known.ClearField("shuffle")
    for other in known.malice.players[2 - player :][:1]:
        other.hand.CopyFrom(Pile(hidden=size(other.hand)))
    for _, pile in piles(known.malice, ""):
        pile.ClearField("concealed")
    return known


def laid_open(position: Position) -> Position:
    """A position with the faces of all cards that it gives, but for the order of the stock, as if they were seen."""
    known = Position()
    known.CopyFrom(position)
    known.ClearField("shuffle")
    known.malice.stock.ClearField("concealed")
    for _, pile in piles(known.malice, ""):
        lay_open(pile)
    return known


def table(position: Position, rules: Rules) -> Table:
    """The table in ranks; cards whose face is not given are 0, so a masked position becomes a masked table."""
    wire = position.malice
    first, second = wire.players
    mover = position.player_to_move - 1
    recycled = None
    if wire.HasField("recycled"):
        # Of the recycled cards, those in a hand that is seen are not in the stock or a hidden hand.
        unseen = Counter(wire.recycled.cards) - Counter((*first.hand.cards, *second.hand.cards))
        recycled = tuple(sorted(map(rank, unseen.elements())))
    return Table(
        rules=rules,
        mover=mover,
        payoff=(ranks(first.payoff), ranks(second.payoff)),
        hand=(_held(first.hand), _held(second.hand)),
        sides=(tuple(map(ranks, first.sides)), tuple(map(ranks, second.sides))),
        centers=tuple(map(ranks, wire.centers)),
        stock=ranks(wire.stock),
        recycled=recycled,
    )


def revealed(before: Position, after: Position, rules: Rules) -> Revealed[Table]:
    """The payoff card turned up (M5) or the cards drawn (M2, M8) by the player who is to move after a move."""
    index = after.player_to_move - 1
    was, now = (position.malice.players[index] for position in (before, after))
    turn_began = before.player_to_move != after.player_to_move
    if now.payoff.hidden < was.payoff.hidden:
        return Revealed(now.payoff.cards[-1:], None)
    from_hand = not turn_began and _on_table(was) == _on_table(now)
    kept = len(was.hand.cards) - from_hand  # cards drawn are listed behind them
    cards = tuple(now.hand.cards[kept:])
    if not (cards and turn_began):
        return Revealed(cards, None)
    known = Position()
    known.CopyFrom(after)
    del known.malice.players[index].hand.cards[kept:]
    known.malice.stock.hidden += len(cards)
    return Revealed(cards, dataclasses.replace(table(known, rules), due=True))


def recycled_left(table: MaliceTable) -> Counter[str]:
    """Recycled cards (M9) that are not among the known ones of hands and stock: they lie there face down."""
    known = Counter(card for pile in _drawn_from(table) for card in faces(pile))
    return Counter(table.recycled.cards) - known


def room_left(table: MaliceTable) -> int:
    """How many cards of the stock and of hands are not known."""
    return sum(pile.hidden for pile in _drawn_from(table) if not faces_known(pile))


def why_not_drawn(table: MaliceTable, card: str) -> str | None:
    """Why no card that is not known of the stock or of a hand can be this one; None where one can."""
    recycled = recycled_left(table)
    if not _left(table)[card]:
        return f"both copies of {card} lie elsewhere"
    if not recycled[card] and recycled.total() >= room_left(table):
        return "all cards hidden in the stock and in hands were recycled, this one was not"
    return None


def why_not_payoff(table: MaliceTable, card: str) -> str | None:
    """Why no hidden payoff card can be this one; None where one can."""
    left = _left(table)[card]
    if not left:
        return f"both copies of {card} lie elsewhere"
    if left <= recycled_left(table)[card]:
        return f"every copy of {card} that is not seen elsewhere was recycled"
    return None


def _on_table(player: MalicePlayer) -> int:
    """How many cards a player has on the table."""
    return sum(map(size, (player.payoff, *player.sides)))


def _left(table: MaliceTable) -> Counter[str]:
    """Cards whose place is not known."""
    return _DECKS - Counter(card for _, pile in piles(table, "") for card in faces(pile))


def _drawn_from(table: MaliceTable) -> list[Pile]:
    """The piles in which recycled cards can be, unseen by one of the players at least."""
    return [table.stock, *(player.hand for player in table.players)]


def _held(hand: Pile) -> Ranks:
    """Ranks of a hand, the known cards first: a card that stands in for a hidden one must not be listed before them."""
    return (*map(rank, hand.cards), *ranks(Pile(hidden=hand.hidden, concealed=hand.concealed)))
