"""What can be known of a table of Russian Bank, and the table as the kernel takes it."""

from typing import NamedTuple

from zank.notation import parse_bank_move
from zank.v1 import BankTable, Position
from zank_kernel.bank.rules import Rules
from zank_kernel.bank.table import Table
from zank_service.bank.moves import action
from zank_service.bank.piles import FACES, cards, face, number, numbers, piles, read
from zank_service.family import Revealed
from zank_service.piles import faces_known, lay_open


class Unseen(NamedTuple):
    """Cards that are not known, by the rule that a player's hidden cards are from that player's own deck."""

    own: tuple[frozenset[str], frozenset[str]]  # by player: the cards whose copy from this deck is one of them
    either: frozenset[str]  # the cards of which one copy is, from the one deck or the other
    places: tuple[int, int]  # by player: hidden cards whose face is not given

    def shares(self) -> tuple[int, int]:
        """How many of the cards of `either` are hidden with each player; below 0 where there are too few places."""
        return self.places[0] - len(self.own[0]), self.places[1] - len(self.own[1])


def view(position: Position, player: int) -> Position:
    """What a player (1 or 2) can know, and so what both do: no faces of hidden cards, no shuffles.

    The table need not have been checked.
    """
    known = Position()
    known.CopyFrom(position)
    known.ClearField("shuffle")
    for _, pile in piles(known.bank, ""):
        pile.ClearField("concealed")
    return known


def laid_open(position: Position) -> Position:
    """A position with the faces of all cards that it gives as if they were seen."""
    known = Position()
    known.CopyFrom(position)
    known.ClearField("shuffle")
    for _, pile in piles(known.bank, ""):
        lay_open(pile)
    return known


def table(position: Position, rules: Rules) -> Table:
    """The table in the kernel's numbers; cards whose face is not given are 0."""
    wire = position.bank
    first, second = wire.players
    return Table(
        rules=rules,
        mover=position.player_to_move - 1,
        foundations=tuple(map(numbers, wire.foundations)),
        tableau=tuple(map(numbers, wire.tableau)),
        reserve=(numbers(first.reserve), numbers(second.reserve)),
        stock=(numbers(first.stock), numbers(second.stock)),
        waste=(numbers(first.waste), numbers(second.waste)),
        drawn=number(wire.drawn) if wire.drawn else 0,
        opening=wire.opening,
        quiet=(first.quiet_turns, second.quiet_turns),
        turns=position.turns if rules.max_turns else 0,  # which without a limit may be more than a lane can count
        shifts=tuple(action(parse_bank_move(move)) for move in wire.tableau_moves),
    )


def revealed(before: Position, after: Position, rules: Rules) -> Revealed[Table]:
    """The reserve card (B5) or the stock card (B6) that was turned up."""
    index = before.player_to_move - 1
    was, now = (position.bank.players[index] for position in (before, after))
    if now.reserve.hidden < was.reserve.hidden:
        return Revealed(now.reserve.cards[:1], None)
    if now.stock.hidden < was.stock.hidden:
        return Revealed((after.bank.drawn,), None)
    return Revealed((), None)


def unseen(table: BankTable) -> Unseen:
    """What is not known of a table of which no deck holds a card twice."""
    decks: dict[str, list[int]] = {card: [] for card in FACES}
    for given in cards(table, ""):
        decks[face(given.card)].append(given.deck)

    def of_deck(deck: int) -> frozenset[str]:
        return frozenset(card for card, seen in decks.items() if seen in ([], [3 - deck]))

    places = [
        sum(pile.hidden for pile in (player.reserve, player.stock) if not faces_known(pile)) for player in table.players
    ]
    return Unseen(
        own=(of_deck(1), of_deck(2)),
        either=frozenset(card for card, seen in decks.items() if seen == [0]),
        places=(places[0], places[1]),
    )


def why_not_hidden(table: BankTable, player: int, card: str) -> str | None:
    """Why none of a player's (1 or 2) hidden cards that are not known can be this one; None where one can."""
    if read(card).deck not in (0, player):
        return f"the hidden cards of player {player} are from the own deck"
    left = unseen(table)
    if face(card) in left.own[player - 1]:
        return None
    if face(card) not in left.either:
        return f"the {face(card)} of the deck of player {player} lies elsewhere"
    if not left.shares()[player - 1]:
        return f"the hidden cards of player {player} are all known to be others"
    return None
