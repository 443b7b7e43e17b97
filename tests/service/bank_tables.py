"""Positions of Russian Bank for tests: what is written down, and a place for every card that is not."""

import random
from collections.abc import Iterator
from typing import Final

from tests.oracle.shuffle import DECK
from zank.cards import RANKS, SUITS, parse_card, split_cards
from zank.v1 import BankPlayer, BankTable, Pile, Position, RuleSet

REST: Final = "?"  # as a stock: all cards of the own deck that lie nowhere else, face down
MOST_HIDDEN: Final = 35  # cards in the stock of a deal
DEALT: Final = "12-9h.?."  # a reserve as dealt with a nine on top, a stock that was never turned over
SCATTERED: Final = "Kc.Kd.Kh.Ks.Jc.Jd.Jh.Js"  # nothing fits on anything, there is no space, and no ace is in sight


def partial(
    a: str = DEALT,
    b: str = "12-9s.?.",
    *,
    h: str = SCATTERED,
    f: str = "",
    drawn: str = "",
    rules: str = "bank-russian",
    mover: int = 1,
) -> Position:
    """A position as both players know it.

    `a` and `b` are the players' reserve, stock and waste, `h` the tableau piles T1 to T8, all from bottom to top and
    joined by dots; `f` names the top cards of the foundations ("4h 4h Kc"). Cards that are written nowhere lie in their
    owner's stock, if that is REST, as many as in a deal; else, marked and known, at the bottom of the other player's
    reserve.
    """
    position = Position(
        rule_set=RuleSet(preset=rules),
        player_to_move=mover,
        bank=BankTable(
            players=[
                BankPlayer(reserve=pile(reserve), stock=Pile() if stock == REST else pile(stock), waste=pile(waste))
                for reserve, stock, waste in (text.split(".") for text in (a, b))
            ],
            foundations=foundations(f),
            tableau=map(pile, h.split(".")),
            drawn=drawn,
        ),
    )
    players = position.bank.players
    for number, left in enumerate(_left(position), start=1):
        own, other = players[number - 1], players[2 - number]
        if (a, b)[number - 1].split(".")[1] == REST:
            own.stock.hidden = min(MOST_HIDDEN, len(left) - own.reserve.hidden)
        known = [f"{card}{number}" for card in left[own.reserve.hidden + own.stock.hidden :]]
        other.reserve.cards[:] = [*known, *other.reserve.cards]
    return position


def pile(text: str) -> Pile:
    """A pile: "12-9h", "2h3c", "35-", ""."""
    hidden, _, known = text.rpartition("-")
    return Pile(hidden=int(hidden or 0), cards=split_cards(known, decks=True))


def foundations(tops: str) -> list[Pile]:
    """The eight foundations, built up to these cards; of a suit the first named is the first."""
    piles: list[Pile] = [Pile() for _ in range(8)]
    for top in tops.split():
        first = 2 * SUITS.index(top[1])
        index = first + bool(piles[first].cards)
        piles[index].cards.extend(rank + top[1] for rank in RANKS[: RANKS.index(top[0]) + 1])
    return piles


def full(position: Position) -> Position:
    """The same position with a face for every hidden card, in no order to speak of."""
    given = Position()
    given.CopyFrom(position)
    for number, left in enumerate(_left(position), start=1):
        player = given.bank.players[number - 1]
        faces = random.Random(number).sample(left, len(left))
        for hidden in (player.reserve, player.stock):
            hidden.concealed.extend(faces[: hidden.hidden])
            del faces[: hidden.hidden]
        assert not faces
    return given


def piles(table: BankTable) -> list[Pile]:
    """Every pile of a table."""
    zones = [[player.reserve, player.stock, player.waste] for player in table.players]
    return [*zones[0], *zones[1], *table.foundations, *table.tableau]


def cards(table: BankTable) -> list[str]:
    """Every card whose face is given, with its deck where that is known."""
    given = [card for pile in piles(table) for card in (*pile.concealed, *pile.cards)]
    return [*given, table.drawn] if table.drawn else given


def faces(names: list[str]) -> list[str]:
    """Cards without their decks."""
    return [name[:2] for name in names]


def _left(position: Position) -> tuple[list[str], list[str]]:
    """The cards of either deck that lie nowhere, where those whose deck is not known are of the likelier one."""
    decks = [list(DECK[:52]), list(DECK[:52])]
    known = list(_by_deck(position))
    for card, deck in sorted(known, key=lambda pair: parse_card(pair[0], decks=True).deck == 0):
        face, marked = card[:2], parse_card(card, decks=True).deck
        likely = decks[(marked or deck) - 1]
        (likely if marked or face in likely else decks[2 - deck]).remove(face)
    return decks[0], decks[1]


def _by_deck(position: Position) -> Iterator[tuple[str, int]]:
    """Every known card, with the player whose it would be if everybody kept to the own cards."""
    table = position.bank
    for number, player in enumerate(table.players, start=1):
        for own in (player.reserve, player.stock, player.waste):
            yield from ((card, number) for card in own.cards)
    for index, pile in enumerate(table.foundations):
        yield from ((card, 1 + index % 2) for card in pile.cards)
    for index, pile in enumerate(table.tableau):
        yield from ((card, 1 + index // 4) for card in pile.cards)
    if table.drawn:
        yield table.drawn, position.player_to_move
