"""Rule sets of Spite & Malice on the wire: checked, completed, and written out."""

import dataclasses
from typing import Final

from zank.v1 import STOCK_OUT_WHEN_EMPTIED, STOCK_OUT_WHEN_SHORT, MaliceOptions, RuleSet, StockOutWhen
from zank_kernel.malice.rules import PRESETS, Rules
from zank_kernel.malice.state import PAYOFF
from zank_service.limits import MAX_MATCH_TARGET
from zank_service.refusals import Violations

_STOCK_OUT_WHEN: Final = {STOCK_OUT_WHEN_EMPTIED: "emptied", STOCK_OUT_WHEN_SHORT: "short"}


def check_options(rule_set: RuleSet, field: str, violations: Violations) -> None:
    """Note every option that is out of its range."""
    options = rule_set.malice
    if options.HasField("payoff_cards") and not 1 <= options.payoff_cards <= PAYOFF:
        violations.add(f"{field}.malice.payoff_cards", f"expected 1 to {PAYOFF}, found {options.payoff_cards}")
    if options.stock_out_when not in StockOutWhen.values():
        expected = ", ".join(StockOutWhen.keys())
        violations.add(f"{field}.malice.stock_out_when", f"expected one of {expected}; found {options.stock_out_when}")
    if options.match_target > MAX_MATCH_TARGET:
        violations.add(
            f"{field}.malice.match_target", f"expected 0 to {MAX_MATCH_TARGET}, found {options.match_target}"
        )


def rules(rule_set: RuleSet) -> Rules:
    """The kernel's rules for a checked rule set, every absent option set to the preset's default."""
    # The options and the fields of Rules have the same names.
    given = {field.name: value for field, value in rule_set.malice.ListFields()}
    if "stock_out_when" in given:
        del given["stock_out_when"]
        if rule_set.malice.stock_out_when in _STOCK_OUT_WHEN:
            given["stock_out_when"] = _STOCK_OUT_WHEN[rule_set.malice.stock_out_when]
    return dataclasses.replace(PRESETS[rule_set.preset], **given)


def defaults(preset: str) -> RuleSet:
    """A preset with every option written out."""
    row = PRESETS[preset]
    (stock_out_when,) = (value for value, name in _STOCK_OUT_WHEN.items() if name == row.stock_out_when)
    options = MaliceOptions(
        payoff_cards=row.payoff_cards,
        wild_starts_stack=row.wild_starts_stack,
        side_play_ends_turn=row.side_play_ends_turn,
        stock_out_when=stock_out_when,
        match_target=row.match_target,
    )
    return RuleSet(preset=preset, malice=options)
