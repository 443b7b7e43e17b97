"""Moves in the public notation of either family; no text is a move of both."""

from typing import Final

from zank._bank_notation import (
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
    resembles_bank,
)
from zank._malice_notation import (
    CENTER_STACKS,
    SIDE_STACKS,
    CenterStack,
    HandCard,
    MaliceMove,
    Payoff,
    SideStack,
    parse_malice_move,
    resembles_malice,
)
from zank.errors import InvalidMove

__all__ = [
    "CENTER_STACKS",
    "DRAWN",
    "END",
    "FOUNDATION",
    "OPPONENT_RESERVE",
    "OPPONENT_WASTE",
    "RESERVE",
    "SIDE_STACKS",
    "TABLEAU",
    "TURN",
    "BankMove",
    "CenterStack",
    "HandCard",
    "MaliceMove",
    "Move",
    "Payoff",
    "SideStack",
    "format_move",
    "parse_bank_move",
    "parse_malice_move",
    "parse_move",
]

Move = MaliceMove | BankMove

_EXPECTED: Final = (
    "expected SOURCE-TARGET, for example P-C2, S3-C1, 7-C2 or Q-S4 in Spite & Malice (a ten is T), R-F, D-T5, T2-T7,"
    " T4-OR or D-OW in Russian Bank, or there TURN or END"
)


def parse_move(text: str) -> Move:
    """The move written `text`; raises InvalidMove, which says what was expected.

    What people write is read as well as the public notation: either case, and "10" for a ten.
    """
    malice, bank = resembles_malice(text), resembles_bank(text)
    if malice and not bank:
        return parse_malice_move(text)
    if bank and not malice:
        return parse_bank_move(text)
    raise InvalidMove(f"{text!r} is no move: {_EXPECTED}")


def format_move(move: Move) -> str:
    """The public notation of a move."""
    return str(move)
