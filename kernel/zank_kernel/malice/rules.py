"""Rule sets of Spite & Malice: presets as rows of data, options as fields (proto/rules-malice.md)."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from zank_kernel.malice.state import ENDS_WHEN_SHORT, SHORTER_WINS, SIDE_ENDS_TURN, WILD_STARTS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule set: a preset's row, or a row with some options changed."""

    preset: str
    description: str
    payoff_cards: int = 20  # 1 … 30 cards
    wild_starts_stack: bool = True  # M4
    side_play_ends_turn: bool = False  # M6
    stock_out_when: Literal["emptied", "short"] = "emptied"  # M11
    shorter_payoff_wins: bool = False  # M11: what a dry stock means; a tie otherwise
    scored: bool = True  # M12: whether results are points
    match_target: int = 50  # points; 0 = single games

    @property
    def bits(self) -> int:
        """The options that matter in play, as rule bits of `State.rules`."""
        return (
            WILD_STARTS * self.wild_starts_stack
            + SIDE_ENDS_TURN * self.side_play_ends_turn
            + ENDS_WHEN_SHORT * (self.stock_out_when == "short")
            + SHORTER_WINS * self.shorter_payoff_wins
        )


PRESETS: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        rules.preset: rules
        for rules in (
            Rules(
                preset="malice-match",
                description="The scored online game: a dry stock is a tie, first to 50 points wins the match.",
            ),
            Rules(
                preset="malice-classic",
                description="The table game: single games, a dry stock goes to the shorter payoff pile.",
                wild_starts_stack=False,
                shorter_payoff_wins=True,
                scored=False,
                match_target=0,
            ),
        )
    }
)
