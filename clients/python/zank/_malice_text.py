"""What the text form of a position says of Spite & Malice: the options and the table."""

from collections.abc import Iterable
from typing import Final

from zank._sections import (
    SectionReader,
    format_cards,
    format_pile,
    parse_cards,
    parse_number,
    parse_pile,
)
from zank.cards import RANKS, SUITS
from zank.errors import InvalidPosition
from zank.notation import CENTER_STACKS, SIDE_STACKS
from zank.v1 import (
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_SHORT,
    MaliceOptions,
    MalicePlayer,
    MaliceTable,
    Pile,
    Recycled,
)

_PLAYER_LETTERS: Final = "ab"
_PLAYER_PILES: Final = ("PAYOFF", "HAND", *(f"S{number}" for number in range(1, SIDE_STACKS + 1)))
_CENTER_FORM: Final = ".".join(["c", *(f"C{number}" for number in range(1, CENTER_STACKS + 1))])
_STOCK_OUT_LETTERS: Final = {STOCK_OUT_WHEN_EMPTIED: "e", STOCK_OUT_WHEN_SHORT: "s"}
_OPTIONS_EXPECTED: Final = (
    "expected p<payoff cards>, w0 or w1 (a king starts a stack), x0 or x1 (a side play ends the turn),"
    " oe or os (stock out when emptied or short), m<match target>, each at most once"
)


def format_options(options: MaliceOptions) -> list[str]:
    """The items of the options section, for the options that are set."""
    items = list[str]()
    if options.HasField("payoff_cards"):
        items.append(f"p{options.payoff_cards}")
    if options.HasField("wild_starts_stack"):
        items.append(f"w{int(options.wild_starts_stack)}")
    if options.HasField("side_play_ends_turn"):
        items.append(f"x{int(options.side_play_ends_turn)}")
    if options.HasField("stock_out_when"):
        if options.stock_out_when not in _STOCK_OUT_LETTERS:
            raise InvalidPosition(f"rule set: unknown stock_out_when {options.stock_out_when}")
        items.append(f"o{_STOCK_OUT_LETTERS[options.stock_out_when]}")
    if options.HasField("match_target"):
        items.append(f"m{options.match_target}")
    return items


def parse_options(items: list[str]) -> MaliceOptions:
    """The options in the items of an options section; raises InvalidPosition."""
    options = MaliceOptions()
    seen = set[str]()
    for item in items:
        letter, value = item[:1], item[1:]
        if letter in seen:
            raise InvalidPosition(f"section o (options): {item!r} repeats an option; {_OPTIONS_EXPECTED}")
        seen.add(letter)
        match letter, value:
            case "p", _:
                options.payoff_cards = parse_number(value, "section o (options), payoff cards p")
            case "w", "0" | "1":
                options.wild_starts_stack = value == "1"
            case "x", "0" | "1":
                options.side_play_ends_turn = value == "1"
            case "o", "e":
                options.stock_out_when = STOCK_OUT_WHEN_EMPTIED
            case "o", "s":
                options.stock_out_when = STOCK_OUT_WHEN_SHORT
            case "m", _:
                options.match_target = parse_number(value, "section o (options), match target m")
            case _:
                raise InvalidPosition(f"section o (options): found {item!r}; {_OPTIONS_EXPECTED}")
    return options


def format_table(table: MaliceTable) -> list[str]:
    """The sections of the table; raises InvalidPosition when piles are missing or their cards impossible."""
    _check_count(table.players, 2, "players")
    _check_count(table.centers, CENTER_STACKS, "center stacks")
    sections = list[str]()
    for number, (letter, player) in enumerate(zip(_PLAYER_LETTERS, table.players, strict=True), start=1):
        _check_count(player.sides, SIDE_STACKS, f"side stacks of player {number}")
        piles = [player.payoff, player.hand, *player.sides]
        items = [format_pile(pile, _pile_name(number, name)) for name, pile in zip(_PLAYER_PILES, piles, strict=True)]
        sections.append(".".join([letter, *items]))
    centers = [format_pile(pile, f"center stack C{number}") for number, pile in enumerate(table.centers, start=1)]
    sections.append(".".join(["c", *centers]))
    sections.append(f"k.{format_pile(table.stock, 'stock')}")
    if table.HasField("recycled"):
        sections.append(f"r.{format_cards(_sorted(table.recycled.cards), 'recycled cards')}")
    return sections


def parse_table(reader: SectionReader) -> MaliceTable:
    """Takes the sections of the table; raises InvalidPosition."""
    players = [_parse_player(reader, number) for number in (1, 2)]
    centers = [
        parse_pile(item, f"center stack C{number}")
        for number, item in enumerate(reader.take_items(_CENTER_FORM), start=1)
    ]
    (stock,) = reader.take_items("k.STOCK")
    table = MaliceTable(players=players, centers=centers, stock=parse_pile(stock, "stock"))
    recycled = reader.take_items_if_present("r.CARDS")
    if recycled is not None:
        table.recycled.CopyFrom(Recycled(cards=_sorted(parse_cards(recycled[0], "recycled cards"))))
    return table


def _parse_player(reader: SectionReader, number: int) -> MalicePlayer:
    form = ".".join([_PLAYER_LETTERS[number - 1], *_PLAYER_PILES])
    payoff, hand, *sides = (
        parse_pile(item, _pile_name(number, name))
        for name, item in zip(_PLAYER_PILES, reader.take_items(form), strict=True)
    )
    return MalicePlayer(payoff=payoff, hand=hand, sides=sides)


def _pile_name(player: int, pile: str) -> str:
    return f"player {player}, {pile.lower() if pile in ('PAYOFF', 'HAND') else f'side stack {pile}'}"


def _sorted(cards: Iterable[str]) -> list[str]:
    """The cards by rank, then by suit; what is no card sorts first, to be refused by name."""
    return sorted(cards, key=lambda card: (RANKS.find(card[:1]), SUITS.find(card[1:])))


def _check_count(piles: Iterable[MalicePlayer | Pile], expected: int, what: str) -> None:
    found = len(list(piles))
    if found != expected:
        raise InvalidPosition(f"{what}: expected {expected}, found {found}")
