"""What the text form of a position says of Russian Bank: the options and the table."""

from collections.abc import Mapping, Sequence
from typing import Final

from zank._option_items import OptionItem
from zank._sections import SectionReader, check_count, format_cards, format_pile, parse_cards, parse_number, parse_pile
from zank.cards import SUITS
from zank.errors import InvalidMove, InvalidPosition
from zank.notation import TABLEAU, parse_bank_move
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    RESERVE_FIRST_ANYWHERE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    BankPlayer,
    BankTable,
    Ending,
    Pile,
    Position,
)

_PLAYER_LETTERS: Final = "ab"
_PLAYER_PILES: Final = ("RESERVE", "STOCK", "WASTE")
_FOUNDATIONS: Final = tuple(f"F{number}" for number in range(1, 2 * len(SUITS) + 1))
_FOUNDATIONS_FORM: Final = ".".join(["f", *_FOUNDATIONS])
_FOUNDATION_NAMES: Final = tuple(f"foundation {name}" for name in _FOUNDATIONS)
_TABLEAU_FORM: Final = ".".join(["h", *TABLEAU])
_TABLEAU_NAMES: Final = tuple(f"tableau pile {name}" for name in TABLEAU)

OPTIONS: Final = (
    OptionItem(letter="r", field="reserve_cards", what="reserve cards"),
    OptionItem(
        letter="f",
        field="reserve_first",
        what="the reserve card first anywhere or to a foundation",
        values={"a": RESERVE_FIRST_ANYWHERE, "f": RESERVE_FIRST_FOUNDATION},
    ),
    OptionItem(
        letter="s",
        field="stalemate_scoring",
        what="a stalemate scores nothing or the difference",
        values={"n": STALEMATE_SCORING_NONE, "d": STALEMATE_SCORING_DIFFERENCE},
    ),
    OptionItem(letter="t", field="max_turns", what="turns at most"),
    OptionItem(letter="m", field="match_target", what="match target"),
)
ENDINGS: Final[Mapping[str, Ending.ValueType]] = {
    "out": ENDING_OUT,
    "stalemate": ENDING_STALEMATE,
    "adjudicated": ENDING_ADJUDICATED,
}
LAST_SECTIONS: Final = (
    "after the tableau come, each where it applies and in this order, d.CARD (the drawn card), i (the opening turn),"
    " q.PLAYER1.PLAYER2 (quiet turns), m.MOVE.MOVE... (tableau moves of this turn)"
)


def format_table(position: Position) -> list[str]:
    """The sections of the table; raises InvalidPosition when piles are missing or their cards impossible."""
    table = position.bank
    check_count(table.players, len(_PLAYER_LETTERS), "players")
    check_count(table.foundations, len(_FOUNDATIONS), "foundations")
    check_count(table.tableau, len(TABLEAU), "tableau piles")
    sections = list[str]()
    for number, (letter, player) in enumerate(zip(_PLAYER_LETTERS, table.players, strict=True), start=1):
        names = [_pile_name(number, name) for name in _PLAYER_PILES]
        sections.append(_format_piles(letter, names, [player.reserve, player.stock, player.waste]))
    sections.append(_format_piles("f", _FOUNDATION_NAMES, table.foundations))
    sections.append(_format_piles("h", _TABLEAU_NAMES, table.tableau))
    if table.drawn:
        sections.append(f"d.{format_cards([table.drawn], 'drawn card', decks=True)}")
    if table.opening:
        sections.append("i")
    quiet = [player.quiet_turns for player in table.players]
    if any(quiet):
        sections.append(".".join(["q", *map(str, quiet)]))
    if table.tableau_moves:
        sections.append(".".join(["m", *map(_tableau_move, table.tableau_moves)]))
    return sections


def parse_table(reader: SectionReader, position: Position) -> None:
    """Takes the sections of the table; raises InvalidPosition."""
    table = BankTable(
        players=[_parse_player(reader, number) for number in (1, 2)],
        foundations=_parse_piles(reader, _FOUNDATIONS_FORM, _FOUNDATION_NAMES),
        tableau=_parse_piles(reader, _TABLEAU_FORM, _TABLEAU_NAMES),
    )
    drawn = reader.take_items_if_present("d.CARD")
    if drawn is not None:
        cards = parse_cards(drawn[0], "section d (drawn card)", decks=True)
        if len(cards) != 1:
            raise InvalidPosition(f"section d (drawn card): expected one card, found {len(cards)}")
        (table.drawn,) = cards
    table.opening = reader.take_items_if_present("i") is not None
    quiet = reader.take_items_if_present("q.PLAYER1.PLAYER2")
    if quiet is not None:
        for number, (player, turns) in enumerate(zip(table.players, quiet, strict=True), start=1):
            player.quiet_turns = parse_number(turns, f"section q (quiet turns), player {number}")
    table.tableau_moves.extend(map(_tableau_move, reader.take_list_if_present("m") or ()))
    position.bank.CopyFrom(table)


def _format_piles(letter: str, names: Sequence[str], piles: Sequence[Pile]) -> str:
    """A section of piles."""
    items = [format_pile(pile, name, decks=True) for name, pile in zip(names, piles, strict=True)]
    return ".".join([letter, *items])


def _parse_piles(reader: SectionReader, form: str, names: Sequence[str]) -> list[Pile]:
    """Takes a section of piles."""
    return [parse_pile(item, name, decks=True) for name, item in zip(names, reader.take_items(form), strict=True)]


def _parse_player(reader: SectionReader, number: int) -> BankPlayer:
    form = ".".join([_PLAYER_LETTERS[number - 1], *_PLAYER_PILES])
    reserve, stock, waste = _parse_piles(reader, form, [_pile_name(number, name) for name in _PLAYER_PILES])
    return BankPlayer(reserve=reserve, stock=stock, waste=waste)


def _tableau_move(text: str) -> str:
    """A move from one tableau pile to another, in public notation."""
    try:
        move = parse_bank_move(text)
    except InvalidMove as error:
        raise InvalidPosition(f"section m (tableau moves): {error}") from None
    if move.source not in TABLEAU or move.target not in TABLEAU:
        raise InvalidPosition(
            f"section m (tableau moves): expected moves from one tableau pile to another, found {text!r}"
        )
    return str(move)


def _pile_name(player: int, pile: str) -> str:
    return f"player {player}, {pile.lower()}"
