"""A table of Russian Bank in motion: named cards move as the kernel rules, and every step becomes an event."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from zank.cards import SUITS
from zank.notation import DRAWN, FOUNDATION, OPPONENT_RESERVE, OPPONENT_WASTE, RESERVE, TABLEAU, BankMove
from zank.v1 import (
    ApplyMoveResponse,
    BankPlayer,
    Event,
    GameResult,
    Moved,
    Pile,
    Position,
    Slot,
    TurnedUp,
    TurnPassed,
    WasteTurnedOver,
)
from zank_service.bank.check import MOST_TABLEAU_MOVES
from zank_service.bank.knowledge import why_not_hidden
from zank_service.bank.piles import from_deck, read
from zank_service.reveals import Reveals

WASTE: Final = "W"  # as the place of an event


class Game:
    """The position while a move is played, changed in place, and what happened to it.

    Cards that come to light are the position's where it gives them, else those that were revealed; they are from their
    owner's deck.
    """

    def __init__(self, position: Position, reveals: Reveals) -> None:
        self.position = position
        self.reveals = reveals
        self.events: list[Event] = []

    def response(self) -> ApplyMoveResponse:
        """The position and the events, or the slots to be revealed; raises Refusal where one cannot be as revealed."""
        self.reveals.refuse_faults()
        if self.reveals.needed:
            return ApplyMoveResponse(needed=self.reveals.needed)
        return ApplyMoveResponse(position=self.position, events=self.events)

    def note(self, move: BankMove, *, opening: bool, quiet_turns: Sequence[int]) -> None:
        """What a position has to say of a move for the rules to go on (S1, B10, B12)."""
        table = self.position.bank
        table.opening = opening
        for player, quiet in zip(table.players, quiet_turns, strict=True):
            player.quiet_turns = quiet
        if move.source in TABLEAU and move.target in TABLEAU:
            table.tableau_moves.append(str(move))
            del table.tableau_moves[:-MOST_TABLEAU_MOVES]
        else:
            del table.tableau_moves[:]

    def move(self, move: BankMove) -> None:
        """A card goes from its place to another."""
        table = self.position.bank
        if move.source == DRAWN:
            card = table.drawn
            table.drawn = ""
        else:
            pile = self._mover.reserve if move.source == RESERVE else table.tableau[TABLEAU.index(move.source)]
            card = pile.cards.pop()
        self._target(move, card).cards.append(card)
        self._moved(card, move.source, move.target)

    def turn_up(self) -> None:
        """The next reserve card comes to light (B5)."""
        reserve = self._mover.reserve
        if reserve.cards or not reserve.hidden:
            return
        if (card := self._come_to_light(reserve, RESERVE)) is not None:
            reserve.cards.append(card)

    def turn(self) -> None:
        """The top of the stock is turned, after the waste was turned over where there is no stock (B6)."""
        player = self._mover
        if not player.stock.hidden and not player.stock.cards:
            player.stock.cards.extend(reversed(player.waste.cards))
            player.waste.Clear()
            over = WasteTurnedOver(player=self.position.player_to_move, count=len(player.stock.cards))
            self.events.append(Event(waste_turned_over=over))
        if player.stock.cards:
            self.position.bank.drawn = player.stock.cards.pop()
            self._turned_up(DRAWN, self.position.bank.drawn)
        elif (card := self._come_to_light(player.stock, DRAWN)) is not None:
            self.position.bank.drawn = card

    def end_turn(self) -> None:
        """The drawn card, if any, goes to the own waste (B7)."""
        table = self.position.bank
        self.position.turns += 1
        if table.drawn:
            self._mover.waste.cards.append(table.drawn)
            self._moved(table.drawn, DRAWN, WASTE)
            table.drawn = ""

    def pass_turn(self) -> None:
        """The other player is to move."""
        self.position.player_to_move = 3 - self.position.player_to_move
        self.events.append(Event(turn_passed=TurnPassed(player=self.position.player_to_move)))

    def finish(self, result: GameResult) -> None:
        """The game is over."""
        self.position.result.CopyFrom(result)
        self.events.append(Event(game_over=result))

    def _target(self, move: BankMove, card: str) -> Pile:
        """Where a card goes."""
        table = self.position.bank
        other = table.players[2 - self.position.player_to_move]
        if move.target == FOUNDATION:
            first = 2 * SUITS.index(read(card).suit)
            pair = table.foundations[first : first + 2]
            return next(pile for pile in pair if len(pile.cards) == read(card).rank - 1)  # of equal ones the first
        others = {OPPONENT_RESERVE: other.reserve, OPPONENT_WASTE: other.waste}
        return others[move.target] if move.target in others else table.tableau[TABLEAU.index(move.target)]

    def _come_to_light(self, pile: Pile, place: str) -> str | None:
        """The top hidden card of a pile of the player to move, taken off it; None where nobody says which it is."""
        player = self.position.player_to_move
        if pile.concealed:
            found = pile.concealed.pop()
        else:
            why_not = partial(why_not_hidden, self.position.bank, player)
            revealed = self.reveals.card(Slot(player=player, place=place), why_not)
            if revealed is None:
                return None
            found = revealed
        pile.hidden -= 1
        card = from_deck(found, player)
        self._turned_up(place, card)
        return card

    def _moved(self, card: str, origin: str, destination: str) -> None:
        player = self.position.player_to_move
        self.events.append(Event(moved=Moved(player=player, card=card, origin=origin, destination=destination)))

    def _turned_up(self, place: str, card: str) -> None:
        player = self.position.player_to_move
        self.events.append(Event(turned_up=TurnedUp(player=player, place=place, card=card)))

    @property
    def _mover(self) -> BankPlayer:
        return self.position.bank.players[self.position.player_to_move - 1]
