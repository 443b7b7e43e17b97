"""Questions about Russian Bank: what is considered, what an answer says, and what it depends on."""

import dataclasses
from collections import Counter
from typing import Any, Final

import jax
import numpy as np
import pytest
from jax import monitoring

from tests.kernel.bank_lockstep import EVERY_ORDER_OF_PLAY
from tests.kernel.bank_positions import (
    ACTION_OF,
    CRAPETTE,
    MOVES,
    RUSSIAN,
    SPITEFUL,
    Position,
    actions,
    notations,
    played_positions,
    position,
)
from tests.oracle import bank as oracle
from zank_kernel import bank
from zank_kernel.bank.play import ACTIONS, END
from zank_kernel.bank.state import OUT, STALEMATE
from zank_kernel.engine import Engine, Question, score
from zank_kernel.family import ADJUDICATED
from zank_kernel.search import Answer, Objective

OBJECTIVES: Final[tuple[Objective, ...]] = ("points", "win")


def question(known: bank.Table, rollouts: int = 300, seed: int = 1, **options: Any) -> Question:
    asked = Question(family="bank", table=known, rollouts=rollouts, seed=seed, objective="points")
    return dataclasses.replace(asked, **options)


def considered(answer: Answer) -> set[str]:
    """Every move in an answer; fails where one is in it twice."""
    found = [action for e in answer.evaluations for action in (e.action, *e.equivalents)]
    assert len({*found}) == len(found)
    return notations(found)


def completed(where: Position, mover: int = 0) -> bank.Table:
    """A position with player `mover` to move, all open, the cards of two decks that it lacks under player 1's waste."""
    game = where.game
    lacking = Counter(oracle.Card(rank, suit, deck) for deck in (0, 1) for suit in "cdhs" for rank in range(1, 14))
    lacking.subtract(game.cards())
    assert min(lacking.values()) == 0
    game.waste[1] = [*sorted(lacking.elements()), *game.waste[1]]
    table = where.known()
    if mover == 0:
        return table
    return dataclasses.replace(
        table, mover=1, reserve=table.reserve[::-1], stock=table.stock[::-1], waste=table.waste[::-1]
    )


# What is considered ------------------------------------------------------------------------------------------------


def test_every_legal_move_with_a_point_is_in_the_answer_once(engines: tuple[Engine, Engine]) -> None:
    left_out = 0
    for each in played_positions(40):
        game = each.game
        legal = game.legal_moves()
        answer = engines[1].answer(question(each.known()))
        assert considered(answer) == {str(move) for move in legal if game.pointless(move) is None}
        assert answer.forced == (len(answer.evaluations) == 1)
        assert answer.rollouts <= max(300, 3 * answer.outcomes)
        left_out += sum(game.pointless(move) is not None for move in legal)
    assert left_out > 0


# A red queen on a black king goes to either of two others, and a king to the space.
SHIFTING: Final = "KcQd Kd Kh Ks 2c2d3c3d - Kc Ks"


def shifting() -> Position:
    return position(CRAPETTE, reserve=("-", "9d"), stock=("2s", "-"), tableau=SHIFTING)


def test_b11_b12_a_pointless_move_is_considered_only_where_it_is_named_or_nothing_else_is_left(
    engines: tuple[Engine, Engine],
) -> None:
    where = shifting()
    for notation in ("T1-T8", "T8-T4"):
        where.play(oracle.parse(notation))
    known = completed(where)
    legal = {str(move) for move in where.game.legal_moves()}
    pointless = {str(move) for move in where.game.legal_moves() if where.game.pointless(move)}
    assert pointless == {"T2-T6", "T3-T6", "T7-T6", "T8-T6", "T1-T6", "T4-T1", "T4-T7", "T4-T8"}

    def moves(**named: str) -> set[str]:
        options: dict[str, Any] = {option: frozenset(actions(text)) for option, text in named.items()}
        return considered(engines[0].answer(question(known, **options)))

    assert moves() == legal - pointless
    assert moves(keep="T4-T8") == legal - pointless | {"T4-T8"}
    assert moves(only="T4-T8 TURN") == {"T4-T8", "TURN"}
    assert moves(only="T4-T8") == {"T4-T8"}
    assert moves(avoid=" ".join(legal - pointless)) == pointless
    with pytest.raises(ValueError, match="0 moves to consider"):
        moves(avoid=" ".join(legal))


def test_shifts_that_cannot_have_been_made_are_refused(engines: tuple[Engine, Engine]) -> None:
    known = completed(shifting())
    for shifts in ("T1-F", "TURN", "T2-T1 T1-T6", "T2-T5"):
        made = tuple(ACTION_OF[oracle.parse(notation)] for notation in shifts.split())
        with pytest.raises(ValueError, match=f"action {made[-1]} "):
            engines[0].answer(question(dataclasses.replace(known, shifts=made)))


def test_interchangeable_moves_are_merged_and_named(engines: tuple[Engine, Engine]) -> None:
    known = completed(
        position(CRAPETTE, reserve=("-", "9d"), tableau="9c Kd Kh KsQd 9c - Kc -", stock=("2s", "-"), drawn="8h")
    )
    merged = {
        notations([e.action]).pop(): notations([*e.equivalents]) for e in engines[0].answer(question(known)).evaluations
    }
    assert merged["D-T1"] == {"D-T5"}
    assert merged["D-T6"] == {"D-T8"}
    assert merged["T4-T6"] == {"T4-T8"}
    assert merged["T4-T7"] == merged["END"] == set()


@EVERY_ORDER_OF_PLAY
def test_a_single_move_is_forced_and_costs_nothing(engines: tuple[Engine, Engine], rules: bank.Rules) -> None:
    known = completed(position(rules, reserve=("9cAh", "9d"), stock=("2s", "-")))
    answer = engines[0].answer(question(known))
    assert (answer.forced, answer.rollouts, considered(answer)) == (True, 0, {"R-F"})


# What an answer says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("mover", [0, 1])
def test_b8_a_move_that_plays_the_last_card_wins_at_once_and_is_first(
    engines: tuple[Engine, Engine], mover: int, objective: Objective
) -> None:
    where = position(CRAPETTE, reserve=("-", "9d"), stock=("-", "-"), tableau="9c 9s Kh KsQh Kc Kd Kh Ks", drawn="8h")
    answer = engines[0].answer(question(completed(where, mover), objective=objective))
    at_once = [notations([e.action]).pop() for e in answer.evaluations if e.wins_at_once]
    assert sorted(at_once) == ["D-T1", "D-T2"]
    assert all(e.wins_at_once for e in answer.evaluations[:2])
    assert "T4-T5" in considered(answer)
    best = answer.evaluations[0].value
    assert best is not None
    assert (best.win.mean, best.moves) == (1, 1)
    assert answer.evaluations[0].wins_this_turn
    assert best.points.mean == 30 + 2 + len(where.game.waste[1])


@pytest.mark.parametrize("ending", [STALEMATE, ADJUDICATED])
def test_a_scored_stalemate_is_worth_a_tie_and_its_points(ending: int) -> None:
    points = np.asarray([-7, 0, 7], np.int16)
    assert score(bank.FAMILY, points, np.full(3, ending, np.int8)).tolist() == [1, 1, 1]
    assert score(bank.FAMILY, points, np.full(3, OUT, np.int8)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("mover", [0, 1])
def test_r6_a_turn_that_ends_the_game_as_a_scored_stalemate_wins_nothing_at_once(
    engines: tuple[Engine, Engine], mover: int
) -> None:
    rules = dataclasses.replace(CRAPETTE, max_turns=1)
    where = position(rules, stock=("-", "-"), drawn="2c", tableau="KcQd Kd Kh Ks Kc Kd Kh Ks")
    answer = engines[0].answer(question(completed(where, mover)))
    ended = False
    for evaluation in answer.evaluations:
        value = evaluation.value
        assert value is not None
        assert not evaluation.wins_at_once
        assert (value.win.mean, value.tie.mean, value.loss.mean) == (0, 1, 0)
        assert value.points.mean > 0
        if evaluation.action == END:
            ended = value.moves == 1 and value.points.mean == len(where.game.waste[1]) + 2 * 2 - (1 + 2 * 2)
    assert ended


def test_a_line_is_legal_up_to_the_end_of_the_turn_or_the_first_card_that_nobody_has_seen(
    engines: tuple[Engine, Engine],
) -> None:
    lengths: Counter[int] = Counter()
    for number, each in enumerate(played_positions(30)):
        for evaluation in engines[0].answer(question(each.known(), 60, number)).evaluations:
            line = evaluation.line
            assert line[0] == evaluation.action
            now, over = each.copy(), False
            for action in line:
                assert not over
                assert now.game.explain(MOVES[action]) is None
                unknown = now.play(MOVES[action])
                over = unknown or now.game.mover != each.game.mover or now.game.result is not None
            assert over
            lengths[len(line)] += 1
    assert max(lengths) > 3


# What an answer depends on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_answers_are_the_same_with_one_and_two_workers_and_other_lanes(
    engines: tuple[Engine, Engine], objective: Objective
) -> None:
    small, large = engines
    for number, each in enumerate(played_positions(6)):
        asked = question(each.known(), 600, number, objective=objective)
        answers = [engine.answer(asked) for engine in (small, large, small)]
        assert answers[0] == answers[1] == answers[2]
        assert answers[0].forced or answers[0] != small.answer(dataclasses.replace(asked, seed=2**63 + number))


def test_the_decks_of_cards_change_beliefs_and_nothing_else(engines: tuple[Engine, Engine]) -> None:
    """The moves and what they stand for are the same."""
    for each in played_positions(12):
        marked, unmarked = (
            {(e.action, e.equivalents) for e in engines[0].answer(question(each.known(marked=marked))).evaluations}
            for marked in (True, False)
        )
        assert marked == unmarked


def test_hidden_cards_change_neither_rulings_nor_what_is_pointless(engines: tuple[Engine, Engine]) -> None:
    positions = played_positions(40)
    full, known = [each.full() for each in positions], [each.known() for each in positions]
    assert full != known
    rulings = [engines[0].rulings("bank", bank.FAMILY.to_state(tables)) for tables in (full, known)]
    jax.tree.map(np.testing.assert_array_equal, *rulings)
    pointless = [[bank.FAMILY.pointless(table) for table in tables] for tables in (full, known)]
    assert pointless[0] == pointless[1]


def test_positions_asked_about_one_by_one_or_together_in_any_order_are_the_same(
    engines: tuple[Engine, Engine],
) -> None:
    positions = played_positions(30)
    tables = [each.full() for each in positions]
    engine = engines[0]

    def seen(numbers: list[int]) -> tuple[Any, Any]:
        """Rulings, and the state after the first legal action."""
        state = bank.FAMILY.to_state([tables[number] for number in numbers])
        legal = engine.legal("bank", state)
        return engine.rulings("bank", state), engine.play("bank", state, legal.argmax(axis=0).astype(np.int32))

    together = seen([*range(30)])
    assert np.asarray(together[0].barred).shape == (ACTIONS, 30)
    for lane, each in enumerate(positions):
        assert {MOVES[action] for action in engine.legal_actions("bank", tables[lane])} == each.game.legal_moves()
        jax.tree.map(
            lambda one, all: np.testing.assert_array_equal(one[..., 0], all[..., lane]),  # noqa: B023
            seen([lane]),
            together,
        )
    order = np.random.default_rng(8).permutation(30).tolist()
    jax.tree.map(
        lambda moved, all: np.testing.assert_array_equal(moved, all[..., order]),
        seen(order),
        together,
    )


def test_nothing_compiles_once_an_engine_is_warm(engines: tuple[Engine, Engine]) -> None:
    compiled: list[str] = []

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        if "compile" in event:
            compiled.append(event)

    asked = [question(each.known(), 500) for each in played_positions(3)]
    asked += [question(Position.deal(rules, 1).known(), 500) for rules in (SPITEFUL, RUSSIAN)]
    monitoring.register_event_duration_secs_listener(listen)
    try:
        for engine in engines:
            for each in asked:
                engine.answer(each)
        assert not compiled
        jax.jit(lambda x: x + 12345.0)(1.0)
        assert compiled  # the listener hears a compilation
    finally:
        monitoring.unregister_event_duration_listener(listen)
