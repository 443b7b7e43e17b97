"""Requests that are refused: the status, the reason, and the field with what was expected there."""

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from typing import cast

import grpc
import pytest

from tests.service import bank_tables
from tests.service.tables import HIDDEN, partial, piles
from tests.service.wire import Served, refusal
from zank.text import parse_position
from zank.v1 import (
    ENDING_OUT,
    ENDING_STALEMATE,
    ENDING_STOCK_OUT,
    OBJECTIVE_MATCH,
    AnalyzeRequest,
    AnalyzeResponse,
    ApplyMoveRequest,
    Budget,
    CheckMoveRequest,
    DealRequest,
    Ending,
    GameResult,
    GetBestMoveRequest,
    GetHintRequest,
    ListLegalMovesRequest,
    MaliceOptions,
    MatchScore,
    Objective,
    Pile,
    Position,
    Priority,
    Question,
    RuleSet,
    Shuffle,
    StockOutWhen,
    ViewRequest,
)


def changed(change: Callable[[Position], object], base: Position | None = None) -> Position:
    """A sound position after a change."""
    position = base or partial(c="Ac2d..")
    change(position)
    return position


def hand(position: Position, player: int = 0) -> Pile:
    return position.malice.players[player].hand


def with_result(ending: int, winner: int, points: int, position: Position) -> Position:
    position.result.CopyFrom(GameResult(ending=cast(Ending.ValueType, ending), winner=winner, points=points))
    return position


def dry(a: int, b: int, rules: str = "malice-match") -> Position:
    """An empty stock and payoff piles of these sizes; everything else lies in a side stack."""
    position = partial(f"{a - 1}-9h.2c....", f"{b - 1}-9s.5-....", rules=rules)
    deck = [rank + suit for suit in "cdhs" for rank in "345678TJQK"] * 2
    position.malice.players[0].sides[0].cards.extend(deck[: position.malice.stock.hidden])
    position.malice.stock.hidden -= len(position.malice.players[0].sides[0].cards)
    assert position.malice.stock.hidden == 0
    return position


def with_two_aces_in_a_payoff_pile() -> Position:
    position = partial(c="Ac2d..")
    others = [rank + suit for suit in "cd" for rank in "6789TJQK"] + ["6h"]
    position.malice.players[0].payoff.concealed.extend(["As", "As", *others])
    return position


POSITIONS = {
    "no rule set": (changed(lambda p: p.ClearField("rule_set")), "rule_set.preset", "malice-match"),
    "unknown preset": (
        changed(lambda p: p.MergeFrom(Position(rule_set=RuleSet(preset="x")))),
        "rule_set.preset",
        "'x'",
    ),
    "payoff_cards": (
        changed(lambda p: p.rule_set.malice.MergeFrom(MaliceOptions(payoff_cards=31))),
        "rule_set.malice.payoff_cards",
        "1 to 30",
    ),
    "no player to move": (changed(lambda p: p.ClearField("player_to_move")), "player_to_move", "1 or 2"),
    "third player to move": (changed(lambda p: p.MergeFrom(Position(player_to_move=3))), "player_to_move", "found 3"),
    "turns": (changed(lambda p: p.MergeFrom(Position(turns=1_000_001))), "turns", "1000000"),
    "shuffles": (
        changed(lambda p: p.shuffle.MergeFrom(Shuffle(count=1_000_001))),
        "shuffle.count",
        "1000000",
    ),
    "no table": (changed(lambda p: p.ClearField("malice")), "malice", "malice-match"),
    "one player": (changed(lambda p: p.malice.players.pop()), "malice.players", "2 players"),
    "two centers": (changed(lambda p: p.malice.centers.pop()), "malice.centers", "3 center stacks"),
    "five sides": (changed(lambda p: p.malice.players[1].sides.add()), "malice.players[1].sides", "4 side stacks"),
    "no such card": (partial("19-9h.2c3c4c5c6c....", HIDDEN), "malice.players[0].hand.cards[2]", "'4x'"),
    "no such card, hidden": (partial(), "malice.stock.concealed[1]", "'10h'"),
    "no such recycled card": (changed(lambda p: p.malice.recycled.cards.append("")), "malice.recycled.cards[0]", "''"),
    "third copy": (partial("19-Ah.AhAh3c4c...."), "malice.players[0].hand.cards[1]", "2 copies of Ah"),
    "third copy, hidden": (
        changed(lambda p: hand(p, 1).concealed.extend(["2d", "2d", "3d", "3d", "4d"])),
        "malice.centers[0].cards[1]",
        "2 copies of 2d",
    ),
    "center does not follow": (partial(c="Ac3d.."), "malice.centers[0].cards[1]", "2 or a king; found 3d"),
    "center starts high": (partial(c=".2d."), "malice.centers[1].cards[0]", "A or a king; found 2d"),
    "king starts a center": (
        partial(c="..Kd", rules="malice-classic"),
        "malice.centers[2].cards[0]",
        "expected A, for no king starts a stack (M4); found Kd",
    ),
    "complete center": (partial(c="AdKdKc4d5d6d7d8dKhTdJdQd.."), "malice.centers[0].cards", "at most 11"),
    "hidden center card": (partial(c="1-2d.."), "malice.centers[0].hidden", "expected 0"),
    "hidden side card": (partial("19-9h.2c.1-..."), "malice.players[0].sides[0].hidden", "expected 0"),
    "known stock card": (changed(lambda p: p.malice.stock.cards.append("2h")), "malice.stock.cards", "expected none"),
    "mover's hand empty": (partial("19-9h....."), "malice.players[0].hand", "1 to 5 cards"),
    "mover's hand too large": (partial("19-9h.2c3c4c5c6c7c...."), "malice.players[0].hand", "found 6"),
    "other hand too large": (partial(b="19-9s.6-...."), "malice.players[1].hand", "0 to 5 cards"),
    "payoff pile too large": (partial("20-9h.2c...."), "malice.players[0].payoff", "1 to 20 cards"),
    "payoff pile larger than the option": (
        partial(rules="malice-match~o.p10", b="9-9s.5-...."),
        "malice.players[0].payoff",
        "1 to 10 cards",
    ),
    "payoff pile empty": (partial(".2c...."), "malice.players[0].payoff", "1 to 20 cards"),
    "payoff top hidden": (partial("20-.2c...."), "malice.players[0].payoff.cards", "top card"),
    "105 cards": (changed(lambda p: p.malice.stock.MergeFrom(Pile(hidden=53))), "malice", "104 cards"),
    "far too many cards": (changed(lambda p: p.malice.stock.MergeFrom(Pile(hidden=2**32 - 1))), "malice", "104 cards"),
    "too few faces, hidden": (
        changed(lambda p: hand(p, 1).concealed.append("2d")),
        "malice.players[1].hand.concealed",
        "(5)",
    ),
    "two known payoff cards": (partial("18-9h9d.2c3c4c5c6c....", HIDDEN), "malice.players[0].payoff.cards", "top card"),
    "no stock in a game that goes on": (dry(20, 20), "malice.stock", "M11"),
    "recycled card in a payoff pile, hidden": (
        changed(lambda p: p.malice.recycled.cards.append("As"), with_two_aces_in_a_payoff_pile()),
        "malice.recycled.cards[0]",
        "As",
    ),
    "more recycled cards than there are": (
        partial(c="Ac..", recycled="7h" * 105),
        "malice.recycled.cards",
        "at most 104",
    ),
    "recycled card in sight": (partial(c="Ac..", recycled="AcAc"), "malice.recycled.cards[1]", "Ac"),
    "more recycled cards than unseen places": (dry(20, 20), "malice.recycled.cards", "at most 5"),
    "no ending": (with_result(0, 1, 20, partial(".....", "20-.5-....")), "result.ending", "ENDING_OUT"),
    "unknown ending": (with_result(9, 1, 20, partial(".....")), "result.ending", "found 9"),
    "third winner": (with_result(ENDING_OUT, 3, 20, partial(".....")), "result.winner", "0, 1 or 2"),
    "out with a payoff card left": (with_result(ENDING_OUT, 1, 20, partial()), "result.ending", "player 1"),
    "out, the wrong winner": (with_result(ENDING_OUT, 2, 20, partial(".....")), "result.winner", "expected 1"),
    "out, the wrong points": (with_result(ENDING_OUT, 1, 19, partial(".....")), "result.points", "expected 20"),
    "an ending of the other family": (
        with_result(ENDING_STALEMATE, 0, 0, dry(15, 15)),
        "result.ending",
        "ENDING_OUT or ENDING_STOCK_OUT",
    ),
    "stock out with a stock": (with_result(ENDING_STOCK_OUT, 0, 0, partial()), "result.ending", "empty stock"),
    "stock out, won in a match": (with_result(ENDING_STOCK_OUT, 1, 5, dry(15, 20)), "result.winner", "expected 0"),
    "stock out, a tie in the table game": (
        with_result(ENDING_STOCK_OUT, 0, 0, dry(15, 20, "malice-classic")),
        "result.winner",
        "expected 1",
    ),
    "stock out, the wrong margin": (
        with_result(ENDING_STOCK_OUT, 1, 20, dry(15, 20, "malice-classic")),
        "result.points",
        "expected 5",
    ),
}

# What the text form cannot write.
hand(POSITIONS["no such card"][0]).cards[2] = "4x"
POSITIONS["no such card, hidden"][0].malice.stock.concealed.extend(["2h", "10h"] + ["2h"] * 52)
POSITIONS["more recycled cards than unseen places"][0].malice.recycled.cards.extend(
    ["Ad", "As", "Ad", "As", "2d", "2d", "2c"]
)


def refereed(served: Served, position: Position | None) -> list[Awaitable[object]]:
    """A call to every method of `Referee` that takes a position."""
    return [
        served.referee.View(ViewRequest(position=position, player=1)),
        served.referee.ListLegalMoves(ListLegalMovesRequest(position=position)),
        served.referee.CheckMove(CheckMoveRequest(position=position, move="2c-S1")),
        served.referee.ApplyMove(ApplyMoveRequest(position=position, move="2c-S1")),
    ]


def asked(served: Served, question: Question | None) -> list[Awaitable[object]]:
    """A call to every method of `Solver`."""
    return [
        served.solver.GetHint(GetHintRequest(question=question)),
        served.solver.GetBestMove(GetBestMoveRequest(question=question)),
        last(served.solver.Analyze(AnalyzeRequest(question=question))),
    ]


async def last(answers: AsyncIterable[AnalyzeResponse]) -> AnalyzeResponse:
    return [answer async for answer in answers][-1]


def about(position: Position) -> Question:
    return Question(position=position, budget=Budget(rollouts=64))


async def assert_bad_position(call: Awaitable[object], path: str, expected: str) -> None:
    refused = await refusal(call)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_POSITION")
    assert path in refused.fields, refused.fields
    assert expected in refused.fields[path]
    assert next(iter(refused.fields)) in refused.message


async def assert_refused_by_every_method(
    served: Served, name: str, case: tuple[Position, str, str], piles: Callable[[Position], Iterable[Pile]]
) -> None:
    """The case's position is refused for the field and with the expectation that it names.

    Where the case's `name` says that the fault is hidden, a solver leaves it out before it looks at anything.
    """
    position, field, expected = case
    for call in refereed(served, position):
        await assert_bad_position(call, f"position.{field}", expected)
    calls = asked(served, about(position))
    if not name.endswith(", hidden"):
        for call in calls:
            await assert_bad_position(call, f"question.position.{field}", expected)
        return
    bare = Position()
    bare.CopyFrom(position)
    for pile in piles(bare):
        pile.ClearField("concealed")
    for call, expected_call in zip(calls, asked(served, about(bare)), strict=True):
        assert await call == await expected_call


@pytest.mark.parametrize("name", POSITIONS)
async def test_a_position_that_cannot_be_is_refused_by_every_method(served: Served, name: str) -> None:
    await assert_refused_by_every_method(served, name, POSITIONS[name], lambda position: piles(position.malice))


@pytest.mark.parametrize("hand", ["5-", "2c3c-4c"], ids=["not known", "faces given"])
async def test_a_hidden_hand_of_the_mover_is_refused_where_its_moves_are_asked_for(served: Served, hand: str) -> None:
    position = partial(f"19-9h.{hand}....")
    viewed, listed, checked, applied = refereed(served, position)
    await viewed
    await applied
    await checked
    field = "position.malice.players[0].hand.hidden"
    await assert_bad_position(listed, field, "must be known")
    for call in asked(served, about(position)):
        await assert_bad_position(call, f"question.{field}", "must be known")


SOUND = {
    "a played game": partial(c="Ac2d.."),
    "hidden faces given": changed(lambda p: hand(p, 1).concealed.extend(["2h", "2h", "3d", "3d", "4d"])),
    "both hands known": partial(b="19-9s.2h2h3d3d4d...."),
    "other hand empty": partial(b="19-9s....."),
    "a king may start a center": partial(c="Kd2dKh.."),
    "recycled and in hand": partial(recycled="2c2c3c9d"),
    "recycled and once in sight": partial(c="Ac..", recycled="Ac"),
    "won, the last card completing a stack": with_result(
        ENDING_OUT, 1, 20, partial(".....", c="AdKdKc4d5d6d7d8dKhTdJdQd..")
    ),
    "won, the loser to be seen or not": with_result(ENDING_OUT, 2, 20, partial("19-9h.5-....", ".....", mover=2)),
    "stock out in a match": with_result(ENDING_STOCK_OUT, 0, 0, dry(15, 20)),
    "stock out in the table game": with_result(ENDING_STOCK_OUT, 1, 5, dry(15, 20, "malice-classic")),
    "stock out, equal": with_result(ENDING_STOCK_OUT, 0, 0, dry(15, 15, "malice-classic")),
}


@pytest.mark.parametrize("name", SOUND)
async def test_a_position_that_can_be_is_accepted(served: Served, name: str) -> None:
    await served.referee.ListLegalMoves(ListLegalMovesRequest(position=SOUND[name]))


async def test_every_fault_is_named_at_once(served: Served) -> None:
    position = partial("20-9h.2c....", "19-9s.6-....", c="Ac3d..")
    refused = await refusal(served.referee.ListLegalMoves(ListLegalMovesRequest(position=position)))
    assert set(refused.fields) == {
        "position.malice.players[0].payoff",
        "position.malice.players[1].hand",
        "position.malice.centers[0].cards[1]",
    }
    assert "(and 2 more)" in refused.message


async def test_no_position_at_all_is_refused(served: Served) -> None:
    for call in refereed(served, None):
        assert (await refusal(call)).fields == {"position": "expected a position, found none"}
    for question in (None, Question()):
        for call in asked(served, question):
            assert (await refusal(call)).fields == {"question.position": "expected a position, found none"}


DEALS = {
    "no rule set": (DealRequest(), "rule_set.preset"),
    "unknown preset": (DealRequest(rule_set=RuleSet(preset="bank-chinese")), "rule_set.preset"),
    "no payoff cards": (
        DealRequest(rule_set=RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=0))),
        "rule_set.malice.payoff_cards",
    ),
    "match target": (
        DealRequest(rule_set=RuleSet(preset="malice-match", malice=MaliceOptions(match_target=1001))),
        "rule_set.malice.match_target",
    ),
    "unknown stock_out_when": (
        DealRequest(
            rule_set=RuleSet(
                preset="malice-match", malice=MaliceOptions(stock_out_when=cast(StockOutWhen.ValueType, 3))
            )
        ),
        "rule_set.malice.stock_out_when",
    ),
}


@pytest.mark.parametrize("name", DEALS)
async def test_a_rule_set_that_cannot_be_is_not_dealt(served: Served, name: str) -> None:
    request, field = DEALS[name]
    refused = await refusal(served.referee.Deal(request))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_RULE_SET")
    assert list(refused.fields) == [field]


QUESTIONS = {
    "request_id": (Question(request_id="x" * 129), "request_id"),
    "no budget": (Question(budget=Budget()), "budget"),
    "rollouts": (Question(budget=Budget(rollouts=1_000_001)), "budget.rollouts"),
    "time": (Question(budget=Budget(time_ms=60_001)), "budget.time_ms"),
    "rounds": (Question(budget=Budget(rollouts=64, rounds=6)), "budget.rounds"),
    "rounds of no schedule": (Question(budget=Budget(time_ms=10, rounds=1)), "budget.rounds"),
    "objective": (Question(objective=cast(Objective.ValueType, 4)), "objective"),
    "a match without a score": (Question(objective=OBJECTIVE_MATCH), "match_score"),
    "a score of player 1 that has won": (Question(match_score=MatchScore(player1=50)), "match_score.player1"),
    "a score of player 2 that has won": (Question(match_score=MatchScore(player2=51)), "match_score.player2"),
    "priority": (Question(priority=cast(Priority.ValueType, -1)), "priority"),
    "only what is no move": (Question(only_moves=["2c-S1", "x"]), "only_moves[1]"),
    "only what is illegal": (Question(only_moves=["P-C1"]), "only_moves[0]"),
    "only what is not in hand": (Question(only_moves=["Kd-S1"]), "only_moves[0]"),
    "avoid what is illegal": (Question(avoid_moves=["2c-S1", "2c-S2", "S1-C1"]), "avoid_moves[2]"),
    "avoid what alone is considered": (Question(only_moves=["2c-S1"], avoid_moves=["2c-S1"]), "avoid_moves"),
    "keep what is not considered": (Question(only_moves=["2c-S1"], keep_moves=["3c-S1"]), "keep_moves[0]"),
    "keep what is avoided": (Question(avoid_moves=["2c-S1"], keep_moves=["2c-S1"]), "keep_moves[0]"),
}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_question_out_of_range_is_refused(served: Served, name: str) -> None:
    question, field = QUESTIONS[name]
    question.position.CopyFrom(partial())
    for call in asked(served, question):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert list(refused.fields) == [f"question.{field}"]


def few_turns() -> Position:
    position = bank_tables.partial()
    position.rule_set.bank.max_turns = 499
    return position


@pytest.mark.parametrize("rules", ["malice-classic", "malice-match~o.m0"])
async def test_single_games_have_no_match_score(served: Served, rules: str) -> None:
    for call in asked(served, Question(position=partial(rules=rules), match_score=MatchScore())):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert refused.fields["question.match_score"].startswith("expected none: with a match_target of 0")


@pytest.mark.parametrize(
    ("position", "why"),
    [
        (partial(rules="malice-classic~o.m50"), "games of malice-classic are worth no points"),
        (few_turns(), "games with max_turns 499 are worth"),
    ],
    ids=["no points", "few turns"],
)
async def test_a_match_of_games_that_were_not_measured_cannot_be_valued(
    served: Served, position: Position, why: str
) -> None:
    for call in asked(served, Question(position=position, match_score=MatchScore())):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "MATCH_SCORE_UNAVAILABLE")
        assert why in refused.message


async def test_a_finished_game_goes_no_further(served: Served) -> None:
    position = SOUND["won, the last card completing a stack"]
    calls: list[Awaitable[object]] = [
        served.referee.CheckMove(CheckMoveRequest(position=position, move="P-C1")),
        served.referee.ApplyMove(ApplyMoveRequest(position=position, move="P-C1")),
        *asked(served, about(position)),
    ]
    for call in calls:
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER")
    assert not (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves


@pytest.mark.parametrize("player", [0, 3, 2**32 - 1])
async def test_only_a_player_has_a_view(served: Served, player: int) -> None:
    refused = await refusal(served.referee.View(ViewRequest(position=partial(), player=player)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert list(refused.fields) == ["player"]


# Centers: C1 needs a 3, C2 a queen, C3 is empty. The hand holds a king twice, a queen and a 4.
MIDDLE = "19-9h.KcKsQd4c.3d.Kd7c..Jh"
CENTERS = "Ac2d.AsKh3s4s5s6s7s8s9cTcJc."

ILLEGAL = {
    "M3, hand": ("4-C1", "M3", "C1 needs 3, not 4c"),
    "M3, hand, suit named": ("4c-C3", "M3", "C3 needs A, not 4c"),
    "M3, payoff": ("P-C1", "M3", "C1 needs 3, not 9h"),
    "M3, side": ("S1-C3", "M3", "C3 needs A, not 3d"),
    "M3, a buried king is not on top": ("S2-C1", "M3", "C1 needs 3, not 7c"),
    "M4, king on an empty center": ("K-C3", "M4", "C3 is empty"),
    "M5, empty side stack": ("S3-C1", "M5", "S3 is empty"),
    "M5, rank not in hand": ("3-C1", "M5", "3 is not in hand"),
    "M5, suit not in hand": ("Qh-C2", "M5", "Qh is not in hand"),
    "M6, rank not in hand": ("9-S1", "M6", "9 is not in hand"),
    "M6, suit not in hand": ("Kd-S1", "M6", "Kd is not in hand"),
    "M7, payoff card": ("P-S1", "M7", "P is played to a center stack only"),
    "M7, side card": ("S1-S2", "M7", "S1 is played to a center stack only"),
}


@pytest.mark.parametrize("name", ILLEGAL)
async def test_an_illegal_move_names_the_rule_it_breaks(served: Served, name: str) -> None:
    move, rule, why = ILLEGAL[name]
    position = partial(MIDDLE, c=CENTERS, rules="malice-classic")
    refused = await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_MOVE")
    assert refused.metadata["rule"] == rule
    assert refused.metadata["text"]
    assert refused.message.startswith(f"{move} breaks {rule}: ")
    assert why in refused.message


@pytest.mark.parametrize("move", ["", "P", "P-C4", "P-C0", "X-C1", "7h-", "S5-C1", "4-H", "4-C1 ", "é-C1"])
async def test_what_is_no_move_is_refused(served: Served, move: str) -> None:
    position = partial(MIDDLE, c=CENTERS)
    for call in (
        served.referee.CheckMove(CheckMoveRequest(position=position, move=move)),
        served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move)),
    ):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_MOVE")
        assert list(refused.fields) == ["move"]


async def test_long_texts_are_cut_short_in_a_refusal(served: Served) -> None:
    position = partial()
    for pile in piles(position.malice):
        del pile.cards[:]
        pile.cards.extend(["7h" * 50] * 3)
    for request in (
        ApplyMoveRequest(position=partial(), move="7" * 50_000),
        ApplyMoveRequest(position=Position(rule_set=RuleSet(preset="malice" * 5_000)), move="P-C1"),
        ApplyMoveRequest(position=position, move="P-C1"),
    ):
        refused = await refusal(served.referee.ApplyMove(request))
        assert refused.code == grpc.StatusCode.INVALID_ARGUMENT
        assert len(refused.message) < 500


def test_the_table_of_refusals_starts_from_a_sound_position() -> None:
    assert parse_position("malice-match~1~a.19-9h.2c3c4c5c6c....~b.19-9s.5-....~c.Ac2d..~k.52-") == partial(c="Ac2d..")


async def test_the_winning_card_completes_one_center_stack_at_most(served: Served) -> None:
    complete = "AdKdKc4d5d6d7d8dKhTdJdQd"
    one = with_result(ENDING_OUT, 1, 20, partial(".2c....", c=f"{complete}.."))
    assert not (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=one))).moves
    two = with_result(ENDING_OUT, 1, 20, partial(".2c....", c=f"{complete}.Ac2s3c4c5c6c7c8cKsTcJcQc."))
    refused = await refusal(served.referee.ListLegalMoves(ListLegalMovesRequest(position=two)))
    assert list(refused.fields) == ["position.malice.centers[1].cards"]
