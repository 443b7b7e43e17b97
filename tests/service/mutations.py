"""Messages that nobody would send: sound ones damaged, and tables dealt without regard to the rules."""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tests.oracle.shuffle import DECK
from zank.cards import RANKS
from zank.v1 import BankPlayer, BankTable, MalicePlayer, MaliceTable, Pile, Position, Recycled, RuleSet

NUMBERS: Final = (0, 1, 2, 3, 5, 12, 13, 104, 1_000, 2**31 - 1, 2**31, 2**32 - 1)
TEXTS: Final = (
    "",
    " ",
    "x",
    "7h",
    "Th",
    "10h",
    "7H",
    "Kd ",
    "xx",
    "7h1",
    "7h3",
    "R-F",
    "t2-t7",
    "TURN",
    "END",
    "P-C1",
    "P-S1",
    "7h-C1",
    "K-S4",
    "malice-match",
    "malice-classic",
    "bank-russian",
    "H",
    "\0",
    "7\0",
    "\x1b[31m7h\r\n",
    "7h\n",
    "\uff05\uff17h",
    "7♥",
    "\u202e7h",
    "\ud7ff\ue000\U0010ffff",
    "\U0001d7d5h",
    "{0}%s%n",
    "../../etc/passwd",
    "7h" * 400,
    "é" * 5_000,
)


def mutate(message: Message, chooser: Random) -> None:
    """Change one thing somewhere in a message."""
    fields: list[Any] = list(message.DESCRIPTOR.fields)
    held = {field.name for field, _ in message.ListFields()}
    present = [field for field in fields if field.message_type is not None and field.name in held and not is_map(field)]
    if present and chooser.random() < 0.8:
        field = chooser.choice(present)
        value = getattr(message, field.name)
        if not field.is_repeated:
            mutate(value, chooser)
        elif chooser.random() < 0.7:
            mutate(chooser.choice(value), chooser)
        else:
            _shake(value, chooser)
        return
    if not fields:
        return
    field = chooser.choice(fields)
    if chooser.random() < 0.2:
        message.ClearField(field.name)
    elif is_map(field):
        getattr(message, field.name)[chooser.choice(TEXTS)] = chooser.choice(TEXTS)
    elif field.is_repeated:
        values = getattr(message, field.name)
        if field.message_type is not None:
            values.add()
        elif values and chooser.random() < 0.7:
            _shake(values, chooser)
        else:
            values.extend([_scalar(field, chooser)] * chooser.choice([1, 1, 1, 2, 200]))
    elif field.message_type is not None:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, _scalar(field, chooser))


def is_map(field: Any) -> bool:
    """Whether a field has texts by name."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _shake(values: Any, chooser: Random) -> None:
    """Drop, double or swap entries of a repeated field."""
    found = list(values)
    match chooser.randrange(3):
        case 0:
            del found[chooser.randrange(len(found))]
        case 1:
            found.append(chooser.choice(found))
        case _:
            chooser.shuffle(found)
    del values[:]
    values.extend(found)


def _scalar(field: FieldDescriptor, chooser: Random) -> Any:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return chooser.choice([*TEXTS, *DECK[:52]])
        case FieldDescriptor.TYPE_BOOL:
            return chooser.random() < 0.5
        case FieldDescriptor.TYPE_ENUM:
            return chooser.choice([0, 1, 2, 3, 4, 99, -1, 2**31 - 1, -(2**31)])
        case FieldDescriptor.TYPE_FIXED64:
            return chooser.choice([*NUMBERS, 2**64 - 1, 2**63])
        case FieldDescriptor.TYPE_UINT32:
            return chooser.choice(NUMBERS)
    raise AssertionError(field.full_name)


def damaged(data: bytes, chooser: Random) -> bytes:
    """Bytes with some flipped, cut out, put in or repeated."""
    found = bytearray(data)
    for _ in range(chooser.randint(1, 4)):
        at = chooser.randrange(len(found) + 1)
        match chooser.randrange(5):
            case 0 if at < len(found):
                found[at] ^= 1 << chooser.randrange(8)
            case 1:
                del found[at : at + chooser.randint(1, 8)]
            case 2:
                found[at:at] = chooser.randbytes(chooser.randint(1, 8))
            case 3:
                found[at:at] = found[at : at + chooser.randint(1, 40)]
            case _:
                del found[at:]
    return bytes(found)


def strewn(chooser: Random) -> Position:
    """A position of either family with 104 cards somewhere on the table: every pile is one that could be."""
    return chooser.choice([_strewn_malice, _strewn_bank])(chooser)


def _strewn_malice(chooser: Random) -> Position:
    deck = chooser.sample(DECK, len(DECK))

    def pile(count: int, known: int) -> Pile:
        """So many cards of which so many, at most, are known; the faces of the others may be given."""
        cards = [deck.pop() for _ in range(min(count, len(deck)))]
        hidden = cards[: max(0, len(cards) - known)]
        return Pile(hidden=len(hidden), cards=cards[len(hidden) :], concealed=hidden if chooser.random() < 0.5 else [])

    mover = chooser.choice([1, 2])
    players = [
        MalicePlayer(
            payoff=pile(chooser.choice([1, 1, 2, 20, chooser.randint(0, 20)]), 1),
            hand=pile(chooser.choice([1, 5, chooser.randint(0, 5)]), 5 if number == mover else chooser.choice([0, 5])),
            sides=[pile(chooser.choice([0, 0, 1, 3, chooser.randint(0, 60)]), 104) for _ in range(4)],
        )
        for number in (1, 2)
    ]
    centers = [_center(deck, chooser.choice([0, 0, 1, 5, 11])) for _ in range(3)]
    position = Position(
        rule_set=RuleSet(preset=chooser.choice(["malice-match", "malice-classic"])),
        player_to_move=mover,
        malice=MaliceTable(players=players, centers=centers, stock=pile(len(deck), 0)),
    )
    hidden = [card for card in position.malice.stock.concealed if chooser.random() < 0.3]
    if chooser.random() < 0.5:
        position.malice.recycled.CopyFrom(Recycled(cards=hidden))
    if chooser.random() < 0.7:
        position.shuffle.seed, position.shuffle.count = chooser.getrandbits(64), chooser.randint(1, 5)
    return position


def _center(deck: list[str], height: int) -> Pile:
    """A center stack of this height, as far as the deck has the cards; a king stands for a card now and then."""
    cards: list[str] = []
    for rank in "A23456789TJ"[:height]:
        fitting: Sequence[str] = [card for card in deck if card[0] == rank] or [card for card in deck if card[0] == "K"]
        if not fitting:
            break
        cards.append(fitting[0])
        deck.remove(fitting[0])
    return Pile(cards=cards)


def _strewn_bank(chooser: Random) -> Position:
    decks = [[f"{card}{number}" for card in chooser.sample(DECK[:52], 52)] for number in (1, 2)]

    def some(deck: list[str], count: int) -> list[str]:
        """So many cards of a deck, as far as it has them."""
        found = deck[:count]
        del deck[:count]
        return found

    foundations = [_foundation(decks[index % 2], "cdhs"[index // 2], chooser) for index in range(8)]
    tableau = [_tableau_pile(decks, chooser) for _ in range(8)]
    drawn = some(chooser.choice(decks), chooser.randint(0, 1))
    hidden = [(some(deck, chooser.choice([0, 12, 12])), some(deck, chooser.choice([0, 35, 35]))) for deck in decks]
    rest = chooser.sample([*decks[0], *decks[1]], len(decks[0]) + len(decks[1]))
    tops = [some(rest, chooser.choice([1, 1, 8])) for _ in decks]
    wastes = [some(rest, chooser.choice([0, len(rest)])), rest]
    position = Position(
        rule_set=RuleSet(preset=chooser.choice(["bank-spiteful", "bank-russian", "bank-crapette"])),
        player_to_move=chooser.choice([1, 2]),
        turns=chooser.choice([0, 0, 1, 499]),
        bank=BankTable(
            players=[
                BankPlayer(
                    reserve=_face_down(reserve, top, chooser),
                    stock=_face_down(stock, [], chooser) if chooser.random() < 0.9 else Pile(cards=stock),
                    waste=Pile(cards=waste),
                    quiet_turns=chooser.choice([0, 0, 1, 40]),
                )
                for (reserve, stock), top, waste in zip(hidden, tops, wastes, strict=True)
            ],
            foundations=[Pile(cards=pile) for pile in foundations],
            tableau=[Pile(cards=pile) for pile in tableau],
            drawn="".join(drawn),
            opening=chooser.random() < 0.1,
        ),
    )
    for pile in (*position.bank.foundations, *position.bank.tableau):
        pile.cards[:] = [card if chooser.random() < 0.8 else card[:2] for card in pile.cards]
    return position


def _foundation(deck: list[str], suit: str, chooser: Random) -> list[str]:
    """A foundation of cards from a deck, up to one that lies elsewhere."""
    cards = []
    for rank in RANKS[: chooser.choice([0, 0, 1, 3, 9, 13])]:
        found = [card for card in deck if card[:2] == rank + suit]
        if not found:
            break
        cards += found
    deck[:] = [card for card in deck if card not in cards]
    return cards


def _tableau_pile(decks: list[list[str]], chooser: Random) -> list[str]:
    """A pile of cards that fit on each other (B3)."""
    pile: list[str] = []
    for _ in range(chooser.choice([0, 1, 1, 2, 5])):
        left = [card for deck in decks for card in deck if not pile or _fits(card, pile[-1])]
        if not left:
            break
        pile.append(chooser.choice(left))
        for deck in decks:
            deck[:] = [card for card in deck if card != pile[-1]]
    return pile


def _fits(card: str, below: str) -> bool:
    return RANKS.index(card[0]) + 1 == RANKS.index(below[0]) and (card[1] in "dh") != (below[1] in "dh")


def _face_down(hidden: list[str], known: list[str], chooser: Random) -> Pile:
    """A pile of hidden cards, their faces given or not, under known ones."""
    faces = [card[:2] for card in hidden] if chooser.random() < 0.5 else []
    return Pile(hidden=len(hidden), cards=known, concealed=faces)
