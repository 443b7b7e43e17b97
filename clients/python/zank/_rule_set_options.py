"""The options of the `zank deal` command that say a rule set, and the rule set that they say."""

from collections.abc import Callable, Mapping
from typing import Final

import click

from zank.presets import FAMILY_NAMES, PRESETS, options_of
from zank.v1 import (
    RESERVE_FIRST_ANYWHERE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_SHORT,
    RuleSet,
)

_CHOICES: Final[Mapping[str, Mapping[str, int]]] = {
    "stock_out_when": {"emptied": STOCK_OUT_WHEN_EMPTIED, "short": STOCK_OUT_WHEN_SHORT},
    "reserve_first": {"anywhere": RESERVE_FIRST_ANYWHERE, "foundation": RESERVE_FIRST_FOUNDATION},
    "stalemate_scoring": {"none": STALEMATE_SCORING_NONE, "difference": STALEMATE_SCORING_DIFFERENCE},
}


def rule_set_options(command: Callable[..., None]) -> Callable[..., None]:
    """An option for each option of a rule set, of the same name."""
    for option in (
        click.option(
            "--match-target",
            type=click.IntRange(0, 1000),
            help="Points at which a match is won, 0 for single games (M12, R7, S9). Default: 50 in malice-match, 300 in"
            " bank-russian, else 0.",
        ),
        click.option(
            "--max-turns",
            type=click.IntRange(0, 30_000),
            help="Russian Bank: turns, both players' together, after which a game counts as a stalemate, 0 for no limit"
            " (B10). Default: 500.",
        ),
        click.option(
            "--stalemate-scoring",
            type=click.Choice(list(_CHOICES["stalemate_scoring"])),
            help="bank-spiteful: what a stalemate is worth (S8). Default: none.",
        ),
        click.option(
            "--reserve-first",
            type=click.Choice(list(_CHOICES["reserve_first"])),
            help="bank-spiteful: where a reserve card must go before anything else (S4). Default: anywhere.",
        ),
        click.option(
            "--reserve-cards",
            type=click.IntRange(12, 13),
            help="Russian Bank: cards in each reserve (B0). Default: 13.",
        ),
        click.option(
            "--stock-out-when",
            type=click.Choice(list(_CHOICES["stock_out_when"])),
            help="Spite & Malice: when an exhausted stock ends the game (M11). Default: emptied.",
        ),
        click.option(
            "--side-play-ends-turn/--no-side-play-ends-turn",
            default=None,
            help="Spite & Malice: a play from a side stack ends the turn (M6). Default: no.",
        ),
        click.option(
            "--wild-starts-stack/--no-wild-starts-stack",
            default=None,
            help="Spite & Malice: a king may start a center stack (M4). Default: in malice-match only.",
        ),
        click.option(
            "--payoff-cards",
            type=click.IntRange(1, 30),
            help="Spite & Malice: cards in each payoff pile (M1). Default: 20.",
        ),
    ):
        command = option(command)
    return command


def chosen_rule_set(preset: str, given: Mapping[str, int | str | None]) -> RuleSet:
    """The rule set of a preset with the options that are given; raises UsageError for one that it does not have."""
    row = PRESETS[preset]
    rule_set = RuleSet(preset=preset)
    options = options_of(rule_set, row.family)
    for name, value in given.items():
        if value is None:
            continue
        if name not in options.DESCRIPTOR.fields_by_name:
            raise click.UsageError(
                f"{_flag(name)} is no option of {FAMILY_NAMES[row.family]}, to which {preset} belongs"
            )
        if name in row.fixed:
            having = " or ".join(
                other for other, one in PRESETS.items() if one.family == row.family and name not in one.fixed
            )
            raise click.UsageError(f"{_flag(name)} is an option of {having}, not of {preset}")
        setattr(options, name, _CHOICES[name][value] if isinstance(value, str) else value)
    return rule_set


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
