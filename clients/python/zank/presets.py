"""The presets and the defaults of their options: which rule sets are the same, and what a text form may leave out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from zank.errors import InvalidRuleSet
from zank.v1 import STOCK_OUT_WHEN_EMPTIED, MaliceOptions, RuleSet, StockOutWhen


@dataclass(frozen=True, kw_only=True, slots=True)
class MaliceDefaults:
    """Defaults of the options of a Spite & Malice preset; fields as in `zank.v1.MaliceOptions`."""

    payoff_cards: int = 20
    wild_starts_stack: bool
    side_play_ends_turn: bool = False
    stock_out_when: StockOutWhen.ValueType = STOCK_OUT_WHEN_EMPTIED
    match_target: int

    def options(self) -> MaliceOptions:
        """Every option, set to its default."""
        return MaliceOptions(
            payoff_cards=self.payoff_cards,
            wild_starts_stack=self.wild_starts_stack,
            side_play_ends_turn=self.side_play_ends_turn,
            stock_out_when=self.stock_out_when,
            match_target=self.match_target,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A preset as a client needs to know it."""

    scored: bool  # whether a game is worth points, rather than only a margin in payoff cards
    defaults: MaliceDefaults


PRESETS: Final[Mapping[str, Preset]] = {
    "malice-match": Preset(scored=True, defaults=MaliceDefaults(wild_starts_stack=True, match_target=50)),
    "malice-classic": Preset(scored=False, defaults=MaliceDefaults(wild_starts_stack=False, match_target=0)),
}


def preset(name: str) -> Preset:
    """The preset of that name; raises InvalidRuleSet."""
    if name not in PRESETS:
        raise InvalidRuleSet(f"unknown preset {name!r}: expected {' or '.join(PRESETS)}")
    return PRESETS[name]


def complete_options(rule_set: RuleSet) -> MaliceOptions:
    """The options of a rule set, every absent one set to its default; raises InvalidRuleSet."""
    options = preset(rule_set.preset).defaults.options()
    given = MaliceOptions()
    given.CopyFrom(rule_set.malice)
    if not given.stock_out_when:
        given.ClearField("stock_out_when")  # unspecified is the default, too
    options.MergeFrom(given)
    return options


def canonical_rule_set(rule_set: RuleSet) -> RuleSet:
    """The same rule set with only the options that differ from the preset's defaults; raises InvalidRuleSet."""
    options = complete_options(rule_set)
    defaults = preset(rule_set.preset).defaults.options()
    differing = MaliceOptions()
    for field, value in options.ListFields():
        if value != getattr(defaults, field.name):
            setattr(differing, field.name, value)
    canonical = RuleSet(preset=rule_set.preset)
    if differing.ListFields():
        canonical.malice.CopyFrom(differing)
    return canonical
