"""What is said of moves: by hand for every code, and in games of the oracle that every word is true."""

import dataclasses
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from tests.kernel.positions import CLASSIC, MATCH, action_of, deal, keenness, oracle_copy
from tests.oracle.malice import KING, RANKS, Game, Move, parse, payoff_play, side_play
from tests.service.tables import HIDDEN, partial
from zank.v1 import REASON_CODE_LOSES, MalicePlayer, MaliceTable, Pile, Position, ReasonCode, RuleSet
from zank_kernel.malice.rules import Rules
from zank_service.malice import payoff_path
from zank_service.malice.reasons import reasons
from zank_service.malice.rule_sets import rules as rules_of

GAMES = int(os.environ.get("ZANK_TEST_GAMES", "100"))

# Those after LOSES are said in Russian Bank only.
CODES = [
    ReasonCode.Name(code).removeprefix("REASON_CODE_")
    for code in sorted(ReasonCode.values())
    if 0 < code <= REASON_CODE_LOSES
]

VARIANTS = [
    MATCH,
    CLASSIC,
    dataclasses.replace(MATCH, side_play_ends_turn=True, payoff_cards=30),
    dataclasses.replace(CLASSIC, stock_out_when="short", payoff_cards=5),
    dataclasses.replace(MATCH, wild_starts_stack=False, stock_out_when="short", payoff_cards=1),
    dataclasses.replace(CLASSIC, wild_starts_stack=True, payoff_cards=30),
]


class Said(NamedTuple):
    """A reason: its code without the prefix, cards and places."""

    code: str
    cards: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def said_of(position: Position, rules: Rules, moves: Sequence[str]) -> list[list[Said]]:
    """What is said of each of these moves."""
    hand = [RANKS.index(card[0]) + 1 for card in position.malice.players[position.player_to_move - 1].hand.cards]
    answer = reasons(position, rules, [action_of(move, hand) for move in moves])
    return [
        [
            Said(ReasonCode.Name(reason.code).removeprefix("REASON_CODE_"), tuple(reason.cards), tuple(reason.places))
            for reason in of_move
        ]
        for of_move in answer
    ]


def said(position: Position, move: str) -> list[Said]:
    """What is said of a move of a position by its own rule set."""
    (of_move,) = said_of(position, rules_of(position.rule_set), [move])
    return of_move


def with_stock(position: Position, cards: int) -> Position:
    """A position with so many cards in the stock. The table then holds fewer than 104, which no reason looks at."""
    position.malice.stock.hidden = cards
    return position


# By hand. Where nothing else is said the other player has a nine on the payoff pile, which fits nothing.


def test_nothing_is_said_of_a_move_of_which_nothing_is_to_be_said() -> None:
    position = partial("19-9h.Ac5dKs8h8d....", c="..Ad2d")
    assert said(position, "A-C1") == []
    assert said(position, "8-S2") == []
    assert said(position, "K-C3") == []


def test_the_last_payoff_card_wins() -> None:
    position = partial("Qh.2c3c4c5c....", b="19-9s.4-....", c=".Ad2d3d4d5d6d7d8d9dTdJd.")
    # M10 before M9: the stack is not recycled.
    assert said(position, "P-C2") == [Said("WINS"), Said("PLAYS_PAYOFF", ("Qh",), ("C2",))]


@pytest.mark.parametrize(
    ("rules", "own", "other", "stock", "result"),
    [
        ("malice-classic", "4-9h", "5-9s", 2, ["WINS", "ENDS_GAME"]),
        ("malice-classic", "5-9h", "5-9s", 2, ["ENDS_GAME"]),
        ("malice-classic", "6-9h", "5-9s", 2, ["ENDS_GAME", "LOSES"]),
        ("malice-match", "4-9h", "5-9s", 2, ["ENDS_GAME"]),
        ("malice-classic~o.os", "4-9h", "5-9s", 1, ["WINS", "ENDS_GAME"]),
    ],
)
def test_a_dry_stock_ends_the_game_and_may_decide_it(
    rules: str, own: str, other: str, stock: int, result: list[str]
) -> None:
    position = with_stock(partial(f"{own}.4d6c....", f"{other}.3-....", rules=rules), stock)
    assert said(position, "6-S1") == [Said(code) for code in result]


@pytest.mark.parametrize(
    ("rules", "hand", "stock"), [("", 3, 3), ("~o.os", 3, 2), ("", 5, 1), ("~o.os", 5, 0), ("", 5, 0)]
)
def test_a_stock_that_lasts_ends_nothing(rules: str, hand: int, stock: int) -> None:
    position = with_stock(partial("4-9h.4d6c....", f"5-9s.{hand}-....", rules="malice-classic" + rules), stock)
    assert said(position, "6-S1") == []


@pytest.mark.parametrize(("stock", "ends"), [(2, True), (3, False)])
def test_a_side_play_that_ends_the_turn_makes_the_other_player_draw(stock: int, ends: bool) -> None:
    position = partial("19-9h.4d6c.2h3h2d...", "19-9s.3-....", c="Ac..", rules="malice-match~o.x1")
    assert said(with_stock(position, stock), "S1-C1") == ([Said("ENDS_GAME")] if ends else [])


def test_the_payoff_card_is_played() -> None:
    position = partial("19-3h.4c5c....", c="Ac2c.Ad2d.")
    assert said(position, "P-C2") == [Said("PLAYS_PAYOFF", ("3h",), ("C2",))]
    # There is no path to a card that fits already, if only to another stack.
    assert said(partial("19-3h.3d5c....", c="Ac2c.Ad2d."), "3-C1") == []


def test_a_path_leads_to_the_payoff_card() -> None:
    rest = Said("ON_PATH", ("5s", "6c", "7h"), ("S2", "H", "P"))
    assert said(partial("19-7h.4c6cTd..9d5s..", c="Ac2c3c.."), "4-C1") == [rest]
    assert said(partial("19-7h.4c6cTd..5s9d..", c="Ac2c3c.."), "4-C1") == []  # the five is covered


def test_what_lies_under_a_side_top_is_on_the_path() -> None:
    position = partial("19-4h.8c8d.3d2dAd...", b="19-9s.5-....", c="..")
    assert said(position, "S1-C1") == [
        Said("ON_PATH", ("2d", "3d", "4h"), ("S1", "S1", "P")),
        Said("UNCOVERS", ("2d",), ("S1", "C1")),
    ]


def test_of_shortest_paths_the_one_with_the_fewest_kings_is_told() -> None:
    position = partial("19-4h.2cKc3c8d.Kd...", c="Ac..")
    assert said(position, "2-C1") == [Said("ON_PATH", ("3c", "4h"), ("H", "P"))]
    position = partial("19-4h.2c8d.Kd...", c="Ac..")
    assert said(position, "2-C1") == [Said("ON_PATH", ("Kd", "4h"), ("S1", "P"))]


def test_of_equal_paths_the_one_from_the_first_source_is_told() -> None:
    position = partial("19-5h.2c3c3d4h4c...4d.4s", c="Ac..")
    assert said(position, "2-C1") == [Said("ON_PATH", ("3c", "4d", "5h"), ("H", "S3", "P"))]


def test_a_play_that_takes_a_longer_way_is_not_on_the_path() -> None:
    position = partial("19-4h.3c2dAdKc....", c="Ac2c..")
    assert said(position, "3-C1") == [Said("ON_PATH", ("4h",), ("P",))]
    assert said(position, "K-C1") == [Said("ON_PATH", ("4h",), ("P",))]
    assert said(position, "A-C2") == []


def test_a_complete_stack_is_an_empty_one_on_the_path() -> None:
    full = "Ac2c3c4c5c6c7c8c9cTcJc"
    position = partial("19-Ah.Qc8d....", c=f"{full}.As2s.As2s")
    assert said(position, "Q-C1") == [
        Said("ON_PATH", ("Ah",), ("P",)),
        Said("COMPLETES_STACK", (), ("C1",)),
    ]


def test_a_path_needs_no_new_cards() -> None:
    # The last card from hand draws five (M8): what comes then is not known.
    position = partial("19-3h.2c....", c="Ac..")
    assert said(position, "2-C1") == [Said("REFILLS_HAND")]
    position = partial("19-3h.2c8d....", c="Ac..")
    assert said(position, "2-C1") == [Said("ON_PATH", ("3h",), ("P",))]


def test_a_path_does_not_go_beyond_the_turn() -> None:
    a, c = "19-4h.2c8d.3d...", "Ac.."
    assert said(partial(a, c=c), "2-C1") == [Said("ON_PATH", ("3d", "4h"), ("S1", "P"))]
    assert said(partial(a, c=c, rules="malice-match~o.x1"), "2-C1") == []


def test_no_king_starts_a_stack_on_the_path_where_none_may() -> None:
    a, c = "19-3h.Kc8d.2d...", ".."
    assert said(partial(a, c=c), "K-C1") == [Said("ON_PATH", ("2d", "3h"), ("S1", "P"))]
    position = partial("19-2h.KcAd8d....", c="..", rules="malice-classic")
    assert said(position, "A-C2") == [Said("ON_PATH", ("2h",), ("P",))]


def test_a_king_as_payoff_card_is_reached_by_an_ace() -> None:
    position = partial("19-Kh.Ac8d....", c="..", rules="malice-classic")
    assert said(position, "A-C1") == [Said("ON_PATH", ("Kh",), ("P",))]
    assert said(partial("19-Kh.Ac8d....", c=".."), "A-C1") == []


def test_no_path_is_told_where_the_search_would_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    position = partial("19-4h.2c8d.3d...", c="Ac..")
    monkeypatch.setattr(payoff_path, "MOST_LAYOUTS", 3)
    assert said(position, "2-C1")
    monkeypatch.setattr(payoff_path, "MOST_LAYOUTS", 2)
    assert said(position, "2-C1") == []


def test_the_other_player_is_shut_out() -> None:
    position = partial("19-9h.5c6cKd....", b="19-5s.5-....", c="Ac2c3c4c..")
    assert said(position, "5-C1") == [Said("SHUTS_OUT", ("5s",), ("C1",))]
    assert said(position, "K-C1") == [Said("SHUTS_OUT", ("5s",), ("C1",))]
    assert said(position, "6-S1") == []
    position.malice.centers[1].cards[:] = ["Ad", "2d", "3d", "4d"]
    assert said(position, "5-C1") == []


def test_the_other_player_is_let_in() -> None:
    position = partial("19-9h.5c5dKd....", b="19-6s.5-....", c="Ac2c3c4c.Ad2d3d4d.")
    assert said(position, "5-C2") == [Said("LETS_IN", ("6s",), ("C2",))]
    position.malice.centers[0].cards.append("5h")
    assert said(position, "5-C2") == []


def test_the_king_of_the_other_player_is_let_in_by_an_ace_only_where_no_king_starts_a_stack() -> None:
    a, b, c = "19-9h.Ac8dKd....", "19-Ks.5-....", ".."
    assert said(partial(a, b, c=c, rules="malice-classic"), "A-C3") == [Said("LETS_IN", ("Ks",), ("C3",))]
    assert said(partial(a, b, c=c), "A-C3") == []
    full = "Ac2c3c4c5c6c7c8c9cTcJc"
    position = partial("19-9h.Qc8d....", b, c=f".{full}.", rules="malice-classic")
    assert said(position, "Q-C2") == [
        Said("SHUTS_OUT", ("Ks",), ("C2",)),
        Said("COMPLETES_STACK", (), ("C2",)),
    ]


def test_a_complete_stack_lets_an_ace_in() -> None:
    full = "Ac2c3c4c5c6c7c8c9cTcJc"
    position = partial("19-9h.Qc8d....", b="19-As.5-....", c=f"{full}.Ad.Ah")
    assert said(position, "Q-C1") == [
        Said("COMPLETES_STACK", (), ("C1",)),
        Said("LETS_IN", ("As",), ("C1",)),
    ]


def test_a_playable_side_card_is_uncovered() -> None:
    position = partial("19-9h.8c8d.5d2d.6h2h.Ks2s.7d", c="Ac.Ad2c3d4d.")
    assert said(position, "S1-C1") == [Said("UNCOVERS", ("5d",), ("S1", "C2"))]
    assert said(position, "S2-C1") == []
    assert said(position, "S3-C1") == [Said("UNCOVERS", ("Ks",), ("S3", "C1"))]
    # Under side_play_ends_turn it cannot be played at once.
    position.rule_set.malice.side_play_ends_turn = True
    assert said(position, "S1-C1") == []


def test_a_card_that_fits_the_stack_just_grown_is_uncovered() -> None:
    position = partial("19-9h.8c8d.3d2d...", c="Ac..")
    assert said(position, "S1-C1") == [Said("UNCOVERS", ("3d",), ("S1", "C1"))]


def test_a_side_stack_is_emptied() -> None:
    position = partial("19-9h.2c8d.2d.2h2s..", c="Ac..")
    assert said(position, "S1-C1") == [Said("EMPTIES_SIDE", (), ("S1",))]
    assert said(position, "S2-C1") == []
    assert said(position, "2-C1") == []


def test_the_hand_is_refilled() -> None:
    position = partial("19-9h.2c.2d...", c="Ac..")
    assert said(position, "2-C1") == [Said("REFILLS_HAND")]
    assert said(position, "2-S2") == []  # M6: the turn ends
    assert said(position, "S1-C1") == [Said("EMPTIES_SIDE", (), ("S1",))]
    assert said(with_stock(position, 6), "2-C1") == [Said("REFILLS_HAND")]
    assert said(with_stock(position, 5), "2-C1") == [Said("ENDS_GAME")]
    assert said(with_stock(position, 4), "2-C1") == [Said("ENDS_GAME")]
    position.rule_set.CopyFrom(partial(rules="malice-match~o.os").rule_set)
    assert said(with_stock(position, 5), "2-C1") == [Said("REFILLS_HAND")]


def test_a_complete_stack_is_drawn_from() -> None:
    full = "Ac2c3c4c5c6c7c8c9cTcJc"
    position = with_stock(partial("19-9h.Qc....", c=f"{full}.."), 1)
    assert said(position, "Q-C1") == [Said("REFILLS_HAND"), Said("COMPLETES_STACK", (), ("C1",))]


def test_a_run_is_continued() -> None:
    position = partial("19-9h.5cJcQc.6d.Qd.Kd.5d", c="..")
    assert said(position, "5-S1") == [Said("CONTINUES_RUN", ("5c", "6d"), ("S1",))]
    assert said(position, "J-S2") == [Said("CONTINUES_RUN", ("Jc", "Qd"), ("S2",))]
    assert said(position, "Q-S3") == []  # a king is no card one rank higher than a queen
    assert said(position, "5-S4") == []
    assert said(position, "Q-S4") == []


def test_a_playable_card_is_covered() -> None:
    position = partial("19-9h.8c7c.5d8d.8h5h.Ks.5s6s", c=".Ac2c3c4c.")
    assert said(position, "8-S1") == []
    assert said(position, "8-S2") == [Said("COVERS_PLAYABLE", ("5h",), ("S2", "C2"))]
    assert said(position, "8-S3") == []  # a king fits nearly always
    assert said(position, "7-S1") == [Said("CONTINUES_RUN", ("7c", "8d"), ("S1",))]
    position.malice.centers[0].cards[:] = ["Ad", "2d", "3d", "4d"]
    assert said(position, "8-S2") == [Said("COVERS_PLAYABLE", ("5h",), ("S2", "C1"))]


def test_a_king_is_given_away() -> None:
    position = partial("19-9h.KcKd8c....", c="..")
    assert said(position, "K-S1") == [Said("DISCARDS_KING", ("Kc",))]
    assert said(position, "8-S1") == []


def test_of_equal_ranks_the_first_listed_card_is_meant() -> None:
    position = partial("19-9h.5h8c5c.6d...", c="..")
    assert said(position, "5-S1") == [Said("CONTINUES_RUN", ("5h", "6d"), ("S1",))]


def test_the_second_player_is_the_mover() -> None:
    position = partial(HIDDEN, "19-3h.2c8d....", c="Ac..", mover=2)
    assert said(position, "2-C1") == [Said("ON_PATH", ("3h",), ("P",))]


# In games. Everything that is said is worked out again from what the oracle says of the position before and after.


class Draws(Exception):
    """A card was to be drawn where none should be."""


def no_draw(player: int, count: int, stock: Counter[int]) -> list[int]:
    raise Draws


def named(game: Game) -> Position:
    """A game as its mover knows it, with any suit for every card."""
    used = Counter[int]()

    def name(rank: int) -> str:
        used[rank] += 1
        return RANKS[rank - 1] + "cdhs"[used[rank] % 4]

    def pile(cards: Sequence[int]) -> Pile:
        return Pile(cards=map(name, cards))

    players = []
    for player in (0, 1):
        payoff, hand = game.payoff[player], game.hand[player]
        players.append(
            MalicePlayer(
                payoff=Pile(hidden=len(payoff) - 1, cards=[name(payoff[-1])]),
                hand=pile(hand) if player == game.mover else Pile(hidden=len(hand)),
                sides=map(pile, game.sides[player]),
            )
        )
    table = MaliceTable(players=players, centers=map(pile, game.centers), stock=Pile(hidden=game.stock.total()))
    return Position(rule_set=RuleSet(preset="malice-match"), player_to_move=game.mover + 1, malice=table)


def positions(rules: Rules, seed: int) -> Iterator[Game]:
    """Positions of a game between players who play now at random, now eagerly."""
    chance = random.Random(seed)
    game = deal(rules, seed).game
    eager = chance.choice([0.3, 0.7, 0.95])
    for _ in range(300):
        moves = sorted(game.legal_moves())
        move = max(moves, key=lambda move: keenness(move, chance))
        if chance.random() > eager:
            move = chance.choice(moves)
        rare = min(len(game.hand[game.mover]), len(game.payoff[game.mover])) == 1 or game.stock.total() < 12
        if rare or chance.random() < 0.2:
            yield oracle_copy(game)
        game.play(move, lambda player, count, stock: chance.sample(sorted(stock.elements()), count))
        if game.result is not None:
            return


def entrances(game: Game, player: int) -> list[int]:
    """The center stacks that the payoff card of a player would fit on if the player were to move."""
    if game.result is not None:
        return []
    asked = oracle_copy(game)
    asked.mover = player
    return [center for center in range(3) if asked.explain(payoff_play(center)) is None]


def plays_to_payoff(game: Game, most: int) -> int | None:
    """The fewest plays without a draw, at most so many, that play the mover's payoff card in this turn."""
    left = len(game.payoff[game.mover])
    frontier = [game]
    for count in range(1, most + 1):
        reached: dict[str, Game] = {}
        for layout in frontier:
            for move in layout.legal_moves():
                after = played_undrawn(layout, move) if move.target == "center" else None
                if after is None or after.mover != game.mover:
                    continue
                if len(after.payoff[game.mover]) < left:
                    return count
                heights = sorted(map(len, after.centers))
                reached[repr((heights, after.sides[game.mover], sorted(after.hand[game.mover])))] = after
        frontier = list(reached.values())
    return None


def expected(game: Game, position: Position, move: Move) -> list[Said]:
    """What is to be said of a move, but for paths."""
    draws: list[tuple[int, int]] = []

    def draw(player: int, count: int, stock: Counter[int]) -> list[int]:
        draws.append((player, count))
        return list(stock.elements())[:count]

    mover = game.mover
    other = 1 - mover
    cards = position.malice.players[mover]
    their_payoff = position.malice.players[other].payoff.cards[-1]
    after = oracle_copy(game)
    after.play(move, draw)
    result = after.result
    found: list[Said] = []
    if result is not None and result.winner == mover:
        found.append(Said("WINS"))
    if len(after.payoff[mover]) < len(game.payoff[mover]):
        found.append(Said("PLAYS_PAYOFF", (cards.payoff.cards[-1],), (str(move)[-2:],)))
    before_in, after_in = entrances(game, other), entrances(after, other)
    if result is None and before_in and not after_in:
        (center,) = before_in
        found.append(Said("SHUTS_OUT", (their_payoff,), (f"C{center + 1}",)))
    if result is None and after.mover == mover:
        for side in range(4):
            fitting = [center for center in range(3) if after.explain(side_play(side, center)) is None]
            if fitting and len(after.sides[mover][side]) < len(game.sides[mover][side]):
                uncovered = cards.sides[side].cards[len(after.sides[mover][side]) - 1]
                found.append(Said("UNCOVERS", (uncovered,), (f"S{side + 1}", f"C{fitting[0] + 1}")))
    for side in range(4):
        if game.sides[mover][side] and not after.sides[mover][side]:
            found.append(Said("EMPTIES_SIDE", (), (f"S{side + 1}",)))
    if result is None and draws == [(mover, 5)]:
        found.append(Said("REFILLS_HAND"))
    if after.recycled.total() > game.recycled.total():
        found.append(Said("COMPLETES_STACK", (), (str(move)[-2:],)))
    if move.target == "side":
        (discarded, *_) = [card for card in cards.hand.cards if card[0] == RANKS[move.which - 1]]
        place = f"S{move.index + 1}"
        below = cards.sides[move.index].cards[-1:]
        if result is None and below and continues_run(game, move):
            found.append(Said("CONTINUES_RUN", (discarded, *below), (place,)))
        fitting = [center for center in range(3) if game.explain(side_play(move.index, center)) is None]
        if fitting and below[0][0] != "K":
            found.append(Said("COVERS_PLAYABLE", tuple(below), (place, f"C{fitting[0] + 1}")))
        if move.which == KING:
            found.append(Said("DISCARDS_KING", (discarded,)))
    if result is None and after_in and not before_in:
        (center,) = after_in
        found.append(Said("LETS_IN", (their_payoff,), (f"C{center + 1}",)))
    if result is not None and result.ending == "stock":
        found.append(Said("ENDS_GAME"))
    if result is not None and result.winner == other:
        found.append(Said("LOSES"))
    return found


def continues_run(game: Game, move: Move) -> bool:
    """Whether a discarded card lies one below the other, so that both can go to one center stack in turn."""
    below = game.sides[game.mover][move.index][-1]
    if below != move.which + 1:
        return False
    asked = oracle_copy(game)
    asked.rules = dataclasses.replace(game.rules, side_play_ends_turn=False)
    asked.sides[asked.mover][move.index].append(move.which)
    asked.centers = [list(range(1, move.which)), [], []]
    asked.play(side_play(move.index, 0), no_draw)
    return len(asked.centers[0]) == move.which and asked.explain(side_play(move.index, 0)) is None


def assert_leads_to_payoff(game: Game, position: Position, move: Move, path: Said) -> None:
    """The cards of a path are played from their places, one after another, the payoff card last, and none is drawn."""
    cards = MalicePlayer()
    cards.CopyFrom(position.malice.players[game.mover])
    assert path.places.index("P") == len(path.places) - 1
    take(cards, "H" if move.source == "hand" else str(move)[:2], str(move)[0])
    for card, place in zip(path.cards, path.places, strict=True):
        assert take(cards, place, card[0]) == card
    # A path does not say which center stack: some choice of them must do.
    sources = [card[0] if place == "H" else place for card, place in zip(path.cards, path.places, strict=True)]
    plays = [[move], *([parse(f"{source}-C{center}") for center in (1, 2, 3)] for source in sources)]
    reached = [game]
    for choices in plays:
        reached = [after for before in reached for choice in choices if (after := played_undrawn(before, choice))]
    assert {len(after.payoff[game.mover]) for after in reached} == {len(game.payoff[game.mover]) - 1}


def take(cards: MalicePlayer, place: str, rank: str) -> str:
    """Takes a card from a place; of equal ranks in hand the first listed."""
    if place != "H":
        return (cards.payoff if place == "P" else cards.sides[int(place[1]) - 1]).cards.pop()
    card = next(card for card in cards.hand.cards if card[0] == rank)
    cards.hand.cards.remove(card)
    return card


def played_undrawn(game: Game, move: Move) -> Game | None:
    """The game after a move; None where it is not legal or makes somebody draw."""
    if game.explain(move) is not None:
        return None
    after = oracle_copy(game)
    try:
        after.play(move, no_draw)
    except Draws:
        return None
    return after


def test_in_games_all_that_is_said_is_true_and_all_that_is_to_be_said_is_said() -> None:
    longest = 4  # plays; of longer paths it is only checked that they get there
    met = set()
    for number in range(GAMES):
        rules = VARIANTS[number % len(VARIANTS)]
        for game in positions(rules, number):
            position = named(game)
            moves = sorted(game.legal_moves())
            fewest = plays_to_payoff(game, longest)
            for move, told in zip(moves, said_of(position, rules, list(map(str, moves))), strict=True):
                where = (game, str(move))
                codes = [reason.code for reason in told]
                assert codes == [code for code in CODES if code in codes], where
                met.update(codes)
                paths = [reason for reason in told if reason.code == "ON_PATH"]
                assert [reason for reason in told if reason not in paths] == expected(game, position, move), where
                for path in paths:
                    assert_leads_to_payoff(game, position, move, path)
                    assert len(path.cards) == fewest - 1 if fewest else len(path.cards) >= longest, where
                if fewest and fewest > 1 and not paths and move.target == "center":
                    assert is_off_the_path(game, move, fewest), where
    assert met == set(CODES)


def is_off_the_path(game: Game, move: Move, fewest: int) -> bool:
    """Whether no path of so many plays starts with a move."""
    after = played_undrawn(game, move)
    return after is None or after.mover != game.mover or plays_to_payoff(after, fewest - 1) is None
