"""The presets and the defaults of their options: which rule sets are the same, and what a text form may leave out."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from zank.errors import InvalidRuleSet
from zank.v1 import (
    RESERVE_FIRST_ANYWHERE,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    STOCK_OUT_WHEN_EMPTIED,
    BankOptions,
    MaliceOptions,
    ReserveFirst,
    RuleSet,
    StalemateScoring,
    StockOutWhen,
)

type Family = Literal["malice", "bank"]  # as the fields of `zank.v1.RuleSet` and `zank.v1.Position` are named
type Options = MaliceOptions | BankOptions

FAMILY_NAMES: Final[Mapping[Family, str]] = {"malice": "Spite & Malice", "bank": "Russian Bank"}


@dataclass(frozen=True, kw_only=True, slots=True)
class MaliceDefaults:
    """Defaults of the options of a Spite & Malice preset; fields as in `zank.v1.MaliceOptions`."""

    family: ClassVar[Family] = "malice"

    payoff_cards: int = 20
    wild_starts_stack: bool
    side_play_ends_turn: bool = False
    stock_out_when: StockOutWhen.ValueType = STOCK_OUT_WHEN_EMPTIED
    match_target: int

    def options(self) -> MaliceOptions:
        """Every option, set to its default."""
        return MaliceOptions(**dataclasses.asdict(self))


@dataclass(frozen=True, kw_only=True, slots=True)
class BankDefaults:
    """Defaults of the options of a Russian Bank preset; fields as in `zank.v1.BankOptions`."""

    family: ClassVar[Family] = "bank"

    reserve_cards: int = 13
    reserve_first: ReserveFirst.ValueType | None = None  # None: the preset has nothing of the kind
    stalemate_scoring: StalemateScoring.ValueType = STALEMATE_SCORING_DIFFERENCE
    max_turns: int = 500
    match_target: int = 0

    def options(self) -> BankOptions:
        """Every option that the preset has, set to its default."""
        return BankOptions(**dataclasses.asdict(self))


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A preset as a client needs to know it."""

    scored: bool  # whether a game is worth points, rather than only a margin in payoff cards
    defaults: MaliceDefaults | BankDefaults
    fixed: frozenset[str] = frozenset()  # options of the family that this preset does not let one choose

    @property
    def family(self) -> Family:
        """The family of games that it belongs to."""
        return self.defaults.family


_SPITEFUL_ONLY: Final = frozenset({"reserve_first", "stalemate_scoring"})

PRESETS: Final[Mapping[str, Preset]] = {
    "malice-match": Preset(scored=True, defaults=MaliceDefaults(wild_starts_stack=True, match_target=50)),
    "malice-classic": Preset(scored=False, defaults=MaliceDefaults(wild_starts_stack=False, match_target=0)),
    "bank-spiteful": Preset(
        scored=True,
        defaults=BankDefaults(reserve_first=RESERVE_FIRST_ANYWHERE, stalemate_scoring=STALEMATE_SCORING_NONE),
    ),
    "bank-russian": Preset(scored=True, defaults=BankDefaults(match_target=300), fixed=_SPITEFUL_ONLY),
    "bank-crapette": Preset(scored=True, defaults=BankDefaults(), fixed=_SPITEFUL_ONLY),
}


def preset(name: str) -> Preset:
    """The preset of that name; raises InvalidRuleSet."""
    if name not in PRESETS:
        raise InvalidRuleSet(f"unknown preset {name!r}: expected {' or '.join(PRESETS)}")
    return PRESETS[name]


def complete_rule_set(rule_set: RuleSet) -> RuleSet:
    """The same rule set with every option set, absent ones to the preset's defaults; raises InvalidRuleSet."""
    row = preset(rule_set.preset)
    given = rule_set.WhichOneof("options")
    if given not in (None, row.family):
        raise InvalidRuleSet(
            f"{rule_set.preset} is a preset of {FAMILY_NAMES[row.family]}: expected its options ({row.family}), found"
            f" those of {FAMILY_NAMES[given]} ({given})"
        )
    defaults = row.defaults.options()
    complete = RuleSet(preset=rule_set.preset)
    options = options_of(complete, row.family)
    for field, value in (*defaults.ListFields(), *options_of(rule_set, row.family).ListFields()):
        if field.enum_type and not value:
            continue  # unspecified is the default, too
        if field.name in row.fixed and value != getattr(defaults, field.name):
            raise InvalidRuleSet(f"{field.name} is no option of {rule_set.preset}")
        setattr(options, field.name, value)
    return complete


def canonical_rule_set(rule_set: RuleSet) -> RuleSet:
    """The same rule set with only the options that differ from the preset's defaults; raises InvalidRuleSet."""
    row = preset(rule_set.preset)
    defaults = row.defaults.options()
    canonical = RuleSet(preset=rule_set.preset)
    for field, value in options_of(complete_rule_set(rule_set), row.family).ListFields():
        if value != getattr(defaults, field.name):
            setattr(options_of(canonical, row.family), field.name, value)
    return canonical


def options_of(rule_set: RuleSet, family: Family) -> Options:
    """The options of a rule set, as a part of it that can be written to."""
    return rule_set.malice if family == "malice" else rule_set.bank
