"""The text form of a position: one line of unreserved URL characters, for terminals, links and bug reports.

    malice-match~o.p10~1~t.12~a.9-7h.2c7hKs.Jd..Qs.~b.10-9s.5-....~c.Ac2d..~k.63-~r.

Sections are joined by "~" and their items by ".", in this order: the preset; the options that differ from the
preset's defaults (`o`); the player to move; the turns completed, if any (`t`); player 1 (`a`) and player 2 (`b`),
each with payoff, hand and four side stacks; the center stacks (`c`); the stock (`k`); the recycled cards, where
recorded (`r`); the result of a finished game (`e`); the seed and count of the shuffles of a full position (`s`).

A pile is its cards from the bottom to the top. Hidden cards come first, as their count or as their faces, followed
by "-": `19-7h`, `5-`, `2h3c-7h`.
"""

from typing import Final

from zank._malice_text import format_options, format_table, parse_options, parse_table
from zank._sections import UINT64, SectionReader, parse_number
from zank.errors import InvalidPosition, InvalidRuleSet
from zank.presets import PRESETS, canonical_rule_set
from zank.v1 import ENDING_OUT, ENDING_STOCK_OUT, GameResult, Position, RuleSet, Shuffle

_ENDINGS: Final = {ENDING_OUT: "out", ENDING_STOCK_OUT: "stock"}
_LAST_SECTIONS: Final = (
    "after the stock come, each where it applies and in this order, r.CARDS (recycled), e.out|stock.WINNER.POINTS"
    " (the result) and s.SEED.COUNT (the shuffles)"
)


def format_position(position: Position) -> str:
    """The canonical text of a position; raises InvalidPosition for a message that has none.

    Options equal to their defaults are left out and recycled cards sorted. Nothing is checked that the text can
    express: a position may break the rules of its game.
    """
    rule_set = _canonical(position.rule_set)
    sections = [rule_set.preset]
    if rule_set.HasField("malice"):
        sections.append(".".join(["o", *format_options(rule_set.malice)]))
    if position.player_to_move not in (1, 2):
        raise InvalidPosition(f"player to move: expected 1 or 2, found {position.player_to_move}")
    sections.append(str(position.player_to_move))
    if position.turns:
        sections.append(f"t.{position.turns}")
    if not position.HasField("malice"):
        raise InvalidPosition(f"table: expected a table of Spite & Malice for the preset {rule_set.preset}, found none")
    sections += format_table(position.malice)
    if position.HasField("result"):
        sections.append(_format_result(position.result))
    if position.HasField("shuffle"):
        sections.append(f"s.{position.shuffle.seed}.{position.shuffle.count}")
    return "~".join(sections)


def parse_position(text: str) -> Position:
    """The position written `text`; raises InvalidPosition, which names the section and what was expected."""
    reader = SectionReader(text.strip())
    name = reader.take("a preset")
    if name not in PRESETS:
        raise InvalidPosition(f"the text starts with {name!r}: expected a preset, {' or '.join(PRESETS)}")
    rule_set = RuleSet(preset=name)
    section = reader.take("the player to move")
    if section.partition(".")[0] == "o":
        rule_set.malice.CopyFrom(parse_options(section.split(".")[1:]))
        section = reader.take("the player to move")
    if section not in ("1", "2"):
        raise InvalidPosition(f"player to move: expected 1 or 2, found {section!r}")
    position = Position(rule_set=_canonical(rule_set), player_to_move=int(section))
    turns = reader.take_items_if_present("t.TURNS")
    if turns is not None:
        position.turns = parse_number(turns[0], "section t (turns)")
    position.malice.CopyFrom(parse_table(reader))
    result = reader.take_items_if_present("e.ENDING.WINNER.POINTS")
    if result is not None:
        position.result.CopyFrom(_parse_result(result))
    shuffle = reader.take_items_if_present("s.SEED.COUNT")
    if shuffle is not None:
        seed, count = shuffle
        position.shuffle.CopyFrom(
            Shuffle(
                seed=parse_number(seed, "section s (shuffle), seed", UINT64),
                count=parse_number(count, "section s (shuffle), count"),
            )
        )
    reader.finish(_LAST_SECTIONS)
    return position


def _canonical(rule_set: RuleSet) -> RuleSet:
    try:
        return canonical_rule_set(rule_set)
    except InvalidRuleSet as error:
        raise InvalidPosition(f"rule set: {error}") from None


def _format_result(result: GameResult) -> str:
    if result.ending not in _ENDINGS:
        raise InvalidPosition(f"result: unknown ending {result.ending}")
    if result.winner not in (0, 1, 2):
        raise InvalidPosition(f"result, winner: expected 1, 2 or 0 for a tie, found {result.winner}")
    return f"e.{_ENDINGS[result.ending]}.{result.winner}.{result.points}"


def _parse_result(items: list[str]) -> GameResult:
    ending, winner, points = items
    endings = {name: value for value, name in _ENDINGS.items()}
    if ending not in endings:
        raise InvalidPosition(f"section e (result), ending: expected {' or '.join(endings)}, found {ending!r}")
    return GameResult(
        ending=endings[ending],
        winner=parse_number(winner, "section e (result), winner (0 for a tie)", limit=2),
        points=parse_number(points, "section e (result), points"),
    )
