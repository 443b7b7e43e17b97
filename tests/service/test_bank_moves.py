"""What a referee of Russian Bank says of single positions: the list of moves, and what becomes of one."""

import pytest

from tests.service.bank_tables import full, partial, pile
from tests.service.wire import Served
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    ApplyMoveRequest,
    ApplyMoveResponse,
    BankOptions,
    Ending,
    Event,
    GameResult,
    LegalMove,
    ListLegalMovesRequest,
    Moved,
    Pile,
    Position,
    TurnedUp,
    TurnPassed,
    WasteTurnedOver,
)

crapette = "bank-crapette"
spiteful = "bank-spiteful"
SPACE = "KcQd.Kd.Kh.Ks..Jd.Jh.Js"
SHIFTS = "Kc.Qd.Kh.Ks.Jc.Jd.Jh.Js"


async def legal(served: Served, position: Position) -> list[LegalMove]:
    return list((await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves)


async def apply(served: Served, position: Position, *moves: str) -> ApplyMoveResponse:
    for move in moves:
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))
        position = answer.position
    return answer


def moved(card: str, origin: str, destination: str, player: int = 1) -> Event:
    return Event(moved=Moved(player=player, card=card, origin=origin, destination=destination))


def turned_up(card: str, place: str, player: int = 1) -> Event:
    return Event(turned_up=TurnedUp(player=player, place=place, card=card))


def passed(player: int) -> Event:
    return Event(turn_passed=TurnPassed(player=player))


async def test_moves_are_listed_by_source_then_by_destination(served: Served) -> None:
    position = partial("12-Td.?.", "12-9d.?.Jd", h="KcQd.Kd.Kh.Ks.Jc..Jh.Js", drawn="Th", rules=crapette)
    moves = await legal(served, position)
    assert [move.move for move in moves] == [
        *("R-T5", "R-T6", "R-T8", "R-OR", "R-OW"),
        *("D-T5", "D-T6", "D-T8"),
        *("T1-T4", "T1-T6", "T1-OW", "T2-T6", "T3-T6", "T4-T6", "T5-T1", "T5-T6", "T7-T6", "T8-T1", "T8-T6"),
        "END",
    ]
    assert not any(move.forced or move.compelled_by for move in moves)


async def test_tableau_piles_of_identical_content_are_equivalent(served: Served) -> None:
    moves = await legal(served, partial("12-Td1.?.", h="Jc1.Jc2.Kh.Ks.Js..Jh.", rules=crapette))
    assert {move.move: move.equivalent_to for move in moves if move.equivalent_to} == {
        "R-T2": "R-T1",
        "R-T8": "R-T6",
        **{f"T{source}-T8": f"T{1 if source == 2 else source}-T6" for source in (1, 2, 3, 4, 5, 7)},
        "T2-T6": "T1-T6",
    }


COMPELLED = {
    "S2": (partial(f="8h", rules=spiteful), {"R-F"}, True),
    "S4": (partial("12-Td.?.", rules=spiteful), {"R-T5", "R-T8"}, False),
    "R2": (partial(f="8h Tc"), {"R-F", "T5-F"}, False),
    "R3": (partial(h="KcQd.Kd.Kh.Ks..Jd..Js"), {"R-T5", "R-T7"}, True),  # one space is as good as the other
    "R5": (partial(drawn="5c"), {"END"}, True),
    "C2": (partial(f="8h Tc", rules=crapette), {"R-F"}, True),
}


@pytest.mark.parametrize("rule", COMPELLED)
async def test_a_list_of_compulsory_moves_names_the_rule(served: Served, rule: str) -> None:
    position, expected, forced = COMPELLED[rule]
    moves = await legal(served, position)
    assert {move.move for move in moves} == expected
    assert {(move.compelled_by, move.forced) for move in moves} == {(rule, forced)}


async def test_the_only_move_is_forced_though_no_rule_compels_it(served: Served) -> None:
    assert await legal(served, partial()) == [LegalMove(move="TURN", forced=True)]


async def test_a_card_goes_to_the_first_foundation_that_takes_it(served: Served) -> None:
    for tops, index in (("8h 8h", 4), ("8h 3h", 4), ("3h 8h", 5)):
        before = partial("9h..", f=tops)
        foundations = (await apply(served, before, "R-F")).position.bank.foundations
        assert [len(pile.cards) for pile in foundations[4:6]] == [
            len(pile.cards) + (4 + offset == index) for offset, pile in enumerate(before.bank.foundations[4:6])
        ]
        assert foundations[index].cards[-1] == "9h"


async def test_an_uncovered_reserve_card_is_turned_up(served: Served) -> None:
    before = full(partial(f="8h"))
    answer = await apply(served, before, "R-F")
    below = before.bank.players[0].reserve.concealed
    assert list(answer.events) == [moved("9h", "R", "F"), turned_up(f"{below[-1]}1", "R")]
    assert answer.position.bank.players[0].reserve == Pile(hidden=11, concealed=below[:-1], cards=[f"{below[-1]}1"])


async def test_a_card_under_a_loaded_one_is_known_already(served: Served) -> None:
    answer = await apply(served, partial("12-9h2Th2.?.", rules=crapette, h="Js.Kd.Kh.Ks.Jc.Jd.Jh.Kc"), "R-T1")
    assert list(answer.events) == [moved("Th2", "R", "T1")]
    assert answer.position.bank.players[0].reserve == pile("12-9h2")


@pytest.mark.parametrize(("place", "b"), [("OR", "12-9sQc.?."), ("OW", "12-9s.?.3dQc")])
async def test_a_card_is_loaded(served: Served, place: str, b: str) -> None:
    before = partial(b=b)
    answer = await apply(served, before, f"T5-{place}")
    assert list(answer.events) == [moved("Jc", "T5", place)]
    player = answer.position.bank.players[1]
    assert (player.reserve if place == "OR" else player.waste).cards[-2:] == ["Qc", "Jc"]
    assert not answer.position.bank.tableau[4].cards


async def test_a_stock_card_is_turned(served: Served) -> None:
    before = full(partial())
    answer = await apply(served, before, "TURN")
    stock = before.bank.players[0].stock.concealed
    assert list(answer.events) == [turned_up(f"{stock[-1]}1", "D")]
    assert answer.position.bank.drawn == f"{stock[-1]}1"
    assert answer.position.bank.players[0].stock == Pile(hidden=34, concealed=stock[:-1])


async def test_a_card_of_a_stock_that_was_a_waste_is_known(served: Served) -> None:
    answer = await apply(served, partial("9h.3c2d4h2.6c"), "TURN")
    assert list(answer.events) == [turned_up("4h2", "D")]
    assert answer.position.bank.players[0].stock == pile("3c2d")


async def test_an_empty_stock_is_the_waste_turned_over(served: Served) -> None:
    answer = await apply(served, partial("9h..3c2d24h"), "TURN")
    assert list(answer.events) == [
        Event(waste_turned_over=WasteTurnedOver(player=1, count=3)),
        turned_up("3c", "D"),
    ]
    player = answer.position.bank.players[0]
    assert (player.stock, player.waste, answer.position.bank.drawn) == (pile("4h2d2"), Pile(), "3c")


async def test_a_waste_of_one_card_is_turned_over_too(served: Served) -> None:
    answer = await apply(served, partial("9h..3c"), "TURN")
    player = answer.position.bank.players[0]
    assert (player.stock, player.waste, answer.position.bank.drawn) == (Pile(), Pile(), "3c")


async def test_a_turn_ends_with_the_drawn_card_on_the_waste(served: Served) -> None:
    before = partial("12-9h.?.3d", drawn="5c1")
    before.turns = 6
    answer = await apply(served, before, "END")
    assert list(answer.events) == [moved("5c1", "D", "W"), passed(2)]
    after = answer.position
    assert (after.bank.drawn, after.bank.players[0].waste) == ("", pile("3d5c1"))
    assert (after.player_to_move, after.turns) == (2, 7)
    assert [player.quiet_turns for player in after.bank.players] == [1, 0]


async def test_a_turn_ends_without_a_drawn_card_where_there_is_none_to_turn(served: Served) -> None:
    answer = await apply(served, partial("9h.."), "END")
    assert list(answer.events) == [passed(2)]
    assert (answer.position.player_to_move, answer.position.turns) == (2, 1)


def quiet(position: Position, first: int, second: int) -> Position:
    """The same after so many turns without progress."""
    for player, turns in zip(position.bank.players, (first, second), strict=True):
        player.quiet_turns = turns
    return position


PROGRESS = {
    "reserve to foundation": (partial("9h..", f="8h"), "R-F", True),
    "tableau to foundation": (partial(f="Tc"), "T5-F", True),
    "drawn card to foundation": (partial(f="4c", drawn="5c"), "D-F", True),
    "reserve to tableau": (partial("Td.."), "R-T5", True),
    "drawn card to tableau": (partial(drawn="Td"), "D-T5", True),
    "tableau to tableau": (partial(h=SHIFTS), "T2-T1", False),
    "reserve loaded": (partial("Jd..", "12-Qd.?."), "R-OR", False),
    "drawn card loaded": (partial(b="12-Qd.?.", drawn="Jd"), "D-OR", False),
    "tableau card loaded": (partial(b="12-Qd.?."), "T6-OR", False),
    "turning": (partial("9h..3c"), "TURN", False),
}


@pytest.mark.parametrize("name", PROGRESS)
async def test_progress_starts_the_count_of_quiet_turns_anew(served: Served, name: str) -> None:
    position, move, progress = PROGRESS[name]
    position.rule_set.preset = crapette
    players = (await apply(served, quiet(position, 4, 5), move)).position.bank.players
    assert [player.quiet_turns for player in players] == ([0, 0] if progress else [4, 5])


async def test_tableau_moves_are_kept_until_there_is_another_move(served: Served) -> None:
    position = partial(h=SHIFTS, rules=crapette, drawn="5d")
    answer = await apply(served, position, "T2-T1", "T5-T1")
    assert list(answer.position.bank.tableau_moves) == ["T2-T1", "T5-T1"]
    answer = await apply(served, answer.position, "T1-T5", "T5-T2")
    assert list(answer.position.bank.tableau_moves) == ["T2-T1", "T5-T1", "T1-T5", "T5-T2"]
    assert not (await apply(served, answer.position, "END")).position.bank.tableau_moves


SHIFTED = "KcQd..Kh.Ks.Jc.Jd.Jh.As"  # after T2-T1

OTHER_MOVES = {
    "to a foundation": (partial(h=SHIFTED), "T8-F"),
    "loading": (partial(b="12-Qh.?.", h=SHIFTED), "T7-OR"),
    "turning": (partial(".3c.", h=SHIFTED), "TURN"),
    "the reserve card": (partial(h=SHIFTED), "R-T2"),
    "the drawn card": (partial(".3c.", h=SHIFTED, drawn="5c"), "D-T2"),
    "the end of the turn": (partial(".3c.", h=SHIFTED, drawn="5c"), "END"),
}


@pytest.mark.parametrize("name", OTHER_MOVES)
async def test_another_move_clears_the_tableau_moves(served: Served, name: str) -> None:
    position, move = OTHER_MOVES[name]
    position.bank.tableau_moves.append("T2-T1")
    position.rule_set.preset = spiteful
    position.rule_set.bank.reserve_first = RESERVE_FIRST_FOUNDATION
    assert not (await apply(served, full(position), move)).position.bank.tableau_moves


async def test_of_very_many_tableau_moves_the_latest_are_kept(served: Served) -> None:
    position = partial(h=SHIFTS, rules=crapette)
    position.bank.tableau_moves.extend(["T5-T2", "T2-T5"] * 500)
    after = (await apply(served, position, "T5-T2")).position
    assert list(after.bank.tableau_moves) == ["T2-T5", *["T5-T2", "T2-T5"] * 499, "T5-T2"]
    assert await legal(served, after)


async def test_the_opening_ends_with_the_last_ace(served: Served) -> None:
    position = partial(h="Ac.Kd.Ah.Ks.Jc.Jd.Jh.Js", rules=spiteful)
    position.bank.opening = True
    position = (await apply(served, position, "T3-F")).position
    assert position.bank.opening
    assert not (await apply(served, position, "T1-F")).position.bank.opening


async def test_who_has_no_cards_left_wins_at_once(served: Served) -> None:
    answer = await apply(served, partial("9h..", "12-9s.?.3c4d", f="8h"), "R-F")
    player = answer.position.bank.players[1]
    cards = len(player.stock.cards) + player.stock.hidden + len(player.waste.cards)
    result = GameResult(
        ending=ENDING_OUT, winner=1, points=30 + cards + 2 * (player.reserve.hidden + len(player.reserve.cards))
    )
    assert list(answer.events) == [moved("9h", "R", "F"), Event(game_over=result)]
    assert (answer.position.result, answer.position.player_to_move) == (result, 1)
    assert not await legal(served, answer.position)


async def test_the_drawn_card_can_be_the_last(served: Served) -> None:
    answer = await apply(served, partial(b="..", a="12-9h.?.", mover=2, drawn="Td2"), "D-T5")
    assert [event.WhichOneof("kind") for event in answer.events] == ["moved", "game_over"]
    assert answer.position.result.winner == 2
    assert answer.position.player_to_move == 2


def tired(rules: str = "bank-russian", options: BankOptions | None = None) -> Position:
    """Player 1 is about to end a turn, after which nobody has made progress for long enough: 3 cards against 2."""
    position = quiet(partial("9h..3c3d", "9s..2c2d", drawn="4c", rules=rules), 2, 2)
    if options is not None:
        position.rule_set.bank.CopyFrom(options)
    return position


def totals(position: Position) -> list[int]:
    return [
        len(player.stock.cards) + len(player.waste.cards) + 2 * len(player.reserve.cards)
        for player in position.bank.players
    ]


STALEMATES = {
    "bank-russian": (tired(), True),
    "bank-crapette": (tired(crapette), True),
    "bank-spiteful": (tired(spiteful), False),
    "bank-spiteful, the difference": (
        tired(spiteful, BankOptions(stalemate_scoring=STALEMATE_SCORING_DIFFERENCE)),
        True,
    ),
}


@pytest.mark.parametrize("name", STALEMATES)
async def test_a_stalemate_is_scored_as_the_rule_set_says(served: Served, name: str) -> None:
    position, scores = STALEMATES[name]
    answer = await apply(served, position, "END")
    first, second = totals(answer.position)
    assert first != second
    winner = (1 if first < second else 2) if scores else 0
    result = GameResult(ending=ENDING_STALEMATE, winner=winner, points=abs(first - second) if scores else 0)
    assert list(answer.events) == [moved("4c", "D", "W"), Event(game_over=result)]
    assert (answer.position.result, answer.position.player_to_move, answer.position.turns) == (result, 1, 1)
    assert not await legal(served, answer.position)


@pytest.mark.parametrize(
    ("turns", "max_turns", "quiet_turns", "ending"),
    [
        (499, None, 0, ENDING_ADJUDICATED),
        (498, None, 0, None),
        (6, 7, 0, ENDING_ADJUDICATED),
        (6, 7, 2, ENDING_STALEMATE),
        (999_998, 0, 0, None),
        (40_000, 0, 2, ENDING_STALEMATE),
    ],
)
async def test_a_game_is_adjudicated_after_its_last_turn(
    served: Served, turns: int, max_turns: int | None, quiet_turns: int, ending: Ending.ValueType | None
) -> None:
    position = quiet(tired(options=BankOptions(max_turns=max_turns)), quiet_turns, quiet_turns)
    position.turns = turns
    after = (await apply(served, position, "END")).position
    assert after.HasField("result") == (ending is not None)
    assert after.result.ending == (ending or 0)
    assert after.turns == turns + 1


async def test_marks_stay_with_their_cards(served: Served) -> None:
    position = partial(h="Kc.Qd1.Kh.Ks.Jc2.Jd.Jh.Js", rules=crapette)
    assert (await apply(served, position, "T2-T1", "T5-T1")).position.bank.tableau[0] == pile("KcQd1Jc2")
