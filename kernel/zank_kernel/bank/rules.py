"""Rule sets of Russian Bank: presets as rows of data, options as fields (proto/rules-bank.md)."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

# What an order of play compels, as rule bits of `State.rules`, in the order in which it is tried. Obligation number n
# is bit n - 1. The first seven leave nothing else legal; the others only come before certain moves.
ACES_OPEN: Final = 1 << 0  # the aces on the tableau, in the opening turn
RESERVE_TO_FOUNDATION: Final = 1 << 1
DRAWN_TO_FOUNDATION: Final = 1 << 2
ANY_TO_FOUNDATION: Final = 1 << 3
RESERVE_FIRST: Final = 1 << 4  # the reserve card, wherever it can go
RESERVE_FILLS_SPACE: Final = 1 << 5
DRAWN_ALONE: Final = 1 << 6  # the drawn card, to the waste only where it can go nowhere else
SPACES_FILLED: Final = 1 << 7  # before the stock is turned, the drawn card joins the tableau or loads, the turn ends
TABLEAU_TO_FOUNDATION: Final = 1 << 8  # before the stock is turned and before the turn ends
RESERVE_BEFORE_TURNING: Final = 1 << 9  # before the stock is turned, or the turn ends without a drawn card
SPACES_FILLED_BY_RESERVE: Final = 1 << 10  # likewise
OBLIGATIONS: Final = 11

STALEMATE_SCORES: Final = 1 << OBLIGATIONS  # the option that matters in play besides


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule set: a preset's row, or a row with some options changed."""

    preset: str
    description: str
    order: tuple[tuple[int, str], ...]  # what the order of play compels: rule bits, each with the rule that says so
    reserve_first: Literal["anywhere", "foundation"] | None = None  # S4; None where the preset has no such option
    stalemate_scores: bool = True  # S8, R6, C5
    reserve_cards: int = 13  # 12 or 13
    max_turns: int = 500  # both players' together; 0 = no limit (B10)
    match_target: int = 0  # points; 0 = none

    @property
    def bits(self) -> int:
        """The order of play and the options that matter in play, as rule bits of `State.rules`."""
        compelled = sum(bit for bit, _ in self.order if bit != RESERVE_FIRST or self.reserve_first == "anywhere")
        return compelled | (STALEMATE_SCORES if self.stalemate_scores else 0)

    def rule_id(self, barred: int) -> str:
        """The rule that bars a move, from what `play.rulings` says of it; KeyError for a legal one."""
        return f"B{-barred}" if barred < 0 else {bit.bit_length(): rule for bit, rule in self.order}[barred]


PRESETS: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        rules.preset: rules
        for rules in (
            Rules(
                preset="bank-spiteful",
                description="Strict enforcement, reserve first, a coin flip for the first move.",
                order=(
                    (ACES_OPEN, "S1"),
                    (RESERVE_TO_FOUNDATION, "S2"),
                    (DRAWN_TO_FOUNDATION, "S3"),
                    (RESERVE_FIRST, "S4"),
                    (SPACES_FILLED, "S5"),
                    (TABLEAU_TO_FOUNDATION, "S6"),
                ),
                reserve_first="anywhere",
                stalemate_scores=False,
            ),
            Rules(
                preset="bank-russian",
                description="Crapette or Zank-Patience: foundations first, houses refilled at once, to 300 points.",
                order=(
                    (ANY_TO_FOUNDATION, "R2"),
                    (RESERVE_FILLS_SPACE, "R3"),
                    (RESERVE_BEFORE_TURNING, "R4"),
                    (DRAWN_ALONE, "R5"),
                ),
                match_target=300,
            ),
            Rules(
                preset="bank-crapette",
                description="The common table rules: freer turns, the loosest of the three.",
                order=((RESERVE_TO_FOUNDATION, "C2"), (ANY_TO_FOUNDATION, "C2"), (SPACES_FILLED_BY_RESERVE, "C3")),
            ),
        )
    }
)
