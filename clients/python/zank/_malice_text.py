"""What the text form of a position says of Spite & Malice: the options and the table."""

from collections.abc import Iterable, Mapping
from typing import Final

from zank._option_items import SWITCH, OptionItem
from zank._sections import (
    SectionReader,
    check_count,
    format_cards,
    format_pile,
    parse_cards,
    parse_pile,
)
from zank.cards import RANKS, SUITS
from zank.notation import CENTER_STACKS, SIDE_STACKS
from zank.v1 import (
    ENDING_OUT,
    ENDING_STOCK_OUT,
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_SHORT,
    Ending,
    MalicePlayer,
    MaliceTable,
    Position,
    Recycled,
)

_PLAYER_LETTERS: Final = "ab"
_PLAYER_PILES: Final = ("PAYOFF", "HAND", *(f"S{number}" for number in range(1, SIDE_STACKS + 1)))
_CENTER_FORM: Final = ".".join(["c", *(f"C{number}" for number in range(1, CENTER_STACKS + 1))])

OPTIONS: Final = (
    OptionItem(letter="p", field="payoff_cards", what="payoff cards"),
    OptionItem(letter="w", field="wild_starts_stack", what="a king starts a stack", values=SWITCH),
    OptionItem(letter="x", field="side_play_ends_turn", what="a side play ends the turn", values=SWITCH),
    OptionItem(
        letter="o",
        field="stock_out_when",
        what="stock out when emptied or short",
        values={"e": STOCK_OUT_WHEN_EMPTIED, "s": STOCK_OUT_WHEN_SHORT},
    ),
    OptionItem(letter="m", field="match_target", what="match target"),
)
ENDINGS: Final[Mapping[str, Ending.ValueType]] = {"out": ENDING_OUT, "stock": ENDING_STOCK_OUT}
LAST_SECTIONS: Final = "after the stock come, each where it applies and in this order, r.CARDS (recycled)"


def format_table(position: Position) -> list[str]:
    """The sections of the table; raises InvalidPosition when piles are missing or their cards impossible."""
    table = position.malice
    check_count(table.players, 2, "players")
    check_count(table.centers, CENTER_STACKS, "center stacks")
    sections = list[str]()
    for number, (letter, player) in enumerate(zip(_PLAYER_LETTERS, table.players, strict=True), start=1):
        check_count(player.sides, SIDE_STACKS, f"side stacks of player {number}")
        piles = [player.payoff, player.hand, *player.sides]
        items = [format_pile(pile, _pile_name(number, name)) for name, pile in zip(_PLAYER_PILES, piles, strict=True)]
        sections.append(".".join([letter, *items]))
    centers = [format_pile(pile, f"center stack C{number}") for number, pile in enumerate(table.centers, start=1)]
    sections.append(".".join(["c", *centers]))
    sections.append(f"k.{format_pile(table.stock, 'stock')}")
    if table.HasField("recycled"):
        sections.append(f"r.{format_cards(_sorted(table.recycled.cards), 'recycled cards')}")
    return sections


def parse_table(reader: SectionReader, position: Position) -> None:
    """Takes the sections of the table; raises InvalidPosition."""
    players = [_parse_player(reader, number) for number in (1, 2)]
    centers = [
        parse_pile(item, f"center stack C{number}")
        for number, item in enumerate(reader.take_items(_CENTER_FORM), start=1)
    ]
    (stock,) = reader.take_items("k.STOCK")
    position.malice.CopyFrom(MaliceTable(players=players, centers=centers, stock=parse_pile(stock, "stock")))
    recycled = reader.take_items_if_present("r.CARDS")
    if recycled is not None:
        cards = _sorted(parse_cards(recycled[0], "recycled cards"))
        position.malice.recycled.CopyFrom(Recycled(cards=cards))


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
