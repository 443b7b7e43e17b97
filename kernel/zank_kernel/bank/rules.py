"""Rule sets of Russian Bank: presets as rows of data, options as fields (rules.md, family Russian Bank)."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

# What an order of play compels, and the options that matter in play, as rule bits of `State.rules`; the rule ids are
# those of the presets that have it.
ACES_OPEN: Final = 1 << 0  # S1
RESERVE_TO_FOUNDATION: Final = 1 << 1  # S2, C2
DRAWN_TO_FOUNDATION: Final = 1 << 2  # S3
ANY_TO_FOUNDATION: Final = 1 << 3  # R2, C2
RESERVE_FIRST: Final = 1 << 4  # S4
RESERVE_FILLS_SPACE: Final = 1 << 5  # R3
SPACE_BARS_DRAWN: Final = 1 << 6  # S5: the drawn card is played to a foundation only
SPACE_BARS_THROWING: Final = 1 << 7  # S5: the turn does not end with a drawn card up
SPACE_BARS_TURNING: Final = 1 << 8  # S5, C3: the stock is not turned, nor the turn ended without a drawn card
TABLEAU_TO_FOUNDATION: Final = 1 << 9  # S6: before the stock is turned and before the turn ends
RESERVE_BEFORE_TURNING: Final = 1 << 10  # R4
DRAWN_ALONE: Final = 1 << 11  # R5
STALEMATE_SCORES: Final = 1 << 12  # R6, C5, and S8 where chosen


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule set: a preset's row, or a row with some options changed."""

    preset: str
    description: str
    order: int  # what the order of play compels, as rule bits
    reserve_first: Literal["anywhere", "foundation"] | None = None  # S4; None where the preset has no such option
    stalemate_scores: bool = True  # S8, R6, C5
    reserve_cards: int = 13  # 12 or 13
    max_turns: int = 500  # both players' together; 0 = no limit (B10)
    match_target: int = 0  # points; 0 = none

    @property
    def bits(self) -> int:
        """The order of play and the options that matter in play, as rule bits of `State.rules`."""
        reserve_first = RESERVE_FIRST if self.reserve_first == "anywhere" else 0
        return self.order | reserve_first | (STALEMATE_SCORES if self.stalemate_scores else 0)


PRESETS: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        rules.preset: rules
        for rules in (
            Rules(
                preset="bank-spiteful",
                description="Strict enforcement, reserve first, a coin flip for the first move.",
                order=ACES_OPEN
                | RESERVE_TO_FOUNDATION
                | DRAWN_TO_FOUNDATION
                | SPACE_BARS_DRAWN
                | SPACE_BARS_THROWING
                | SPACE_BARS_TURNING
                | TABLEAU_TO_FOUNDATION,
                reserve_first="anywhere",
                stalemate_scores=False,
            ),
            Rules(
                preset="bank-russian",
                description="Crapette or Zank-Patience: foundations first, houses refilled at once, to 300 points.",
                order=ANY_TO_FOUNDATION | RESERVE_FILLS_SPACE | RESERVE_BEFORE_TURNING | DRAWN_ALONE,
                match_target=300,
            ),
            Rules(
                preset="bank-crapette",
                description="The common table rules: freer turns, the loosest of the three.",
                order=RESERVE_TO_FOUNDATION | ANY_TO_FOUNDATION | SPACE_BARS_TURNING,
            ),
        )
    }
)
