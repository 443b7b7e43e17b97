"""Rule sets of Russian Bank on the wire: checked, completed, and written out."""

import dataclasses
from typing import Any, Final, Literal

from zank.v1 import (
    RESERVE_FIRST_ANYWHERE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    BankOptions,
    ReserveFirst,
    RuleSet,
    StalemateScoring,
)
from zank_kernel.bank.rules import PRESETS, Rules
from zank_service.limits import MAX_MATCH_TARGET
from zank_service.refusals import Violations

RESERVE_CARDS: Final = (12, 13)
MAX_TURNS: Final = 30_000

_RESERVE_FIRST: Final[dict[ReserveFirst.ValueType, Literal["anywhere", "foundation"]]] = {
    RESERVE_FIRST_ANYWHERE: "anywhere",
    RESERVE_FIRST_FOUNDATION: "foundation",
}
_STALEMATE_SCORES: Final[dict[StalemateScoring.ValueType, bool]] = {
    STALEMATE_SCORING_NONE: False,
    STALEMATE_SCORING_DIFFERENCE: True,
}


def check_options(rule_set: RuleSet, field: str, violations: Violations) -> None:
    """Note every option that is out of its range, or that the preset does not have."""
    options, path = rule_set.bank, f"{field}.bank"
    if options.HasField("reserve_cards") and options.reserve_cards not in RESERVE_CARDS:
        expected = " or ".join(map(str, RESERVE_CARDS))
        violations.add(f"{path}.reserve_cards", f"expected {expected}, found {options.reserve_cards}")
    for name, found, most in (
        ("max_turns", options.max_turns, MAX_TURNS),
        ("match_target", options.match_target, MAX_MATCH_TARGET),
    ):
        if found > most:
            violations.add(f"{path}.{name}", f"expected 0 to {most}, found {found}")
    row = PRESETS[rule_set.preset]
    # A preset without the option still scores its stalemates in one of the two ways, and may be told so.
    scoring = () if row.reserve_first else (0, _scoring(row))
    for name, found, names, fixed in (
        ("reserve_first", options.reserve_first, ReserveFirst, () if row.reserve_first else (0,)),
        ("stalemate_scoring", options.stalemate_scoring, StalemateScoring, scoring),
    ):
        if found not in names.values():
            violations.add(f"{path}.{name}", f"expected one of {', '.join(names.keys())}; found {found}")
        elif fixed and found not in fixed:
            violations.add(f"{path}.{name}", f"expected none: it is no option of {rule_set.preset}; found {found}")


def rules(rule_set: RuleSet) -> Rules:
    """The kernel's rules for a checked rule set, every absent option set to the preset's default."""
    # The other options and the fields of Rules have the same names.
    given: dict[str, Any] = {field.name: value for field, value in rule_set.bank.ListFields()}
    if reserve_first := given.pop("reserve_first", 0):
        given["reserve_first"] = _RESERVE_FIRST[reserve_first]
    if scoring := given.pop("stalemate_scoring", 0):
        given["stalemate_scores"] = _STALEMATE_SCORES[scoring]
    return dataclasses.replace(PRESETS[rule_set.preset], **given)


def defaults(preset: str) -> RuleSet:
    """A preset with every option that it has written out, and how it scores stalemates."""
    row = PRESETS[preset]
    options = BankOptions(
        reserve_cards=row.reserve_cards,
        stalemate_scoring=_scoring(row),
        max_turns=row.max_turns,
        match_target=row.match_target,
    )
    if row.reserve_first is not None:
        (options.reserve_first,) = (value for value, name in _RESERVE_FIRST.items() if name == row.reserve_first)
    return RuleSet(preset=preset, bank=options)


def _scoring(row: Rules) -> StalemateScoring.ValueType:
    return STALEMATE_SCORING_DIFFERENCE if row.stalemate_scores else STALEMATE_SCORING_NONE
