"""Moves of Russian Bank: the public notation and the kernel's actions."""

import dataclasses
from collections.abc import Sequence
from typing import Final

from zank.cards import KING, SUITS, rank_letter
from zank.errors import InvalidMove
from zank.notation import (
    DRAWN,
    END,
    FOUNDATION,
    OPPONENT_RESERVE,
    OPPONENT_WASTE,
    RESERVE,
    TABLEAU,
    TURN,
    BankMove,
    parse_bank_move,
)
from zank.v1 import Pile, Position
from zank_kernel.bank import play
from zank_service.bank.piles import face, read
from zank_service.limits import SHOWN
from zank_service.refusals import Illegal, invalid

RULES: Final = {
    "B1": "The top of the own reserve, the own drawn card and the top of any tableau pile can be moved.",
    "B2": "A foundation takes the ace of its suit, then each next higher card, up to the king.",
    "B3": "A tableau pile takes a card of the other colour and one rank lower than its top; a space takes any.",
    "B4": "The other player's reserve or waste takes a card of the suit of its top, one rank higher or lower.",
    "B6": "A card is turned where no drawn card is up, and stock or waste have one.",
    "B7": "A turn ends with a drawn card up, or with stock and waste empty.",
    "S1": "In the opening turn every ace on top of a tableau pile goes to a foundation before anything else.",
    "S2": "A reserve card that fits a foundation goes there before anything else.",
    "S3": "A drawn card that fits a foundation goes there before anything else.",
    "S4": "A reserve card that fits anywhere is played before anything else.",
    "S5": "A player with a reserve leaves no space open when a card is turned, when the drawn card goes anywhere but to"
    " a foundation, or when the turn ends.",
    "S6": "A player with a reserve plays every tableau card that fits a foundation before a card is turned and before"
    " the turn ends.",
    "R2": "A card that fits a foundation goes there before anything else.",
    "R3": "A player with a reserve puts its card on a space before anything else.",
    "R4": "No card is turned, and no turn ends without a drawn card, as long as the reserve card fits anywhere.",
    "R5": "A drawn card is played if it fits anywhere, else it goes to the waste; no other card moves before.",
    "C2": "A reserve card that fits a foundation goes there before anything else, then any other card that does.",
    "C3": "A player with a reserve fills every space from it before a card is turned, and before the turn ends without"
    " a drawn card.",
}

_SOURCES: Final = (RESERVE, DRAWN, *TABLEAU)  # as the kernel numbers them
_TARGETS: Final = (FOUNDATION, *TABLEAU, OPPONENT_RESERVE, OPPONENT_WASTE)
_ALONE: Final = {TURN: play.TURN, END: play.END}
_NAMES: Final = {action: text for text, action in _ALONE.items()}

_MECHANICS: Final = ("B1", "B2", "B3", "B4", "B6", "B7")
_PLACES: Final = {RESERVE: "the reserve", OPPONENT_RESERVE: "their reserve", OPPONENT_WASTE: "their waste"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """A move, and the kernel's action for it."""

    move: BankMove
    action: int

    @property
    def canonical(self) -> BankMove:
        """The move in canonical notation, of which there is one."""
        return self.move


def choice(position: Position, text: str) -> Choice:
    """The move written `text`, legal or not; raises Refusal where it is no move. It says nothing of the position."""
    try:
        move = parse_bank_move(text[:SHOWN])
    except InvalidMove as error:
        raise invalid("INVALID_MOVE", "move", str(error)) from None
    return Choice(move=move, action=action(move))


def action(move: BankMove) -> int:
    """The kernel's action for a move."""
    if move.source in _ALONE:
        return _ALONE[move.source]
    return play.DESTINATIONS * _SOURCES.index(move.source) + _TARGETS.index(move.target)


def move_name(action: int) -> str:
    """An action in public notation."""
    if action in _NAMES:
        return _NAMES[action]
    source, target = divmod(action, play.DESTINATIONS)
    return f"{_SOURCES[source]}-{_TARGETS[target]}"


def illegal(position: Position, move: BankMove, rule: str, obligatory: Sequence[str]) -> Illegal:
    """The refusal of a move that breaks a rule; `obligatory` are the moves that come first, if any do."""
    found = _found(position, move, rule) if rule in _MECHANICS else f"{' or '.join(obligatory)} comes first"
    return Illegal(str(move), rule, RULES[rule], found, obligatory)


def _found(position: Position, move: BankMove, rule: str) -> str:
    """In which a move breaks a rule of the mechanics."""
    match rule:
        case "B1" if move.source == DRAWN:
            return "no drawn card is up"
        case "B1":
            return f"{_PLACES.get(move.source, move.source)} is empty"
        case "B2":
            card = read(_top(position, move.source))
            pair = position.bank.foundations[2 * SUITS.index(card.suit) :][:2]
            heights = sorted({len(pile.cards) for pile in pair})
            needed = " or ".join(rank_letter(height + 1) + card.suit for height in heights if height < KING)
            return f"the foundations need {needed}, not {card}"
        case "B6":
            return "a drawn card is up" if position.bank.drawn else "stock and waste are empty"
        case "B7":
            return "no drawn card is up, and there are cards to turn"
    place = _PLACES.get(move.target, move.target)
    on_top = _top(position, move.target)
    if not on_top:
        return f"{place} is empty"
    return f"{place}, with {on_top} on top, does not take {_top(position, move.source)}"


def _top(position: Position, place: str) -> str:
    """The card that lies on top of a place of the table, without its deck; empty where none does."""
    table = position.bank
    if place == DRAWN:
        return face(table.drawn)
    own, other = table.players[position.player_to_move - 1], table.players[2 - position.player_to_move]
    piles: dict[str, Pile] = {
        RESERVE: own.reserve,
        OPPONENT_RESERVE: other.reserve,
        OPPONENT_WASTE: other.waste,
        **dict(zip(TABLEAU, table.tableau, strict=True)),
    }
    return face(piles[place].cards[-1]) if piles[place].cards else ""
