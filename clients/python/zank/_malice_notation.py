"""The public notation of Spite & Malice: `P-C2`, `S3-C1`, `7-C2`, `Q-S4`, `7h-C2`."""

import re
from dataclasses import dataclass
from typing import Final

from zank.cards import RANKS, SUITS, WRITTEN_CARD, rank_letter, read_rank
from zank.errors import InvalidMove

SIDE_STACKS: Final = 4
CENTER_STACKS: Final = 3

_EXPECTED: Final = (
    "expected SOURCE-TARGET, for example P-C2 (payoff to center stack 2), S3-C1 (side stack 3 to center stack 1), "
    "7-C2 or 7h-C2 (a seven, the seven of hearts from hand), Q-S4 (discard a queen on side stack 4); a ten is T"
)


@dataclass(frozen=True, slots=True)
class Payoff:
    """The payoff pile, `P`."""

    def __str__(self) -> str:
        return "P"


@dataclass(frozen=True, slots=True)
class HandCard:
    """A card in hand, `7` or `7h`; without a suit it is the first listed card of that rank."""

    rank: int  # 1 (ace) to 13 (king)
    suit: str | None = None  # one of SUITS

    def __post_init__(self) -> None:
        if not 1 <= self.rank <= len(RANKS):
            raise InvalidMove(f"no rank {self.rank}: expected 1 to {len(RANKS)}")
        if self.suit is not None and (len(self.suit) != 1 or self.suit not in SUITS):
            raise InvalidMove(f"no suit {self.suit!r}: expected one of {SUITS}")

    def __str__(self) -> str:
        return rank_letter(self.rank) + (self.suit or "")


@dataclass(frozen=True, slots=True)
class SideStack:
    """One of the mover's own side stacks, `S1` to `S4`."""

    number: int  # 1 to 4

    def __post_init__(self) -> None:
        if not 1 <= self.number <= SIDE_STACKS:
            raise InvalidMove(f"no side stack S{self.number}: expected S1 to S{SIDE_STACKS}")

    def __str__(self) -> str:
        return f"S{self.number}"


@dataclass(frozen=True, slots=True)
class CenterStack:
    """One of the shared center stacks, `C1` to `C3`."""

    number: int  # 1 to 3

    def __post_init__(self) -> None:
        if not 1 <= self.number <= CENTER_STACKS:
            raise InvalidMove(f"no center stack C{self.number}: expected C1 to C{CENTER_STACKS}")

    def __str__(self) -> str:
        return f"C{self.number}"


@dataclass(frozen=True, slots=True)
class MaliceMove:
    """One move: a play to the center (M5), or the discard of a hand card on an own side stack (M6)."""

    source: Payoff | HandCard | SideStack
    target: CenterStack | SideStack

    def __post_init__(self) -> None:
        if isinstance(self.target, SideStack) and not isinstance(self.source, HandCard):
            raise InvalidMove(
                f"{self}: only a card from hand goes to a side stack (M7); from {self.source} expected {self.source}-C1"
                f" to {self.source}-C{CENTER_STACKS}"
            )

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    @property
    def is_discard(self) -> bool:
        """Whether this is a discard (M6)."""
        return isinstance(self.target, SideStack)


def parse_malice_move(text: str) -> MaliceMove:
    """The move of Spite & Malice written `text`; raises InvalidMove, which says what was expected."""
    source, separator, target = text.partition("-")
    if not separator:
        raise InvalidMove(f"{text!r} is no move: {_EXPECTED}")
    try:
        return MaliceMove(_parse_source(source), _parse_target(target))
    except InvalidMove as error:
        raise InvalidMove(f"{text!r} is no move: {error}") from None


def resembles_malice(text: str) -> bool:
    """Whether a text has the source or the target of such a move, also one with a number that is too high."""
    source, _, target = text.partition("-")
    return bool(_match(f"P|S[0-9]|{WRITTEN_CARD}?", source) or _match("[CS][0-9]", target))


def _parse_source(text: str) -> Payoff | HandCard | SideStack:
    if _match("P", text):
        return Payoff()
    if side := _match("S([0-9])", text):
        return SideStack(int(side[1]))
    if card := _match(f"{WRITTEN_CARD}?", text):
        return HandCard(read_rank(card[1]), card[2] and card[2].lower())
    raise InvalidMove(
        f"nothing is played from {text!r}; expected P, S1 to S{SIDE_STACKS}, or a card in hand: a rank ({RANKS}, a ten"
        f" is T) and, where it matters, a suit ({SUITS})"
    )


def _parse_target(text: str) -> CenterStack | SideStack:
    if center := _match("C([0-9])", text):
        return CenterStack(int(center[1]))
    if side := _match("S([0-9])", text):
        return SideStack(int(side[1]))
    raise InvalidMove(f"nothing is played to {text!r}; expected C1 to C{CENTER_STACKS} or S1 to S{SIDE_STACKS}")


def _match(pattern: str, text: str) -> re.Match[str] | None:
    return re.fullmatch(pattern, text, re.ASCII | re.IGNORECASE)
