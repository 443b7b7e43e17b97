"""The text form of a position: one line of unreserved URL characters, for terminals, links and bug reports.

    malice-match~o.p10~1~t.12~a.9-7h.2c7hKs.Jd..Qs.~b.10-9s.5-....~c.Ac2d..~k.63-~r.
    bank-russian~2~t.31~a.11-7h1.20-.Kd2~b.12-9s2.33-.2c2~f.Ac1.......~h.Qs1..5d24s1.Jh2.3c2.8d1.Td2.6s1~d.4h2~q.1.0

Sections are joined by "~" and their items by ".", in this order: the preset; the options that differ from the
preset's defaults (`o`); the player to move; the turns completed, if any (`t`); the table; the result of a finished
game (`e`); the seed and count of the shuffles of a full position (`s`).

The table of Spite & Malice is player 1 (`a`) and player 2 (`b`), each with payoff, hand and four side stacks; the
center stacks (`c`); the stock (`k`); the recycled cards, where recorded (`r`). That of Russian Bank is player 1 (`a`)
and player 2 (`b`), each with reserve, stock and waste; the foundations (`f`); the tableau piles or houses (`h`); the
drawn card, if one is up (`d`); `i` in an opening turn that still has aces to play (S1); the quiet turns of both
players, if any (`q`, B10); the tableau moves of this turn, if any (`m`, B12).

A pile is its cards from the bottom to the top. Hidden cards come first, as their count or as their faces, followed
by "-": `19-7h`, `5-`, `2h3c-7h`. In Russian Bank a card may be followed by its deck: a 1, or a 2 that no suit follows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zank import _bank_text, _malice_text
from zank._option_items import OptionItem, format_options, parse_options
from zank._sections import UINT64, SectionReader, parse_number
from zank.errors import InvalidPosition, InvalidRuleSet
from zank.presets import FAMILY_NAMES, PRESETS, Family, canonical_rule_set, options_of
from zank.v1 import Ending, GameResult, Position, RuleSet, Shuffle


@dataclass(frozen=True, kw_only=True, slots=True)
class _FamilyText:
    """What the text says of one family in its own way."""

    options: Sequence[OptionItem]
    format_table: Callable[[Position], list[str]]
    parse_table: Callable[[SectionReader, Position], None]
    endings: Mapping[str, Ending.ValueType]
    last_sections: str  # which sections of the table need not be there, and where they come


_FAMILIES: Final[Mapping[Family, _FamilyText]] = {
    "malice": _FamilyText(
        options=_malice_text.OPTIONS,
        format_table=_malice_text.format_table,
        parse_table=_malice_text.parse_table,
        endings=_malice_text.ENDINGS,
        last_sections=_malice_text.LAST_SECTIONS,
    ),
    "bank": _FamilyText(
        options=_bank_text.OPTIONS,
        format_table=_bank_text.format_table,
        parse_table=_bank_text.parse_table,
        endings=_bank_text.ENDINGS,
        last_sections=_bank_text.LAST_SECTIONS,
    ),
}


def format_position(position: Position) -> str:
    """The canonical text of a position; raises InvalidPosition for a message that has none.

    Options equal to their defaults are left out and recycled cards sorted. Nothing is checked that the text can
    express: a position may break the rules of its game.
    """
    rule_set = _canonical(position.rule_set)
    family = PRESETS[rule_set.preset].family
    own = _FAMILIES[family]
    sections = [rule_set.preset]
    if rule_set.HasField(family):
        sections.append(".".join(["o", *format_options(own.options, options_of(rule_set, family))]))
    if position.player_to_move not in (1, 2):
        raise InvalidPosition(f"player to move: expected 1 or 2, found {position.player_to_move}")
    sections.append(str(position.player_to_move))
    if position.turns:
        sections.append(f"t.{position.turns}")
    table = position.WhichOneof("table")
    if table != family:
        found = f"one of {FAMILY_NAMES[table]}" if table else "none"
        raise InvalidPosition(
            f"table: expected a table of {FAMILY_NAMES[family]} for the preset {rule_set.preset}, found {found}"
        )
    sections += own.format_table(position)
    if position.HasField("result"):
        sections.append(_format_result(position.result, own.endings))
    if position.HasField("shuffle"):
        sections.append(f"s.{position.shuffle.seed}.{position.shuffle.count}")
    return "~".join(sections)


def parse_position(text: str) -> Position:
    """The position written `text`; raises InvalidPosition, which names the section and what was expected."""
    reader = SectionReader(text.strip())
    name = reader.take("a preset")
    if name not in PRESETS:
        raise InvalidPosition(f"the text starts with {name!r}: expected a preset, {' or '.join(PRESETS)}")
    family = PRESETS[name].family
    own = _FAMILIES[family]
    rule_set = RuleSet(preset=name)
    options = reader.take_list_if_present("o")
    if options is not None:
        parse_options(own.options, options, options_of(rule_set, family))
    section = reader.take("the player to move")
    if section not in ("1", "2"):
        raise InvalidPosition(f"player to move: expected 1 or 2, found {section!r}")
    position = Position(rule_set=_canonical(rule_set), player_to_move=int(section))
    turns = reader.take_items_if_present("t.TURNS")
    if turns is not None:
        position.turns = parse_number(turns[0], "section t (turns)")
    own.parse_table(reader, position)
    result = reader.take_items_if_present("e.ENDING.WINNER.POINTS")
    if result is not None:
        position.result.CopyFrom(_parse_result(result, own.endings))
    shuffle = reader.take_items_if_present("s.SEED.COUNT")
    if shuffle is not None:
        seed, count = shuffle
        position.shuffle.CopyFrom(
            Shuffle(
                seed=parse_number(seed, "section s (shuffle), seed", UINT64),
                count=parse_number(count, "section s (shuffle), count"),
            )
        )
    reader.finish(
        f"{own.last_sections}, e.{'|'.join(own.endings)}.WINNER.POINTS (the result) and s.SEED.COUNT (the shuffles)"
    )
    return position


def _canonical(rule_set: RuleSet) -> RuleSet:
    try:
        return canonical_rule_set(rule_set)
    except InvalidRuleSet as error:
        raise InvalidPosition(f"rule set: {error}") from None


def _format_result(result: GameResult, endings: Mapping[str, Ending.ValueType]) -> str:
    names = {value: name for name, value in endings.items()}
    if result.ending not in names:
        raise InvalidPosition(f"result, ending: expected {' or '.join(map(Ending.Name, names))}, found {result.ending}")
    if result.winner not in (0, 1, 2):
        raise InvalidPosition(f"result, winner: expected 1, 2 or 0 for a tie, found {result.winner}")
    return f"e.{names[result.ending]}.{result.winner}.{result.points}"


def _parse_result(items: list[str], endings: Mapping[str, Ending.ValueType]) -> GameResult:
    ending, winner, points = items
    if ending not in endings:
        raise InvalidPosition(f"section e (result), ending: expected {' or '.join(endings)}, found {ending!r}")
    return GameResult(
        ending=endings[ending],
        winner=parse_number(winner, "section e (result), winner (0 for a tie)", limit=2),
        points=parse_number(points, "section e (result), points"),
    )
