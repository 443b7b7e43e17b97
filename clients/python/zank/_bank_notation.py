"""The public notation of Russian Bank: `R-F`, `R-T3`, `D-T5`, `T2-F`, `T2-T7`, `T4-OR`, `D-OW`, `TURN`, `END`."""

import re
from dataclasses import dataclass
from typing import Final

from zank.errors import InvalidMove

RESERVE: Final = "R"
DRAWN: Final = "D"
TABLEAU: Final = tuple(f"T{number}" for number in range(1, 9))
FOUNDATION: Final = "F"
OPPONENT_RESERVE: Final = "OR"
OPPONENT_WASTE: Final = "OW"
TURN: Final = "TURN"
END: Final = "END"

_EXPECTED: Final = (
    "expected SOURCE-TARGET, for example R-F (reserve card to its foundation), D-T5 (drawn card to tableau pile 5),"
    " T2-T7, T4-OR (onto the other player's reserve), D-OW (onto the other player's waste), or TURN (turn a stock card)"
    " or END (end the turn)"
)

_SOURCES: Final = (RESERVE, DRAWN, *TABLEAU)
_TARGETS: Final = (FOUNDATION, *TABLEAU, OPPONENT_RESERVE, OPPONENT_WASTE)
_ALONE: Final = (TURN, END)


@dataclass(frozen=True, slots=True)
class BankMove:
    """One move: a card from its place to another, the turning of a stock card (B6), or the end of the turn (B7)."""

    source: str  # RESERVE, DRAWN or one of TABLEAU; or TURN or END
    target: str = ""  # FOUNDATION, one of TABLEAU, OPPONENT_RESERVE or OPPONENT_WASTE; empty after TURN and END

    def __post_init__(self) -> None:
        if self.source in _ALONE:
            if self.target:
                raise InvalidMove(f"{self.source} has no target; expected {self.source} alone")
            return
        _check_pile(self.source)
        if self.source not in _SOURCES:
            raise InvalidMove(
                f"nothing is played from {self.source!r}; expected {RESERVE}, {DRAWN}, or {TABLEAU[0]} to {TABLEAU[-1]}"
                f" (or {TURN} or {END} alone)"
            )
        _check_pile(self.target)
        if self.target not in _TARGETS:
            raise InvalidMove(
                f"nothing is played to {self.target!r}; expected {FOUNDATION}, {TABLEAU[0]} to {TABLEAU[-1]},"
                f" {OPPONENT_RESERVE} or {OPPONENT_WASTE} ({END} throws the drawn card on the own waste)"
            )
        if self.source == self.target:
            raise InvalidMove(f"{self} moves nothing; expected another target than {self.source}")

    def __str__(self) -> str:
        return f"{self.source}-{self.target}" if self.target else self.source


def parse_bank_move(text: str) -> BankMove:
    """The move of Russian Bank written `text`; raises InvalidMove, which says what was expected."""
    written = _upper(text)
    if written in _ALONE:
        return BankMove(written)
    source, separator, target = written.partition("-")
    if not separator or (source in _ALONE and not target):
        raise InvalidMove(f"{text!r} is no move: {_EXPECTED}")
    try:
        return BankMove(source, target)
    except InvalidMove as error:
        raise InvalidMove(f"{text!r} is no move: {error}") from None


def resembles_bank(text: str) -> bool:
    """Whether a text has the source or the target of such a move, also one with a number that is too high."""
    source, _, target = _upper(text).partition("-")
    return bool(re.fullmatch("R|D|W|T[0-9]|TURN|END", source) or re.fullmatch("F[1-8]?|T[0-9]|O[RW]?|W", target))


def _check_pile(place: str) -> None:
    if re.fullmatch("T[0-9]", place) and place not in TABLEAU:
        raise InvalidMove(f"no tableau pile {place}: expected {TABLEAU[0]} to {TABLEAU[-1]}")


def _upper(text: str) -> str:
    return text.upper() if text.isascii() else text  # the capitals of other letters may be ASCII
